# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the bundled sample models beside this script. Needs torch 2.15 and numpy from PyPI; run when a sample changes.

The model's source is compiled under its bare file name, and the modules of torch are given names relative to their
package, so that the recorded frames name no folder of the machine this ran on.
"""
import os
import sys
import types
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).resolve().parent


def load(name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__file__ = f"{name}.py"
    sys.modules[name] = module
    exec(compile(Path(module.__file__).read_text(), module.__file__, "exec"), module.__dict__)
    return module


def shorten_torch_frames() -> None:
    root = str(Path(torch.__file__).parent.parent) + os.sep
    for name, module in list(sys.modules.items()):
        if not name.startswith("torch.nn.modules.") and name != "torch.nn.functional":
            continue
        functions = list(vars(module).values())
        for cls in [value for value in functions if isinstance(value, type)]:
            functions += vars(cls).values()
        for function in functions:
            code = getattr(function, "__code__", None)
            if code is not None and code.co_filename.startswith(root):
                function.__code__ = code.replace(co_filename=code.co_filename[len(root):])


def main() -> None:
    os.chdir(HERE)
    shorten_torch_frames()
    source = load("masked_attention")
    torch.manual_seed(0)
    model = source.SentenceScorer().eval()
    tokens, padding = source.example_inputs()
    torch.export.save(torch.export.export(model, (tokens, padding)), "masked_attention.pt2")
    torch.jit.script(model).save("masked_attention.pt")
    np.save("tokens.npy", tokens.numpy())
    np.save("padding.npy", padding.numpy())
    Path("inputs.json").write_text('{"args": [{"tensor": "tokens.npy"}, {"tensor": "padding.npy"}]}\n')
    print("output:", model(tokens, padding).tolist())


if __name__ == "__main__":
    main()
