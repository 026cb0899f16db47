# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tests/data/probe_models.tar.xz: small models whose inputs are to be guessed, that fail in their backward
pass, or that take an image or a sound. `python make_probe_models.py OUT` in a Python with torch 2.15."""
import os
import struct
import sys
import dataclasses, typing  # on one line: tests name lines below
import zlib

import torch
import torch.nn.functional as F
from torch import nn


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        y = torch.sigmoid(self.fc(x))
        y.add_(1.0)
        return y * 2.0


class ArgMax(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        return self.fc(x).argmax(-1)


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.fc.requires_grad_(False)

    def forward(self, x):
        return self.fc(x)


class ImageNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.fc = nn.Linear(4, 2)

    def forward(self, image):
        return self.fc(F.adaptive_avg_pool2d(torch.relu(self.conv(image)), 1).flatten(1))


class Echo(nn.Module):
    def forward(self, x):
        return x * 1.0


class Voice(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 16, stride=8)
        self.fc = nn.Linear(4, 1)

    def forward(self, x, sr: int):
        if x.dim() != 2:
            raise ValueError("expected a batch of samples")
        if sr != 16000 and sr != 8000:
            raise ValueError("unknown rate")
        y = torch.relu(self.conv(x.unsqueeze(1)))
        return torch.sigmoid(self.fc(y.mean(-1)))


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(5, 3)
        self.b = nn.Linear(7, 3)

    def forward(self, left, right):
        return self.a(left) + self.b(right)


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(50, 8)
        self.position_embeddings = nn.Parameter(torch.zeros(1, 12, 8))
        self.fc = nn.Linear(8, 50)

    def forward(self, input_ids, attention_mask):
        h = self.word(input_ids) + self.position_embeddings[:, : input_ids.shape[1]]
        return self.fc(h * attention_mask.unsqueeze(-1))


class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 64)

    def forward(self, x, steps: int):
        for _ in range(steps):
            x = torch.tanh(self.fc(x))
        return x


class Generator(nn.Module):
    """Begins with a transposed convolution: a small image in, a larger one out."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.ConvTranspose2d(6, 4, 4), nn.BatchNorm2d(4), nn.ReLU(),
                                 nn.ConvTranspose2d(4, 3, 4, stride=2, padding=1))

    def forward(self, z):
        return torch.tanh(self.net(z))


class Remembering(nn.Module):
    """Its state is an input of its own."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(5, 7, num_layers=2, batch_first=True)

    def forward(self, x, h):
        return self.rnn(x, h)


class Batch(nn.Module):
    """Takes a dict, and looks into it in a part of its own."""

    def __init__(self):
        super().__init__()
        self.tokens = Tokens()

    def forward(self, batch: dict[str, torch.Tensor]):
        return self.tokens(batch["input_ids"], batch["attention_mask"])


class Several(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 2)

    def forward(self, parts: list[torch.Tensor]):
        return torch.stack([self.fc(part) for part in parts])


class Uncopyable(nn.Module):
    """TorchScript copies no complex attribute."""
    factor: complex

    def __init__(self):
        super().__init__()
        self.factor = 1 + 2j
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        return self.fc(x) * abs(self.factor)


class Overwritten(nn.Module):
    """NaN at the end of ops whose results, and what these were made of, are written over."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.norm = nn.BatchNorm1d(6)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        y = self.fc(x)
        z = self.norm(y)
        z.relu_()
        y.mul_(2.0)  # what z was made of
        u = torch.sigmoid(z) + y
        u.neg_()
        v = self.drop(u)
        v[:, 1:3].zero_()  # u itself in eval
        w = torch.cat([v, u], 1)
        w[:, :6].add_(w[:, 6:])
        r = torch.rand_like(w)
        r.mul_(w)
        s = torch.softmax(r, -1)
        s.clamp_(max=0.1)
        s.sub_(1.0)
        return torch.log(s)


