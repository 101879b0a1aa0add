// Package attn is the mathematics of attention over a split key/value cache:
// the plan of a split, the partial state that a split leaves and how states
// merge, and a float64 reference to hold every kernel against. It is pure: it
// knows no device, no tensor type and no cache layout (see attn/kv), and it is
// not fast (see device/cpu/simd).
//
// # The family and its limits
//
// Decode-split attention runs one row's keys as several splits at once; each
// leaves a State, and a reducer merges them: direct up to 4 blocks of 64 keys,
// cooperative up to 32, multipass beyond. A split's boundaries are a function of
// the key's index alone (SplitOf), so that a row's result has the same bits
// whatever the reducer, the number of threads, the other rows of its batch, or
// the depth that its program was compiled for.
//
// Of the limits that the family had, these are lifted:
//
//   - 512 blocks (32,768 keys): the workspace grows with the splits, up to
//     1 GiB, beyond which it is the decline "memory";
//   - 16 query heads per KV head, 64 heads, value heads up to 512 elements that
//     are multiples of 64, key heads that are multiples of 16: any numbers
//     (caches of Q8_0 need whole blocks of 32);
//   - value heads of the key heads' size: they may differ;
//   - masks of a certain alignment, and no windows: any additive mask of F16 or
//     F32, any sliding window;
//   - one dispatch for each query row: up to 16 rows of any sequences at once;
//   - keys and values in f16: f16, bf16, q8_0 and f32, of different types;
//   - a completion counter that has to be zero: the reducer is a command of its
//     own, ordered behind the producers.
//
// These are declines, and attention.serial runs instead: more than 16 rows
// ("shape": prompts), other types ("type"), and for the next_q8 forms a
// consumer that is no matrix product ("fusion"). ALiBi, logit soft-capping and
// attention sinks are in no registration: no supported model has them.
package attn
