"""Train the model.

    python3 train.py DIR --steps 1500 6500 8000

DIR holds what bpe.py wrote. The counts are the steps at sequence lengths 256, 1,024 and 4,096. Every --save steps and
at the end the weights go to DIR/model-1.safetensors and DIR/model-2.safetensors, under the names of Hugging
Face's Qwen3; step, loss and rate go to standard output.
"""

import argparse
import math
import os
import time

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch.nn.attention import SDPBackend, sdpa_kernel

from bpe import token_bytes
from data import Batches
from evaluate import recall_accuracy, validation_loss
from model import Config, Model

SEED = 20261130
LENGTHS = [256, 1024, 4096]
BATCH_TOKENS = 131072
MATRIX_RATE, MATRIX_MOMENTUM, MATRIX_DECAY = 0.02, 0.95, 0.02
OTHER_RATE, OTHER_BETAS = 3e-3, (0.9, 0.95)
WARMUP = 200  # steps
DECAY_SHARE = 0.5  # of all steps, at the end: the rate falls linearly to zero


def rate_at(step, steps):
    """The factor on both learning rates."""
    decay = int(steps * DECAY_SHARE)
    return min((step + 1) / WARMUP, 1.0, (steps - step) / max(decay, 1))


@torch.compile(dynamic=False)
def orthogonalise(g):
    """Newton-Schulz iteration: the nearest semi-orthogonal matrices, roughly, of a stack [n, rows, columns]."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g.bfloat16()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(5):
        s = x @ x.mT
        x = a * x + (b * s + c * (s @ s)) @ x
    return (x.mT if tall else x).float()


class Muon:
    """Keller Jordan's Muon: momentum, orthogonalised per matrix. Matrices of one shape are handled as one stack."""

    def __init__(self, matrices):
        shapes = {}
        for p in matrices:
            shapes.setdefault(p.shape, []).append(p)
        self.groups = [(ps, torch.zeros((len(ps), *shape), device=ps[0].device)) for shape, ps in shapes.items()]

    @torch.no_grad()
    def step(self, factor):
        for ps, momentum in self.groups:
            g = torch.stack([p.grad for p in ps])
            momentum.lerp_(g, 1 - MATRIX_MOMENTUM)
            update = orthogonalise(g.lerp(momentum, MATRIX_MOMENTUM))
            rate = MATRIX_RATE * factor
            rows, columns = ps[0].shape
            torch._foreach_mul_(ps, 1 - rate * MATRIX_DECAY)
            torch._foreach_add_(ps, list(update.unbind(0)), alpha=-rate * max(1, rows / columns) ** 0.5)


@torch.compile(dynamic=False)
def weighted_loss(hidden, matrix, targets, weights):
    """Mean cross-entropy: under the weights, over the corpus (weight 1), and over the answers (more than 1)."""
    logits = F.linear(hidden, matrix.to(hidden.dtype)).float()
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
    w = weights.flatten().float()
    corpus = (w == 1).float()
    answers = (w > 1).float()
    return (
        (loss * w).sum() / w.sum(),
        (loss * corpus).sum() / corpus.sum(),
        (loss * answers).sum() / answers.sum().clamp(min=1),
    )


