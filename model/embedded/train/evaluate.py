"""Measure a trained model.

    python3 evaluate.py DIR

reads what train.py and bpe.py wrote and writes DIR/evaluation.json: the validation loss, the share of recall prompts
answered at each distance, both for the float32 weights and after rounding to Q8_0, and greedy continuations.
"""

import json
import math
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer

from bpe import token_bytes
from data import Recall
from model import Config, Model

DISTANCES = [100, 1000, 2113, 3000, 3900]
PROMPTS = 256  # for each distance and kind of filler
SAMPLES = [
    "func (s *Server) ",
    "package main\n\nimport (\n",
    "// Open opens the named file",
    "func TestParse(t *testing.T) {\n",
    "if err != nil {\n\treturn ",
    "for i := range ",
    "type Reader struct {\n",
    "func (c *Client) Do(ctx context.Context, req *Request) (",
]


def load(directory):
    """A model with the weights of DIR/model-*.safetensors."""
    tensors = {}
    for part in (1, 2):
        tensors.update(load_file(os.path.join(directory, f"model-{part}.safetensors")))
    state = {}
    for name, t in tensors.items():
        name = name.removeprefix("model.").replace("self_attn.", "").replace("mlp.", "")
        state["embed_tokens" if name == "embed_tokens.weight" else name] = t
    model = Model(Config())
    model.load_state_dict(state)
    return model


@torch.no_grad()
def round_q8_0(model):
    """Rounds every matrix as Q8_0 does: 32 consecutive elements of a row share a float16 scale, the largest
    magnitude over 127."""
    for p in model.parameters():
        if p.ndim != 2:
            continue
        b = p.view(-1, 32)
        scale = b.abs().amax(1, keepdim=True) / 127
        inverse = torch.where(scale > 0, 1 / scale, torch.zeros_like(scale))
        p.copy_((torch.round(b * inverse) * scale.half().float()).view_as(p))


@torch.no_grad()
@torch.compiler.set_stance("force_eager")
def validation_loss(model, ids, dtype, windows=None, length=4096):
    """Nats per token over consecutive windows of the held-out files, each from an empty context."""
    device = next(model.parameters()).device
    n = (len(ids) - 1) // length
    n = min(n, windows or n)
    ids = torch.from_numpy(ids[: n * length + 1].astype(np.int64)).to(device)
    total = 0.0
    for i in range(0, n, 8):
        m = min(8, n - i)
        x = ids[i * length : (i + m) * length].view(m, length)
        y = ids[i * length + 1 : (i + m) * length + 1].view(m, length)
        logits = model.logits(model.hidden(x, dtype))
        total += F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum").item()
    return total / (n * length)


def recall_prompt(rng, recall, distance, filler):
    """A prompt whose answer stands distance tokens before its end: ids of the prompt and of the answer.

    filler is held-out text, or None for key lines alone.
    """
    keys = rng.permutation(1000).tolist()
    values = rng.integers(0, 1000, 1000).tolist()
    k, v = keys.pop(), values.pop()
    question, _ = recall.ask(k, v)
    answer = question[len(recall.query + recall.number(k) + recall.arrow) :]
    question = question[: len(question) - len(answer)]
    line, _ = recall.define(k, v)
    # From the end of the line to the end of the question: distance tokens.
    between = distance - len(question)
    body = []
    if filler is None:
        while len(body) < between:
            body += recall.define(keys.pop(), values.pop())[0]
    else:
        ends = np.flatnonzero(recall.ends_line[filler]) + 1
        a = 0
        for e in ends.tolist():
            body += filler[a:e].tolist()
            a = e
            if len(body) >= between:
                break
            if rng.random() < 0.15:
                body += recall.define(keys.pop(), values.pop())[0]
    body = body[len(body) - between :]
    return line + body + question, answer


@torch.no_grad()
@torch.compiler.set_stance("force_eager")
def recall_accuracy(model, recall, ids, dtype, distance, text, prompts=PROMPTS):
    """The share of prompts whose whole answer, line end included, is the model's greedy choice."""
    device = next(model.parameters()).device
    rng = np.random.default_rng((7, distance, int(text)))
    right = 0
    for _ in range(prompts):
        filler = None
        if text:
            at = int(rng.integers(0, len(ids) - 2 * distance - 64))
            filler = ids[at : at + 2 * distance + 64]
        prompt, answer = recall_prompt(rng, recall, distance, filler)
        x = torch.tensor([prompt + answer[:-1]], device=device)
        h = model.hidden(x, dtype)[0, len(prompt) - 1 :]
        right += model.logits(h).argmax(-1).tolist() == answer
    return right / prompts


@torch.no_grad()
def continuation(model, tok, prompt, n=96):
    device = next(model.parameters()).device
    ids = tok.encode(prompt).ids
    start = len(ids)
    for _ in range(n):
        h = model.hidden(torch.tensor([ids], device=device))
        ids.append(int(model.logits(h[:, -1]).argmax()))
    text = b"".join(token_bytes(tok)[i] for i in ids[start:])
    return text.decode("utf-8", "replace")


def main(directory):
    torch.set_float32_matmul_precision("highest")
    tok = Tokenizer.from_file(os.path.join(directory, "tokenizer.json"))
    recall = Recall(lambda s: tok.encode(s).ids, token_bytes(tok))
    ids = np.fromfile(os.path.join(directory, "valid.u16"), dtype=np.uint16)
    with open(os.path.join(directory, "corpus.json")) as f:
        corpus = json.load(f)["valid"]
    report = {"corpus": corpus}
    model = load(directory).cuda()
    for kind in ("f32", "q8_0"):
        if kind == "q8_0":
            round_q8_0(model)
        nats = validation_loss(model, ids, torch.float32)
        r = {"nats_per_token": nats, "bits_per_byte": nats * corpus["tokens"] / corpus["bytes"] / math.log(2)}
        for text in (True, False):
            r["recall_" + ("text" if text else "keys")] = {
                d: recall_accuracy(model, recall, ids, torch.float32, d, text) for d in DISTANCES
            }
        report[kind] = r
        print(kind, json.dumps(r), flush=True)
    report["samples"] = {p: continuation(model, tok, p) for p in SAMPLES}
    for p, text in report["samples"].items():
        print(f"--- {p!r}\n{p}{text}", flush=True)
    with open(os.path.join(directory, "evaluation.json"), "w") as f:
        json.dump(report, f, indent=1)


if __name__ == "__main__":
    main(sys.argv[1])
