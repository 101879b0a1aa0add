package cli

import "strings"

// Nearest is the word that was probably meant by s, or "": the one with the
// fewest insertions, deletions, substitutions and swaps of neighbours, if they
// are few for its length. Dashes in front and case do not count.
func Nearest(s string, words []string) string {
	plain := func(s string) string { return strings.ToLower(strings.TrimLeft(s, "-")) }
	best, bestAt := "", 1<<30
	for _, w := range words {
		if d := distance(plain(s), plain(w)); d < bestAt {
			best, bestAt = w, d
		}
	}
	// One slip in a short word, one for every three letters in a long one.
	if bestAt > max(1, len(plain(s))/3) {
		return ""
	}
	return best
}

// distance is the optimal string alignment distance of a and b, in bytes.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
