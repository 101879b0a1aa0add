package embedded

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strings"
)

// filler is Go source without empty lines. It is a frozen copy, so that a
// prompt stays the same when the sources change.
//
//go:embed filler.txt
var filler string

// keys is the number of different keys and of different values: k0 to k999,
// v0 to v999, as in training.
const keys = 1000

// MaxRecallDistance is the largest distance that RecallPrompt takes: prompt and
// answer then just fit into the model's context of 4,096 tokens.
const MaxRecallDistance = 4070

// minRecallDistance leaves room for the question and a line of filler.
const minRecallDistance = 24

// RecallPrompt returns a prompt that defines a key once, "key k17 = v93", goes
// on with Go source and other keys, and ends by asking for it, "k17 ->"; and
// the answer, " v93\n". The definition's line ends exactly distance tokens
// before the prompt does, by count, which counts a text's tokens. A model whose
// attention is wrong anywhere in between is likely to answer something else.
//
// The same seed, distance and tokenizer give the same prompt. Errors: a
// distance outside 24 to MaxRecallDistance, or one that count cannot reach.
func RecallPrompt(seed uint64, distance int, count func(text string) int) (prompt, answer string, err error) {
	if distance < minRecallDistance || distance > MaxRecallDistance {
		return "", "", fmt.Errorf("embedded: recall distance %d, want %d to %d", distance, minRecallDistance, MaxRecallDistance)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(distance)))
	order := rng.Perm(keys)
	key, value := order[0], rng.IntN(keys)
	decoys := order[1:]
	question := fmt.Sprintf("k%d ->", key)

	var b strings.Builder
	fmt.Fprintf(&b, "key k%d = v%d\n", key, value)
	left := distance - count(question)
	lines := strings.SplitAfter(strings.TrimSuffix(filler, "\n"), "\n")
	for i := rng.IntN(len(lines)); ; i++ {
		line := lines[i%len(lines)]
		if rng.IntN(6) == 0 && len(decoys) > 0 {
			line = fmt.Sprintf("key k%d = v%d\n", decoys[0], rng.IntN(keys))
			decoys = decoys[1:]
		}
		// The padding below needs two tokens or more, and one more for each word.
		n := count(line)
		if n > left-4 {
			break
		}
		b.WriteString(line)
		left -= n
	}
	padding := "//"
	for count(padding+"\n") < left {
		padding += " x"
	}
	if n := count(padding + "\n"); n != left {
		return "", "", fmt.Errorf("embedded: recall distance %d: %q is %d tokens, want %d", distance, padding, n, left)
	}
	b.WriteString(padding + "\n" + question)
	return b.String(), fmt.Sprintf(" v%d\n", value), nil
}
