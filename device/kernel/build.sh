#!/usr/bin/env bash
# Compiles the kernels in src/ to code objects for every gfx11 processor, and
# to PTX to see that they stay compilable for NVIDIA's: go generate
# ./device/kernel. Needs clang-22 and ld.lld-22; the same compiler gives the
# same bytes, and objects/COMPILER says which one it was. With --ptx DIR it
# writes PTX to DIR instead, with another DIR the objects there.
set -euo pipefail
cd "$(dirname "$0")/src"
common=(-x c++ -std=c++20 -ffreestanding -nogpulib -O3 -Wall -Wextra -Werror -fno-discard-value-names)

# amd SOURCE OBJECT FLAG... compiles for gfx11.
amd() {
	local from=$1 to=$2
	shift 2
	clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx11-generic "${common[@]}" -gline-tables-only \
		-ffile-compilation-dir=. "$@" -c "$from" -o "$tmp/$to.o"
	ld.lld-22 -shared "$tmp/$to.o" -o "$out/$to.hsaco"
}

# ptx SOURCE [FLAG...] compiles for NVPTX.
ptx() {
	local from=$1
	shift
	clang-22 -target nvptx64-nvidia-cuda -march=sm_90 -Xclang -target-feature -Xclang +ptx80 "${common[@]}" \
		-nocudalib "$@" -S "$from" -o "$out/${from%.cpp}.ptx"
}

if [ "${1:-}" = --ptx ]; then
	out=$2
	for f in *.cpp; do ptx "$f"; done
	exit
fi
out=${1:-../objects}
clang-22 --version | head -n 1 >"$out/COMPILER"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for f in *.cpp; do
	amd "$f" "${f%.cpp}.w32"
	# A source that says so is built for both wave sizes.
	if grep -q '^// Built for wave32 and wave64' "$f"; then
		amd "$f" "${f%.cpp}.w64" -mwavefrontsize64 -DWAVE64
	fi
done
