"""Training batches: slices of the corpus, and recall sequences.

A batch is a function of (seed, step) alone, so the order of the data does not depend on the number of workers.
Each target token has a weight in the loss: 0 for what nobody could predict (a random key, a cut inside a token).
"""

import numpy as np
import torch

ANSWER_WEIGHT = 4  # of the tokens of a recalled value
RECALL_SHARE = 0.3  # of the sequences of a batch
CUT_RATE = 0.015  # of the corpus tokens, cut in two


class Cuts:
    """Ways to write a token as two.

    A prompt may end where the tokeniser would not have cut: after the space of "func (s *Server) ", or inside a word.
    The corpus never shows what follows such an end, so a few tokens of it are written as two, and only the second
    half counts in the loss.
    """

    WAYS = 8

    def __init__(self, token_bytes):
        id_of = {b: i for i, b in enumerate(token_bytes) if b}
        n = len(token_bytes)
        self.count = np.zeros(n, dtype=np.int64)
        self.left = np.zeros((n, self.WAYS), dtype=np.uint16)
        self.right = np.zeros((n, self.WAYS), dtype=np.uint16)
        for i, b in enumerate(token_bytes):
            ways = [(id_of[b[:k]], id_of[b[k:]]) for k in range(1, len(b)) if b[:k] in id_of and b[k:] in id_of]
            if ways and b[:1] in (b" ", b"\t"):
                ways = [ways[0]] * min(3, self.WAYS) + ways[1:]  # the white space in front is the likeliest end
            ways = ways[: self.WAYS]
            self.count[i] = len(ways)
            for w, (left, right) in enumerate(ways):
                self.left[i, w], self.right[i, w] = left, right

    def apply(self, rng, ids):
        """Returns ids with some tokens cut in two, and their weights; the result is longer."""
        cut = (rng.random(len(ids)) < CUT_RATE) & (self.count[ids] > 0)
        out = np.repeat(ids, 1 + cut)
        weights = np.ones(len(out), dtype=np.uint8)
        first = np.flatnonzero(cut) + np.arange(cut.sum())
        whole = ids[cut]
        way = (rng.random(len(whole)) * self.count[whole]).astype(np.int64)
        out[first], out[first + 1] = self.left[whole, way], self.right[whole, way]
        weights[first] = 0
        return out, weights


