# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tests/data/endless.tar.xz: a model that never ends and, after its first op, runs no other.
`python make_endless_model.py OUT`, from a folder with a neutral name, in a Python with torch 2.15."""
import os
import sys

import torch
from torch import nn


class Endless(nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        n = 0
        while n >= 0:
            n = (n + 1) % 7
        return y + n


def main(out):
    os.makedirs(out, exist_ok=True)
    torch.jit.script(Endless()).save(os.path.join(out, "endless.pt"))


if __name__ == "__main__":
    main(sys.argv[1])