def save(model, directory):
    """Two files, so that each stays under 16 MiB."""
    names = {}
    for name, p in model.state_dict().items():
        part = "self_attn." if any(s in name for s in ("q_", "k_", "v_", "o_proj")) else "mlp."
        if name.startswith("layers."):
            layer, rest = name.removeprefix("layers.").split(".", 1)
            if "layernorm" not in rest:
                rest = part + rest
            name = f"layers.{layer}.{rest}"
        if name == "embed_tokens":
            name = "embed_tokens.weight"
        names["model." + name] = p.float().cpu().contiguous()
    first = {n: t for n, t in names.items() if any(f".{i}." in n for i in range(5))}
    second = {n: t for n, t in names.items() if n not in first}
    for part, tensors in ((1, first), (2, second)):
        path = os.path.join(directory, f"model-{part}.safetensors")
        save_file(tensors, path + ".part")
        os.replace(path + ".part", path)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("directory")
    args.add_argument("--steps", type=int, nargs=len(LENGTHS), required=True)
    args.add_argument("--workers", type=int, default=13)
    args.add_argument("--save", type=int, default=1000)
    args.add_argument("--log", type=int, default=100)
    args.add_argument("--attention", choices=["flash", "cudnn"], default="cudnn")
    args = args.parse_args()
    torch.manual_seed(SEED)
    torch.backends.cuda.matmul.allow_tf32 = True
    device = torch.device("cuda")
    backend = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}[args.attention]

    tok = Tokenizer.from_file(os.path.join(args.directory, "tokenizer.json"))
    corpus = {s: np.memmap(os.path.join(args.directory, s + ".u16"), dtype=np.uint16) for s in ("train", "valid")}
    phases = [(n, BATCH_TOKENS // n, steps) for n, steps in zip(LENGTHS, args.steps)]
    batches = Batches(corpus["train"], token_bytes(tok), lambda s: tok.encode(s).ids, phases, SEED)
    loader = torch.utils.data.DataLoader(
        batches, batch_size=None, num_workers=args.workers, prefetch_factor=8, pin_memory=True
    )

    config = Config()
    model = Model(config).to(device)
    print(f"{sum(p.numel() for p in model.parameters())} parameters, torch {torch.__version__}", flush=True)
    for layer in model.layers:
        layer.compile(dynamic=False)
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and n.startswith("layers.")]
    others = [p for n, p in model.named_parameters() if p.ndim != 2 or not n.startswith("layers.")]
    muon = Muon(matrices)
    adam = torch.optim.AdamW(others, lr=OTHER_RATE, betas=OTHER_BETAS, weight_decay=0.0, fused=True)

    steps = len(batches)
    start = last = time.time()
    done = 0
    for step, (ids, weights) in enumerate(loader):
        ids = ids.to(device, non_blocking=True).long()
        weights = weights.to(device, non_blocking=True)
        with sdpa_kernel(backend):
            hidden = model.hidden(ids[:, :-1], torch.bfloat16)
            loss, corpus_loss, answer_loss = weighted_loss(hidden, model.embed_tokens, ids[:, 1:], weights)
            loss.backward()
        factor = rate_at(step, steps)
        for group in adam.param_groups:
            group["lr"] = OTHER_RATE * factor
        torch.nn.utils.clip_grad_norm_(others, 1.0)
        muon.step(factor)
        adam.step()
        model.zero_grad(set_to_none=True)
        done += 1
        if (step + 1) % args.log == 0 or step == 0:
            now_loss = [x.item() for x in (corpus_loss, answer_loss)]
            now = time.time()
            print(
                f"step {step + 1}/{steps} length {ids.shape[1] - 1} corpus {now_loss[0]:.4f} answers {now_loss[1]:.4f} "
                f"rate {factor:.3f} {done * BATCH_TOKENS / (now - last) / 1e6:.2f} M tokens/s {now - start:.0f} s "
                f"{torch.cuda.max_memory_allocated() / 2**30:.0f} GiB",
                flush=True,
            )
            assert math.isfinite(now_loss[0]), "the loss is not finite"
            last, done = time.time(), 0
        if (step + 1) % args.save == 0 or step + 1 == steps:
            save(model, args.directory)
            valid = validation_loss(model, corpus["valid"], torch.bfloat16, windows=64)
            right = [
                recall_accuracy(model, batches.recall, corpus["valid"], torch.bfloat16, d, text=True, prompts=32)
                for d in (100, 1000, 3900)
            ]
            print(f"step {step + 1}/{steps} valid {valid:.4f} recall {right} {time.time() - start:.0f} s", flush=True)
            last, done = time.time(), 0


if __name__ == "__main__":
    main()
