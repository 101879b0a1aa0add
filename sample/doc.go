// Package sample turns a row of logits into a token id.
//
// It is pure arithmetic on one row: it knows nothing of models, tokenizers or
// threads, and it never writes to the logits it is given. The steps and their
// order are those of llama.cpp's default chain (common_params_sampling.samplers
// with the samplers that are off by default left out):
//
//	penalties → top-k → top-p → min-p → temperature → draw
//
// Top-p and min-p therefore look at the distribution before temperature.
// With temperature 0 the answer is the largest logit after penalties; the
// steps between cannot change it and are skipped.
//
// # Ties
//
// Candidates are ordered by logit, largest first, and equal logits by id,
// smallest first. Every step that has to choose between equal logits (greedy,
// the edge of top-k, the edge of top-p, the list of [Logprobs]) keeps the lower
// id. No result depends on a sort being stable.
//
// # Randomness
//
// The generator is PCG-DXSM ([math/rand/v2.PCG]) seeded with Params.Seed and a
// fixed stream. A Sampler with a temperature above 0 takes exactly one 64-bit
// value for each token, whatever the number of candidates, so token number i
// of a sequence always uses value number i. Probabilities are summed in
// float64 in a fixed order. The same Params, logits and accepted tokens give
// the same ids on every platform and with any number of threads elsewhere.
//
// # Where it differs from llama.cpp
//
// The rules are the same, the rounding is not: llama.cpp accumulates top-p in
// float32 and draws with mt19937, so a sampled sequence cannot be compared
// token by token. Greedy can. A NaN or +Inf logit, or a row with nothing but
// -Inf, is a [LogitError] here.
package sample
