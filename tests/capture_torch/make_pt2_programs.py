# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the small torch.export programs that tests/capture_torch runs beside the corpus: control flow, regions,
# symbolic sizes, functional mutations, vmap. usage: python make_pt2_programs.py OUT [CORPUS/versions]
import json, math, os, sys
import numpy as np
import torch
from torch._higher_order_ops.while_loop import while_loop
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.map import map as hop_map
import torch.utils.checkpoint as cp

OUT = sys.argv[1]
torch.manual_seed(0)

# Recorded file names are relative: to site-packages, and to the folder of this script.
PREFIXES = [os.path.dirname(os.path.dirname(torch.__file__)) + '/', os.path.dirname(os.path.abspath(__file__)) + '/']

def relative_names(ep):
    for gm in ep.graph_module.modules():
        for n in getattr(getattr(gm, 'graph', None), 'nodes', []):
            for prefix in PREFIXES:
                if n.meta.get('stack_trace'):
                    n.meta['stack_trace'] = n.meta['stack_trace'].replace(prefix, '')

def num(x):
    return 'nan' if math.isnan(x) else ('inf' if x > 0 else '-inf') if math.isinf(x) else x

def leaf(t):
    if not isinstance(t, torch.Tensor):
        return {'value': t}
    f = torch.view_as_real(t.detach()) if t.is_complex() else t.detach()
    v = f.to(torch.float64).flatten().tolist()
    fin = [x for x in v if math.isfinite(x)]
    return {'shape': list(t.shape), 'dtype': str(t.dtype).split('.')[-1], 'first': [num(x) for x in v[:16]],
            'sum_finite': sum(fin), 'abs_sum_finite': sum(map(abs, fin)), 'nonfinite': len(v) - len(fin)}

def make(name, model, args, kwargs=None, dynamic=None, strict=False, decompose=False, run_args=None, calls=1):
    try:
        ep = torch.export.export(model, args, kwargs or {}, dynamic_shapes=dynamic, strict=strict)
        if decompose:
            ep = ep.run_decompositions()
        d = os.path.join(OUT, name); os.makedirs(d, exist_ok=True)
        relative_names(ep)
        torch.export.save(ep, os.path.join(d, 'model.pt2'))
    except Exception as e:
        print(name, 'FAILED', type(e).__name__, str(e)[:300]); return
    run_args = run_args if run_args is not None else args
    spec = {'args': [], 'kwargs': {}}
    for i, a in enumerate(run_args):
        if isinstance(a, torch.Tensor):
            np.save(os.path.join(d, f'arg{i}.npy'), a.numpy()); spec['args'].append({'tensor': f'arg{i}.npy'})
        else:
            spec['args'].append({'value': a})
    m = ep.module()
    torch.manual_seed(0)
    out = m(*[a.clone() if isinstance(a, torch.Tensor) else a for a in run_args], **(kwargs or {}))
    leaves = torch.utils._pytree.tree_leaves(out)
    state = {n: leaf(t) for n, t in list(m.named_buffers())}
    targets = []
    def walk(g):
        for n in g.nodes:
            if n.op == 'call_function': targets.append(str(n.target))
    walk(ep.graph)
    json.dump({'inputs': spec, 'outputs': [leaf(t) for t in leaves], 'buffers_after': state, 'targets': targets,
               'torch': torch.__version__}, open(os.path.join(d, 'expected.json'), 'w'), indent=1)
    print(name, 'ok', targets)

class While(torch.nn.Module):
    def __init__(s): super().__init__(); s.l = torch.nn.Linear(3, 3)
    def forward(s, x):
        def cond(i, h): return i < 4
        def body(i, h): return i + 1, torch.tanh(s.l(h))
        return while_loop(cond, body, (torch.zeros((), dtype=torch.int64), x))
make('while_loop', While(), (torch.randn(2, 3),))

class Scan(torch.nn.Module):
    def __init__(s): super().__init__(); s.w = torch.nn.Parameter(torch.randn(3))
    def forward(s, init, xs):
        def f(c, x):
            n = c * 0.5 + x * s.w
            return n, n.sin()
        return scan(f, init, xs)
make('scan', Scan(), (torch.zeros(3), torch.randn(5, 3)))

class Map(torch.nn.Module):
    def forward(s, xs, y):
        return hop_map(lambda x, z: x.cos() + z, xs, y)
make('map', Map(), (torch.randn(4, 2), torch.randn(2)))

class NoGrad(torch.nn.Module):
    def __init__(s): super().__init__(); s.a = torch.nn.Linear(3, 3); s.b = torch.nn.Linear(3, 2)
    def forward(s, x):
        with torch.no_grad():
            h = s.a(x).relu()
        return s.b(h)
make('no_grad', NoGrad(), (torch.randn(2, 3),))

class Checkpoint(torch.nn.Module):
    def __init__(s): super().__init__(); s.a = torch.nn.Linear(3, 3)
    def forward(s, x): return cp.checkpoint(lambda y: s.a(y).relu(), x, use_reentrant=False) + x
make('checkpoint', Checkpoint(), (torch.randn(2, 3),))  # strict=True cannot be saved by 2.15

@torch.compiler.nested_compile_region
def region(y): return y.sin() + 1
class Nested(torch.nn.Module):
    def forward(s, x): return region(region(x))
make('invoke_subgraph', Nested(), (torch.randn(2, 3),), strict=True)

