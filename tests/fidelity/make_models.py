# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes real architectures with random weights as .pt2 and TorchScript files, with what Python says of them.

    python make_models.py OUT [NAME...]     make those that are not there yet

For each NAME: NAME.pt2 (torch.export), NAME.pt (scripted where that works, else traced), NAME.args.json or
NAME.kwargs.json with the .npy files of its inputs as `opscope-cli capture --inputs` takes them, NAME.json with the
outputs of a plain run, the targets of the exported graph in execution order, and the calls of the TorchScript file as
PyTorch's profiler saw them. A model in a process of its own.
"""
import collections
import copy
import json
import os
import subprocess
import sys
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
SHOWN_VALUES = 16


def image():
    import torch
    return torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(0))


def token_ids(vocabulary, count=32):
    import torch
    return torch.randint(0, vocabulary, (1, count), generator=torch.Generator().manual_seed(0))


def torchvision_model(name):
    def build():
        import torchvision
        return getattr(torchvision.models, name)(weights=None), (image(),), {}
    return build


def gpt2():
    import transformers
    config = transformers.GPT2Config(use_cache=False)
    return transformers.GPT2LMHeadModel(config), (), {"input_ids": token_ids(config.vocab_size)}


def bert():
    import torch
    import transformers
    config = transformers.BertConfig()
    ids = token_ids(config.vocab_size)
    return transformers.BertModel(config), (), {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def llama():
    import transformers
    config = transformers.LlamaConfig(hidden_size=512, intermediate_size=1408, num_hidden_layers=16,
                                      num_attention_heads=8, num_key_value_heads=4, vocab_size=8000, use_cache=False)
    return transformers.LlamaForCausalLM(config), (), {"input_ids": token_ids(config.vocab_size)}


def t5():
    import transformers
    config = transformers.T5Config(use_cache=False)
    inputs = {"input_ids": token_ids(config.vocab_size), "decoder_input_ids": token_ids(config.vocab_size, 8)}
    return transformers.T5ForConditionalGeneration(config), (), inputs


def silero():
    import glob
    import silero_vad
    import torch
    path = sorted(glob.glob(os.path.join(os.path.dirname(silero_vad.__file__), "data", "*.jit")))[0]
    return torch.jit.load(path), (torch.zeros(1, 512), 16000), {}


MODELS = collections.OrderedDict(
    (name, torchvision_model(name))
    for name in ["resnet18", "mobilenet_v3_small", "densenet121", "vit_b_16", "swin_t", "efficientnet_b0"])
MODELS.update(gpt2=gpt2, bert=bert, llama=llama, t5=t5, silero=silero)


def tensors_of(value):
    import torch
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [tensor for item in value.values() for tensor in tensors_of(item)]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_of(item)]
    return []


def describe(tensor):
    values = tensor.detach().double()
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch."),
            "sum_finite": float(values.sum()), "abs_sum_finite": float(values.abs().sum()),
            "first": values.flatten()[:SHOWN_VALUES].tolist()}


def graph_targets(graph):
    """Targets of a graph's calls in execution order; the body of a region stands where the region is called."""
    import torch
    targets = []
    owner = graph.owning_module
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        bodies = [getattr(owner, arg.target) for arg in node.args
                  if isinstance(arg, torch.fx.Node) and arg.op == "get_attr"
                  and isinstance(getattr(owner, arg.target, None), torch.fx.GraphModule)]
        for body in bodies:
            targets += graph_targets(body.graph)
        if isinstance(node.target, torch._ops.OpOverload):
            targets.append(str(node.target))
    return targets


def write_inputs(stem, args, kwargs):
    import numpy
    import torch

    def leaf(name, value):
        if not isinstance(value, torch.Tensor):
            return {"value": value}
        numpy.save(f"{stem}.{name}.npy", value.numpy())
        return {"tensor": f"{os.path.basename(stem)}.{name}.npy"}
    named = {name: leaf(name, value) for name, value in kwargs.items()}
    plain = [leaf(str(i), value) for i, value in enumerate(args)]
    with open(stem + ".kwargs.json", "w") as file:
        json.dump({"args": plain, "kwargs": named}, file)
    with open(stem + ".args.json", "w") as file:
        json.dump({"args": plain + list(named.values())}, file)


def script_calls(path, args, kwargs):
    """Outermost ATen calls of one run of the TorchScript file at PATH, in order, as PyTorch's profiler saw them, once
    a copy with the same code has run: a first run compiles, and reads constants on the way."""
    import torch
    torch._C._jit_set_profiling_executor(False)
    torch._C._set_graph_executor_optimize(False)
    module = torch.jit.load(path)
    copy.deepcopy(module)(*args, **kwargs)
    with torch.autograd.profiler.profile() as profile:
        module(*args, **kwargs)

    def outermost(event):
        parent = event.cpu_parent
        while parent is not None and not parent.name.startswith("aten::"):
            parent = parent.cpu_parent
        return parent is None
    calls = [event for event in profile.function_events if event.name.startswith("aten::") and outermost(event)]
    return [event.name.removeprefix("aten::") for event in sorted(calls, key=lambda event: event.time_range.start)]


def script_or_trace(model, args, kwargs, path):
    import torch
    if isinstance(model, torch.jit.ScriptModule):
        model.save(path)
        return "given"
    try:
        torch.jit.script(model).save(path)
        return "scripted"
    except Exception:  # what cannot be scripted raises all kinds of errors
        pass

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *values):
            result = self.model(*values[:len(args)], **dict(zip(kwargs, values[len(args):])))
            return tuple(tensors_of(dict(result) if hasattr(result, "keys") else result))
    torch.jit.trace(Plain(), tuple(args) + tuple(kwargs.values()), strict=False, check_trace=False).save(path)
    return "traced"


def make(name, folder):
    warnings.simplefilter("ignore")
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(0)
    stem = os.path.join(folder, name)
    model, args, kwargs = MODELS[name]()
    model.eval()
    write_inputs(stem, args, kwargs)
    facts = {"name": name, "torch": torch.__version__}
    if isinstance(model, torch.jit.ScriptModule):  # before a run changes its state
        facts["torchscript"] = script_or_trace(model, args, kwargs, stem + ".pt")
    torch.manual_seed(0)
    with torch.no_grad():
        result = model(*args, **kwargs)
    facts["outputs"] = [describe(t) for t in tensors_of(dict(result) if hasattr(result, "keys") else result)]
    facts["parameters"] = sum(parameter.numel() for parameter in model.parameters())
    if not isinstance(model, torch.jit.ScriptModule):
        program = torch.export.export(model, args, kwargs)
        torch.export.save(program, stem + ".pt2")
        facts["targets"] = graph_targets(program.graph)
        facts["torchscript"] = script_or_trace(model, args, kwargs, stem + ".pt")
    traced = facts["torchscript"] == "traced"
    facts["calls"] = script_calls(stem + ".pt", tuple(args) + tuple(kwargs.values()) if traced else args,
                                  {} if traced else kwargs)
    with open(stem + ".json", "w") as file:
        json.dump(facts, file)


def main():
    if sys.argv[1] == "--one":
        make(sys.argv[3], sys.argv[2])
        return
    folder, names = sys.argv[1], sys.argv[2:] or list(MODELS)
    os.makedirs(folder, exist_ok=True)
    for name in names:
        if not os.path.exists(os.path.join(folder, name + ".json")):
            print(f"fidelity: making {name}", flush=True)
            subprocess.run([sys.executable, os.path.abspath(__file__), "--one", folder, name], check=True)


if __name__ == "__main__":
    main()
