#!/bin/sh
# Installs llama.cpp's prebuilt CPU libraries and headers from npm into $1 and
# builds peer there. Needs node, npm, git and gcc.
set -e
here=$(cd "$(dirname "$0")" && pwd)
version=3.21.1 # llama.cpp v0.4.0, ggml 0.23.0
mkdir -p "$1"
cd "$1"
[ -f package.json ] || npm init -y >/dev/null
[ -d node_modules/node-llama-cpp ] || npm install -E --ignore-scripts --omit=optional "node-llama-cpp@$version"
[ -d node_modules/@node-llama-cpp/linux-x64 ] || npm install --ignore-scripts --no-save "@node-llama-cpp/linux-x64@$version"
[ -d include ] || {
	git clone -q --no-checkout node_modules/node-llama-cpp/llama/gitRelease.bundle headers
	(cd headers && git checkout -q "$(git rev-list --all | head -n 1)" -- include ggml/include)
	mkdir include && cp headers/include/*.h headers/ggml/include/*.h include
}
lib=$PWD/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64
# The libraries name each other by version, so they are linked by file.
gcc -O2 -Wall -o peer "$here/peer.c" -Iinclude -Wl,--allow-shlib-undefined \
	"$lib"/libllama.v*.so "$lib"/libggml.v*.so "$lib"/libggml-base.so "-Wl,-rpath,$lib"
ln -sfn "$lib" lib
echo "installed: bench/peer/compare.sh $PWD MODEL"