class Buffers(torch.nn.Module):
    def __init__(s): super().__init__(); s.register_buffer('n', torch.zeros(())); s.bn = torch.nn.BatchNorm1d(3)
    def forward(s, x):
        s.n.add_(1)
        x.mul_(2)
        return s.bn(x) * s.n
make('functional_mutation', Buffers().train(), (torch.randn(4, 3),), decompose=True)
make('mutation', Buffers().train(), (torch.randn(4, 3),))

class Sizes(torch.nn.Module):
    def forward(s, x, y):
        b, n = x.shape
        z = x.reshape(b * n).reshape(b, n) * (b + 1) / torch.sym_max(n, 2)
        m = torch.sym_min(b, n) - 1
        return torch.cat([z, y], 1) * m, b * 2 - n % 3, n // 2
B = torch.export.Dim('b', min=2, max=64); N = torch.export.Dim('n', min=2, max=64)
make('sizes', Sizes(), (torch.randn(3, 5), torch.randn(3, 4)), dynamic={'x': {0: B, 1: N}, 'y': {0: B}},
     run_args=(torch.randn(7, 6), torch.randn(7, 4)))

class Items(torch.nn.Module):
    def forward(s, x, k):
        n = k.item()
        torch._check(n >= 1); torch._check(n <= 6)
        return x[:n].sum() * n, n
make('items', Items(), (torch.randn(8), torch.tensor(3)))

class Vmap(torch.nn.Module):
    def forward(s, x): return torch.vmap(lambda a: a.sin().sum())(x)
make('vmap', Vmap(), (torch.randn(3, 4),))

class Dtypes(torch.nn.Module):
    def forward(s, x, flag, scale: float):
        h = x.to(torch.bfloat16) * 1.5 + torch.tensor([1.0, float('inf'), -1.0])
        c = torch.complex(x, x) * 2
        f8 = x.to(torch.float8_e4m3fn).to(torch.float32)
        if flag: h = h * scale
        return {'h': h, 'c': c, 'f8': f8, 'mask': torch.where(x > 0, x, float('-inf')), 'none': None, 'five': 5}
make('dtypes', Dtypes(), (torch.randn(2, 3), True, 0.5))

class Kwargs(torch.nn.Module):
    def forward(s, pair, *, scale, extra=None):
        return pair[0] * scale['a'] + pair[1]['deep'] * scale['b']
try:
    ep = torch.export.export(Kwargs(), (( torch.ones(2), {'deep': torch.full((2,), 3.0)}),), {'scale': {'b': torch.full((2,), 5.0), 'a': torch.full((2,), 7.0)}})
    os.makedirs(OUT + '/kwargs', exist_ok=True); relative_names(ep); torch.export.save(ep, OUT + '/kwargs/model.pt2'); print('kwargs ok')
except Exception as e: print('kwargs', e)

class Auto(torch.nn.Module):
    def __init__(s): super().__init__(); s.a = torch.nn.Linear(3, 3); s.b = torch.nn.Linear(3, 3)
    def forward(s, x):
        with torch.autocast('cpu', dtype=torch.bfloat16):
            h = s.a(x)
            with torch.autocast('cpu', enabled=False):
                g = s.b(h.float())
        return g, h
make('autocast_nested', Auto(), (torch.randn(2, 3),))

# The state dict of torch 2.3: an OrderedDict with _metadata, which the pickle sets by BUILD. Made from the file of 2.5.1.
if len(sys.argv) > 2:
    import collections, io, shutil, zipfile
    src = sys.argv[2]
    d = os.path.join(OUT, 'state_dict_with_metadata'); os.makedirs(d, exist_ok=True)
    z = zipfile.ZipFile(os.path.join(src, 'torch-2.5.1.pt2'))
    state = torch.load(io.BytesIO(z.read('serialized_state_dict.pt')), weights_only=False)
    ordered = collections.OrderedDict(state); ordered._metadata = collections.OrderedDict({'': {'version': 1}})
    b = io.BytesIO(); torch.save(ordered, b)
    with zipfile.ZipFile(os.path.join(d, 'model.pt2'), 'w') as o:
        for i in z.infolist():
            o.writestr(i.filename, b.getvalue() if i.filename == 'serialized_state_dict.pt' else z.read(i.filename))
    for n in ('x.npy', 'mask.npy'):
        shutil.copy(os.path.join(src, n), d)
    e = json.load(open(os.path.join(src, 'torch-2.5.1.expected.json')))
    json.dump({'inputs': {'args': [{'tensor': 'x.npy'}, {'tensor': 'mask.npy'}], 'kwargs': {}},
               'outputs': e['outputs']}, open(os.path.join(d, 'expected.json'), 'w'), indent=1)

# torch_2_3 is made by torch 2.3.1, whose programs call every tensor frozen: this class, exported as it is with one
# frozen weight, and run once with torch.randn(2, 3) after torch.manual_seed(0).
class Old(torch.nn.Module):
    def __init__(s):
        super().__init__(); s.a = torch.nn.Linear(3, 3); s.b = torch.nn.Linear(3, 2)
        s.register_buffer('seen', torch.zeros(3)); s.b.weight.requires_grad_(False)
    def forward(s, x):
        s.seen.add_(x.sum(0)); return s.b(torch.relu(s.a(x))) + s.seen[:2]
if torch.__version__.startswith('2.3.'): make('torch_2_3', Old(), (torch.randn(2, 3),))
