# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tests/data/edge_models.tar.xz: TorchScript models that never end, or end before a live helper has recorded
their ops. `python make_edge_models.py OUT`, from a folder with a neutral name, in a Python with torch 2.15."""
import os
import sys

import torch
from torch import nn


class Endless(nn.Module):  # after its first op it runs no other
    def forward(self, x):
        y = torch.relu(x)
        n = 0
        while n >= 0:
            n = (n + 1) % 7
        return y + n


class Healed(nn.Module):
    def forward(self, x):
        return torch.nan_to_num(x) + 1


class Refusing(nn.Module):
    def forward(self, x):
        y = torch.relu(x) + 1
        if y.dim() == 2:
            raise ValueError("one dimension too many")
        return y


class Quantized(nn.Module):
    def forward(self, x):
        return torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)


class WithoutValues(nn.Module):
    def forward(self, x):
        return torch.empty(3, 4, device="meta") + 1, x + 1


class Sparse(nn.Module):
    def forward(self, x):
        return x.to_sparse()


def main(out):
    os.makedirs(out, exist_ok=True)
    for name, model in {"endless": Endless(), "healed": Healed(), "refusing": Refusing(), "quantized": Quantized(),
                        "without_values": WithoutValues(), "sparse": Sparse()}.items():
        torch.jit.script(model).save(os.path.join(out, name + ".pt"))


if __name__ == "__main__":
    main(sys.argv[1])
