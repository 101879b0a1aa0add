"""The model: Qwen3's architecture, small. Weights are float32; what they multiply may be bfloat16."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    vocabulary: int = 4096
    context: int = 4096
    layers: int = 8
    hidden: int = 256
    heads: int = 8
    kv_heads: int = 2
    head_size: int = 64
    ffn: int = 576
    rope_base: float = 1e6
    norm_eps: float = 1e-6


class Linear(nn.Module):
    def __init__(self, n_in, n_out, zero=False):
        super().__init__()
        std = 0.0 if zero else 0.5 * n_in**-0.5
        self.weight = nn.Parameter(torch.randn(n_out, n_in) * std)

    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype))


class RMSNorm(nn.Module):
    def __init__(self, n, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.eps = eps

    def forward(self, x):
        f = x.float()
        f = f * torch.rsqrt(f.square().mean(-1, keepdim=True) + self.eps)
        return (f * self.weight).to(x.dtype)


def rotate(x, cos, sin):
    """Rotary embedding of the NeoX kind: element i pairs with i + head_size/2. x is [batch, length, heads, head_size]."""
    a, b = x.float().chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1).to(x.dtype)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.input_layernorm = RMSNorm(c.hidden, c.norm_eps)
        self.q_proj = Linear(c.hidden, c.heads * c.head_size)
        self.k_proj = Linear(c.hidden, c.kv_heads * c.head_size)
        self.v_proj = Linear(c.hidden, c.kv_heads * c.head_size)
        self.q_norm = RMSNorm(c.head_size, c.norm_eps)
        self.k_norm = RMSNorm(c.head_size, c.norm_eps)
        self.o_proj = Linear(c.heads * c.head_size, c.hidden, zero=True)
        self.post_attention_layernorm = RMSNorm(c.hidden, c.norm_eps)
        self.gate_proj = Linear(c.hidden, c.ffn)
        self.up_proj = Linear(c.hidden, c.ffn)
        self.down_proj = Linear(c.ffn, c.hidden, zero=True)

    def forward(self, x, cos, sin):
        c = self.c
        n, length, _ = x.shape
        h = self.input_layernorm(x)
        q = self.q_norm(self.q_proj(h).view(n, length, c.heads, c.head_size))
        k = self.k_norm(self.k_proj(h).view(n, length, c.kv_heads, c.head_size))
        v = self.v_proj(h).view(n, length, c.kv_heads, c.head_size)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        if x.dtype == torch.float32:  # no fast float32 kernel takes grouped heads
            k, v = (t.repeat_interleave(c.heads // c.kv_heads, dim=1) for t in (k, v))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=x.dtype != torch.float32)
        x = x + self.o_proj(a.transpose(1, 2).reshape(n, length, c.heads * c.head_size))
        h = self.post_attention_layernorm(x)
        return x + self.down_proj(F.silu(self.gate_proj(h)) * self.up_proj(h))


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed_tokens = nn.Parameter(torch.randn(c.vocabulary, c.hidden) * 0.02)
        self.layers = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.norm = RMSNorm(c.hidden, c.norm_eps)
        half = c.head_size // 2
        frequency = c.rope_base ** (-torch.arange(half, dtype=torch.float64) / half)
        angle = torch.outer(torch.arange(c.context, dtype=torch.float64), frequency)
        self.register_buffer("cos", angle.cos().float()[:, None, :], persistent=False)
        self.register_buffer("sin", angle.sin().float()[:, None, :], persistent=False)

    def hidden(self, ids, dtype=torch.float32):
        """The normalised final states: ids [batch, length] -> [batch, length, hidden]."""
        length = ids.shape[1]
        cos, sin = self.cos[:length], self.sin[:length]
        x = F.embedding(ids, self.embed_tokens).to(dtype)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)

    def logits(self, hidden):
        """Logits in float32; the output matrix is the embedding."""
        return F.linear(hidden, self.embed_tokens.to(hidden.dtype)).float()