class Recall:
    """Sequences of lines "key k17 = v93" and, later, "k17 -> v93", among other key lines and lines of the corpus."""

    def __init__(self, encode, token_bytes):
        """encode turns a string into ids."""
        self.digit = [encode(d) for d in "0123456789"]
        assert all(len(d) == 1 for d in self.digit)
        self.digit = [d[0] for d in self.digit]
        self.key, self.equals = encode("key k"), encode(" = v")
        self.query, self.arrow, self.value = encode("k"), encode(" ->"), encode(" v")
        self.newline = encode("\n")
        self.ends_line = np.array([b.endswith(b"\n") for b in token_bytes])
        line = self.define(17, 93)[0] + self.ask(17, 93)[0]
        assert line == encode("key k17 = v93\nk17 -> v93\n"), line

    def number(self, n):
        return [self.digit[int(d)] for d in str(n)]

    def define(self, k, v):
        ids = self.key + self.number(k) + self.equals + self.number(v) + self.newline
        return ids, [0] * len(ids)

    def ask(self, k, v):
        q = self.query + self.number(k) + self.arrow
        a = self.value + self.number(v) + self.newline
        return q + a, [0] * len(q) + [ANSWER_WEIGHT] * len(a)

    def pairs(self, rng, n):
        """n distinct keys with their values: numbers of up to two digits, or of up to three."""
        limit = 100 if n <= 60 and rng.random() < 0.4 else 1000
        return rng.permutation(limit)[:n].tolist(), rng.integers(0, limit, n).tolist()

    def dense(self, rng, length):
        """Key lines, then questions about all of them in random order, then again."""
        n = int(np.exp(rng.uniform(np.log(2), np.log(length / 13))))
        keys, values = self.pairs(rng, n)
        ids, weights = [], []
        for k, v in zip(keys, values):
            i, w = self.define(k, v)
            ids += i
            weights += w
        while len(ids) < length:
            for j in rng.permutation(n):
                i, w = self.ask(keys[j], values[j])
                ids += i
                weights += w
        return np.array(ids[:length], dtype=np.uint16), np.array(weights[:length], dtype=np.uint8)

    def sparse(self, rng, length, filler):
        """Key lines and questions strewn between the lines of filler (ids, at least length of them)."""
        n = int(np.exp(rng.uniform(0, np.log(length / 24))))
        keys, values = self.pairs(rng, n)
        questions = min(n, int(np.exp(rng.uniform(np.log(2), np.log(48)))))
        first, last = 0, length * rng.uniform(0.02, 0.95)
        if rng.random() < 0.5:
            ask_from = length * 0.9
        else:
            ask_from = 0
        events = [(p, j) for j, p in enumerate(np.sort(rng.uniform(first, last, n)))]
        events += [(p, -1) for p in rng.uniform(ask_from, length - 12, questions)]
        events.sort()
        ends = np.flatnonzero(self.ends_line[filler]) + 1
        ids, weights, taken, size, open_keys = [], [], 0, 0, []
        for position, j in events:
            if size < position:
                e = np.searchsorted(ends, taken + position - size)
                to = int(ends[e]) if e < len(ends) else len(filler)
                ids.append(filler[taken:to])
                weights.append(np.ones(to - taken, dtype=np.uint8))
                size += to - taken
                taken = to
            if j >= 0:
                i, w = self.define(keys[j], values[j])
                open_keys.append(j)
            elif open_keys:
                # Every third question is about the oldest key not asked yet, so that long distances are common.
                j = open_keys.pop(0 if rng.random() < 0.34 else int(rng.integers(len(open_keys))))
                i, w = self.ask(keys[j], values[j])
            else:
                continue
            ids.append(np.array(i, dtype=np.uint16))
            weights.append(np.array(w, dtype=np.uint8))
            size += len(i)
        ids.append(filler[taken:])
        weights.append(np.ones(len(filler) - taken, dtype=np.uint8))
        return np.concatenate(ids)[:length], np.concatenate(weights)[:length]


class Batches(torch.utils.data.Dataset):
    """Item step is the batch of that step: ids [batch, length + 1] int32 and weights [batch, length] uint8."""

    def __init__(self, tokens, token_bytes, encode, phases, seed):
        """phases is a list of (length, batch, steps)."""
        self.tokens, self.phases, self.seed = tokens, phases, seed
        self.cuts = Cuts(token_bytes)
        self.recall = Recall(encode, token_bytes)

    def __len__(self):
        return sum(steps for _, _, steps in self.phases)

    def shape(self, step):
        for length, batch, steps in self.phases:
            if step < steps:
                return length, batch
            step -= steps
        raise IndexError(step)

    def slice(self, rng, n):
        at = int(rng.integers(0, len(self.tokens) - n))
        return self.tokens[at : at + n]

    def __getitem__(self, step):
        length, batch = self.shape(step)
        rng = np.random.default_rng((self.seed, step))
        ids = np.empty((batch, length + 1), dtype=np.int32)
        weights = np.empty((batch, length + 1), dtype=np.uint8)
        recalls = round(batch * RECALL_SHARE)
        for row in range(batch):
            if row >= recalls:
                i, w = self.cuts.apply(rng, self.slice(rng, length + 1))
            elif row * 3 < recalls:
                i, w = self.recall.dense(rng, length + 1)
            else:
                i, w = self.recall.sparse(rng, length + 1, self.slice(rng, length + 1))
            ids[row], weights[row] = i[: length + 1], w[: length + 1]
        return torch.from_numpy(ids), torch.from_numpy(weights[:, 1:].copy())