class InPlaceTwice(nn.Module):
    """exp keeps its result, not what it took: only the second change breaks its gradient."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        y = self.fc(x)
        z = torch.exp(y)
        y.add_(1.0)
        w = z * 2.0
        z.mul_(3.0)
        return w + z


class Scale(nn.Module):
    """Traced, its numbers are tensor constants, which the executor reads when it compiles the graph."""

    def forward(self, x):
        return x * 3.0**0.5 + 0.5


class ScaledTwice(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Sequential(nn.Linear(3, 3), Scale())

    def forward(self, x):
        return self.part(x) + self.part(-x)


@dataclasses.dataclass
class Pair:
    left: torch.Tensor
    right: torch.Tensor


class Point(typing.NamedTuple):
    x: torch.Tensor
    y: torch.Tensor


torch.export.register_dataclass(Pair, serialized_type_name="Pair")
torch.utils._pytree._register_namedtuple(Point, serialized_type_name="Point")


class Records(nn.Module):
    """What it was exported with is made of classes that only Python has."""

    def forward(self, pair, point, deep):
        return torch.cat([pair.left, pair.right, point.x, point.y, deep["more"][0].left])


class Choosy(nn.Module):
    """Raises what is no RuntimeError, with a message that names one."""

    def forward(self, x):
        if x.dim() != 5:
            raise ValueError("choosy: no RuntimeError: but\ntwo lines")
        return x


class Unfinished(nn.Module):
    def forward(self, x):
        if x.dim() != 5:
            raise NotImplementedError("later")
        return x


class Step(nn.Module):
    """One step of a decoder: one token for each item of the batch."""

    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(50, 8)
        self.cell = nn.GRUCell(8, 8)

    def forward(self, token):
        return self.cell(self.word(token))


class Growing(nn.Module):
    """Each op gives a larger value than the one before; the last one narrows."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(2)
        nn.init.constant_(self.norm.weight, 4.0)

    def forward(self, x):
        y = torch.relu(self.norm(x))
        w = torch.cat([y, x], 1)
        s = w + w
        s.add_(w)
        return s.half()


class Mixed(nn.Module):
    """Choosing values overflows when they become a narrower type."""

    def forward(self, x, whole):
        return torch.relu(torch.cat([torch.relu(x), whole]))


def bad_where_it_seems_bounded():
    """Batch norm of a negative variance in bfloat16, a dilated pool with a window in the padding alone, and large
    whole numbers beside halves."""
    norm = nn.BatchNorm2d(2).eval()
    norm.running_var.fill_(-1.0)
    yield "negative_variance", nn.Sequential(nn.ReLU(), norm, nn.ReLU()).bfloat16()
    yield "mixed", Mixed()
    yield "dilated_pool", nn.Sequential(nn.ReLU(), nn.MaxPool2d(2, 1, 1, dilation=2), nn.ReLU())


class Marks(nn.Module):
    """Assigning a number makes a tensor of it that another op fills."""

    def forward(self, x, at):
        kept = torch.zeros(x.size(0), dtype=torch.bool)
        kept[at] = True
        return x[kept]


class RunningStats(nn.Module):
    """Training: the statistics overflow, no result does."""

    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, x):
        return torch.relu(self.norm(x * 1e30))


class UpdatedStats(nn.Module):
    """Writes its statistics by an op that has no other use, and a mask that is one."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("variance", torch.ones(3))
        self.register_buffer("mask", torch.zeros(2))

    def forward(self, x):
        self.mask.fill_(float("-inf"))
        y = x * 1e30
        mean, _ = torch.batch_norm_update_stats(y, self.mean, self.variance, 0.1)
        return y + mean


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        y = x + self.shift
        return y, y.flatten()[0]


class Nested(nn.Module):
    def forward(self, d: dict[str, torch.Tensor], several: list[torch.Tensor]):
        return d["x"] * d["d_y"] + several[0] * several[1]


class DictAndList(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 3)

    def forward(self, d: dict[str, torch.Tensor], several: list[torch.Tensor]):
        return self.fc(d["x"]) + self.fc(several[0]) * self.fc(several[1])


class Sized(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x, size: list[int]):
        return F.interpolate(self.conv(x), size)


class ImageAndTable(nn.Module):
    """Two inputs whose sizes have nothing to do with each other."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2), nn.ReLU(),
                                  nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8), nn.Conv2d(8, 8, 1), nn.AdaptiveAvgPool2d(1))
        self.table = nn.Linear(7, 16)
        self.head = nn.Linear(24, 5)

    def forward(self, image, tabular):
        return self.head(torch.cat([self.conv(image).flatten(1), torch.relu(self.table(tabular))], 1))


