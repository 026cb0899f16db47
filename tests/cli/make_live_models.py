# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tests/data/live_models.tar.xz: ops that do not run in float64, and control flow with the gradients that
Python gives. `python make_live_models.py OUT`, from a folder with a neutral name, in a Python with torch 2.15."""
import copy
import json
import os
import sys

import numpy as np
import torch
from torch import nn
from torch._higher_order_ops.map import map as hop_map
from torch._higher_order_ops.while_loop import while_loop


class Observed(nn.Module):
    """Quantisation-aware: its fused observers have kernels for float32 only, and write their state."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.observer = torch.ao.quantization.FusedMovingAvgObsFakeQuantize()

    def forward(self, x):
        return self.observer(self.fc(self.observer(x)))


class Bits(nn.Module):
    def forward(self, x):
        i = 0x5F3759DF - (x.view(torch.int32) >> 1)
        y = i.view(torch.float32)
        return y * (1.5 - 0.5 * x * y * y)


class Branches(nn.Module):
    """The branch that is taken uses neither `unused` nor `other`; nor does it need a gradient itself."""

    def __init__(self):
        super().__init__()
        self.unused = nn.Linear(3, 3)
        self.other = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return torch.cond(x.sum() > 1e9, lambda t: self.unused(t) * self.other, lambda t: t.sin(), (x,))


class BranchInside(Branches):
    def __init__(self):
        super().__init__()
        self.before = nn.Linear(3, 3)
        self.taken = nn.Linear(3, 3)

    def forward(self, x):
        y = self.before(x)
        z = torch.cond(y.sum() > 1e9, lambda t: self.unused(t), lambda t: self.taken(t), (y,))
        return z.relu() * self.other


class MapUnused(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.other = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return hop_map(lambda row, other: self.fc(row).relu(), x, self.other)


class LoopUsed(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        def again(i, h):
            return i < 3

        def body(i, h):
            return i + 1, torch.tanh(self.fc(h))

        return while_loop(again, body, (torch.zeros((), dtype=torch.int64), x))[1]

    def unrolled(self, x):
        for _ in range(3):
            x = torch.tanh(self.fc(x))
        return x


# Recorded file names are relative: to site-packages, and to the folder of this script.
PREFIXES = [os.path.dirname(os.path.dirname(torch.__file__)) + "/", os.path.dirname(os.path.abspath(__file__)) + "/"]


def export(model, x):
    program = torch.export.export(model, (x,))
    for module in program.graph_module.modules():
        for node in getattr(getattr(module, "graph", None), "nodes", []):
            for prefix in PREFIXES:
                if node.meta.get("stack_trace"):
                    node.meta["stack_trace"] = node.meta["stack_trace"].replace(prefix, "")
    return program


# Of the program; of the turns one by one where the model has them: the gradients of PyTorch 2.15's own while_loop
# are not those of what it computes (finite differences agree with the turns).
def gradients(model, program, x):
    unrolled = getattr(model, "unrolled", None)
    module = model if unrolled else program.module()
    (unrolled or module)(x).sum().backward()
    return {name: None if p.grad is None else float(torch.linalg.vector_norm(p.grad))
            for name, p in module.named_parameters()}


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.fc.requires_grad_(False)

    def forward(self, x):
        return self.fc(x)


class LastState(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.LSTM(6, 5, batch_first=True)
        self.head = nn.Linear(5, 2)

    def forward(self, x):
        return self.head(self.cells(x)[0])


def main(out):
    torch.manual_seed(0)
    x = torch.randn(2, 4)
    observed = Observed().train()
    observed(x)
    torch.jit.script(copy.deepcopy(observed)).save(os.path.join(out, "observed.pt"))
    torch.export.save(export(observed, x), os.path.join(out, "observed.pt2"))
    torch.export.save(export(Bits(), x.abs() + 1.0), os.path.join(out, "bits.pt2"))
    torch.jit.script(LastState().eval()).save(os.path.join(out, "last_state.pt"))
    encoder = nn.TransformerEncoderLayer(16, 2, 32).eval()
    torch.jit.script(encoder).save(os.path.join(out, "sequence_first.pt"))
    torch.jit.script(Frozen()).save(os.path.join(out, "frozen.pt"))
    for name, model in (("branches", Branches()), ("branch_inside", BranchInside()), ("map_unused", MapUnused()),
                        ("loop_used", LoopUsed())):
        folder = os.path.join(out, name)
        os.makedirs(folder, exist_ok=True)
        x = torch.randn(2, 3)
        program = export(model, x)
        torch.export.save(program, os.path.join(folder, "model.pt2"))
        np.save(os.path.join(folder, "x.npy"), x.numpy())
        answer = {"inputs": {"args": [{"tensor": "x.npy"}], "kwargs": {}},
                  "gradients": {"params": gradients(model, program, x)}}
        with open(os.path.join(folder, "expected.json"), "w", encoding="utf-8") as file:
            json.dump(answer, file, indent=1)


if __name__ == "__main__":
    main(sys.argv[1])
