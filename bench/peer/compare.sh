#!/usr/bin/env bash
# Sets holdfast beside llama.cpp's CPU backend on one file: rounds alternate
# between holdfast and llama.cpp without and with flash attention, so that a
# noisy machine is noisy for all; each engine's first repetition warms up and its
# second counts; medians, and the ratio to the faster of the two.
#
#   bench/peer/compare.sh PEER_FOLDER MODEL [ROUNDS [TEST ...]]
#
# A TEST is pp:N or tg:N:DEPTH. PEER_FOLDER is where install.sh installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
peer=$1 model=$2 rounds=${3:-5}
shift $(($# < 3 ? $# : 3))
tests=("$@")
[ ${#tests[@]} -gt 0 ] || tests=(pp:512 tg:32:0 tg:32:2048)
threads=${THREADS:-2}
export PEER_LIB=$peer/lib
go build -o "$peer/holdfast" ./cmd/holdfast

ours() {
	local kind n depth
	IFS=: read -r kind n depth <<<"$1"
	local args=(-p 0 -n "$n" -d "${depth:-0}")
	[ "$kind" = tg ] || args=(-p "$n" -n 0)
	"$peer/holdfast" bench -m "$model" -t "$threads" -r 2 "${args[@]}" -o jsonl | sed 's/.*"samples_ts": *\[ *[0-9.]*, *\([0-9.]*\).*/\1/'
}

theirs() {
	local kind n depth
	IFS=: read -r kind n depth <<<"$2"
	"$peer/peer" "$model" "$threads" "$1" "$kind" "$n" ${depth:+"$depth"}
}

median() { sort -g | awk '{v[NR] = $1} END {print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'; }

printf '%s, %s threads, median of %s alternating rounds, tokens/s\n\n' "$(basename "$model")" "$threads" "$rounds"
printf '| test | holdfast | llama.cpp, fa off | llama.cpp, fa on | ratio to the faster |\n|---|---|---|---|---|\n'
for t in "${tests[@]}"; do
	a=() b=() c=()
	for ((i = 0; i < rounds; i++)); do
		a+=("$(ours "$t")")
		b+=("$(theirs 0 "$t")")
		c+=("$(theirs 1 "$t")")
	done
	x=$(printf '%s\n' "${a[@]}" | median) y=$(printf '%s\n' "${b[@]}" | median) z=$(printf '%s\n' "${c[@]}" | median)
	awk -v t="$t" -v x="$x" -v y="$y" -v z="$z" 'BEGIN {printf "| %s | %.1f | %.1f | %.1f | %.2f |\n", t, x, y, z, x / (y > z ? y : z)}'
done