class ImageAndRest(ImageAndTable):
    """The second input has no layer of its own."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8 + 9, 5)

    def forward(self, image, extra):
        return self.head(torch.cat([self.conv(image).flatten(1), extra], 1))


class Denoiser(nn.Module):
    """A small network with the inputs of a diffusion's."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(4, 8, 3, padding=1)
        self.step = nn.Linear(8, 8)
        self.key = nn.Linear(24, 8, bias=False)
        self.down = nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.last = nn.Conv2d(16, 4, 3, padding=1)

    def forward(self, sample, timestep, encoder_hidden_states):
        angles = timestep.float()[:, None] * torch.exp(-torch.arange(4).float())
        x = self.first(sample) + self.step(torch.cat([angles.sin(), angles.cos()], -1))[:, :, None, None]
        keys = self.key(encoder_hidden_states)
        batch, channels, height, width = x.shape
        weights = torch.softmax(x.flatten(2).transpose(1, 2) @ keys.transpose(1, 2), -1)
        x = x + (weights @ keys).transpose(1, 2).reshape(batch, channels, height, width)
        return self.last(torch.cat([F.interpolate(self.down(x), scale_factor=2.0), x], 1))


class Normed(nn.Module):
    """In training and taken apart, an export puts the running statistics back at its end."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        return torch.sigmoid(self.norm(self.fc(x)))


class Counted(nn.Module):
    """What a product keeps for its backward is state that changes."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.register_buffer("count", torch.ones(3))

    def forward(self, x):
        y = self.fc(x) * self.count
        self.count.add_(1.0)
        return y


