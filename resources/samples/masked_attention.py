# SPDX-License-Identifier: GPL-3.0-or-later
"""The bundled sample: a two-block encoder whose attention cannot cope with a row that is masked whole."""
import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.scale = 1.0 / math.sqrt(dim // heads)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        batch, length, dim = x.shape
        q, k, v = self.qkv(x).reshape(batch, length, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-2, -1) * self.scale
        # -Inf where a key is padding. A sentence of padding alone leaves rows without any finite score ...
        scores = scores.masked_fill(padding[:, None, None, :], float("-inf"))
        # ... and the softmax of such a row is 0 / 0.
        weights = torch.softmax(scores, dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(batch, length, dim)
        return self.proj(mixed)


class Block(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.norm1(x), padding)
        return x + self.mlp(self.norm2(x))


class SentenceScorer(nn.Module):
    def __init__(self, words: int = 32, dim: int = 16, heads: int = 2):
        super().__init__()
        self.embed = nn.Embedding(words, dim)
        self.block1 = Block(dim, heads)
        self.block2 = Block(dim, heads)
        self.head = nn.Linear(dim, 1)

    def forward(self, tokens: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        x = self.block1(x, padding)
        x = self.block2(x, padding)
        return self.head(x.mean(dim=1)).squeeze(-1)


def example_inputs():
    """Three sentences of six words; the last one is padding alone."""
    tokens = torch.tensor([[5, 9, 2, 17, 3, 8], [12, 4, 30, 1, 0, 0], [0, 0, 0, 0, 0, 0]])
    padding = torch.tensor([[False] * 6, [False] * 4 + [True] * 2, [True] * 6])
    return tokens, padding