def png(path, width, height):
    """A gradient: red grows to the right, green downwards, blue is 64."""
    rows = b"".join(b"\0" + bytes(v for x in range(width) for v in (255 * x // (width - 1), 255 * y // (height - 1), 64))
                    for y in range(height))
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                  + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def wav(path):
    """Two channels of 16-bit PCM at 8000 Hz: 0, 1/4, 1/2, 3/4 left and the negative of it right."""
    data = b"".join(struct.pack("<hh", v, -v) for v in (0, 8192, 16384, 24576))
    with open(path, "wb") as out:
        out.write(b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt "
                  + struct.pack("<IHHIIHH", 16, 1, 2, 8000, 32000, 4, 16) + b"data" + struct.pack("<I", len(data)) + data)


def main(out):
    torch.manual_seed(0)
    os.makedirs(out, exist_ok=True)
    script = {"inplace": InPlace(), "overwritten": Overwritten(), "argmax": ArgMax(), "imagenet": ImageNet(), "echo": Echo(), "voice": Voice(),
              "two_inputs": TwoInputs(), "tokens": Tokens(), "steps": Steps(),
              "uncopyable": Uncopyable(), "norm1d": nn.BatchNorm1d(4), "norm2d": nn.Sequential(nn.BatchNorm2d(3)),
              "layer_norm": nn.Sequential(nn.LayerNorm([4, 6]), nn.Softmax(-1)), "generator": Generator(),
              "remembering": Remembering(), "batch": Batch(), "several": Several()}
    for name, model in script.items():
        torch.jit.script(model.eval()).save(os.path.join(out, name + ".pt"))
    torch.jit.freeze(torch.jit.script(ImageNet().eval())).save(os.path.join(out, "frozen_imagenet.pt"))
    x = (torch.randn(2, 3),)
    for name, model in (("inplace", InPlace()), ("argmax", ArgMax()), ("frozen", Frozen())):
        torch.export.save(torch.export.export(model, x), os.path.join(out, name + ".pt2"))
    x = (torch.randn(4, 6),)
    torch.export.save(torch.export.export(Overwritten().eval(), x), os.path.join(out, "overwritten.pt2"))
    x = (torch.randn(2, 3),)
    torch.jit.script(InPlaceTwice()).save(os.path.join(out, "inplace_twice.pt"))
    torch.export.save(torch.export.export(InPlaceTwice(), x), os.path.join(out, "inplace_twice.pt2"))
    torch.jit.trace(ScaledTwice(), x).save(os.path.join(out, "scaled.pt"))
    numbers = [torch.tensor([float(i)]) for i in range(6)]
    records = (Pair(*numbers[:2]), Point(*numbers[2:4]), {"more": [Pair(*numbers[4:])]})
    torch.export.save(torch.export.export(Records(), records), os.path.join(out, "records.pt2"))
    torch.jit.script(Choosy()).save(os.path.join(out, "choosy.pt"))
    torch.jit.script(Unfinished()).save(os.path.join(out, "unfinished.pt"))
    torch.jit.optimize_for_inference(torch.jit.script(ImageNet().eval())).save(os.path.join(out, "optimized.pt"))
    torch.jit.script(Step()).save(os.path.join(out, "step.pt"))
    torch.jit.script(Growing().eval()).save(os.path.join(out, "growing.pt"))
    torch.export.save(torch.export.export(Growing().eval(), (torch.ones(1, 2, 4, 4),)), os.path.join(out, "growing.pt2"))
    for name, model in bad_where_it_seems_bounded():
        torch.jit.script(model.eval()).save(os.path.join(out, name + ".pt"))
    torch.jit.script(Marks()).save(os.path.join(out, "marks.pt"))
    rows = torch.tensor([[1.0, 2.0, 3.0], [-1.0, 1.0, 1.0]])
    for name, model, given in (("running_batch", RunningStats(nn.BatchNorm1d(3)), rows),
                               ("running_instance", RunningStats(nn.InstanceNorm1d(3, track_running_stats=True)),
                                rows.t().unsqueeze(0)),
                               ("updated_stats", UpdatedStats(), rows)):
        torch.jit.script(model.train()).save(os.path.join(out, name + ".pt"))
        torch.export.save(torch.export.export(model.train(), (given,)), os.path.join(out, name + ".pt2"))
    held = RunningStats(nn.BatchNorm1d(3))
    held.norm.running_var[0] = float("inf")
    torch.export.save(torch.export.export(held.train(), (rows,)), os.path.join(out, "running_held.pt2"))
    torch.jit.script(Scores().half()).save(os.path.join(out, "half_scores.pt"))
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        program = torch.export.export(Scores().to(dtype), (torch.ones(2, 3, dtype=dtype),))
        torch.export.save(program, os.path.join(out, f"scores_{str(dtype)[6:]}.pt2"))
    torch.jit.script(Nested()).save(os.path.join(out, "nested.pt"))
    for name, model in (("dict_and_list", DictAndList()), ("sized", Sized()), ("image_and_table", ImageAndTable()),
                        ("image_and_rest", ImageAndRest()), ("denoiser", Denoiser())):
        torch.jit.script(model.eval()).save(os.path.join(out, name + ".pt"))
    x = torch.ones(2)
    torch.export.save(torch.export.export(Nested(), ({"x": x, "d_y": x + 1}, [x + 2, x + 3])), os.path.join(out, "nested.pt2"))
    for name, model in (("normed", Normed()), ("counted", Counted())):
        program = torch.export.export(model.train(), (torch.randn(6, 4),)).run_decompositions()
        torch.export.save(program, os.path.join(out, name + ".pt2"))
    png(os.path.join(out, "gradient.png"), 40, 20)
    wav(os.path.join(out, "steps.wav"))


if __name__ == "__main__":
    main(sys.argv[1])
