# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the models that tests/cli/tst_odd_models.cpp runs: what models of the corpus do not do. Run it from a folder
# with a neutral name, which is kept in the sources: python make_odd_models.py OUT
import json, math, os, sys
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union
import torch
import torch.nn as nn
from torch.utils import _pytree

OUT = sys.argv[1]
torch.manual_seed(0)
torch.set_num_threads(1)


def num(x):
    if isinstance(x, bool) or not isinstance(x, float) or math.isfinite(x):
        return x
    return 'NaN' if math.isnan(x) else 'Infinity' if x > 0 else '-Infinity'


def leaf(t):
    if not isinstance(t, torch.Tensor):
        return {'value': num(t)}
    f = torch.view_as_real(t.detach().resolve_conj()) if t.is_complex() else t.detach()
    return {'dtype': str(t.dtype)[6:], 'shape': list(t.shape), 'first': [num(x) for x in f.flatten()[:16].tolist()]}


def leaves(v):
    if isinstance(v, dict):
        return [x for y in v.values() for x in leaves(y)]
    if isinstance(v, (list, tuple)):
        return [x for y in v for x in leaves(y)]
    return [leaf(v)]


class Inputs:
    def __init__(self, folder):
        self.folder, self.count = folder, 0

    def node(self, v):
        if isinstance(v, torch.Tensor):
            name = f'in{self.count}.pt'
            self.count += 1
            torch.save(v, os.path.join(self.folder, name))
            return {'tensor': name}
        if isinstance(v, dict):
            return {'dict': {str(k): self.node(x) for k, x in v.items()}}
        if isinstance(v, (tuple, list)):
            return {'tuple' if isinstance(v, tuple) else 'list': [self.node(x) for x in v]}
        return {'value': v}


def make(name, model, args, kwargs=None, script=True, trace=False, export=False, run_args=None,
         message=None, ops=(), decompose=False, paths=None):
    folder = os.path.join(OUT, name)
    os.makedirs(folder, exist_ok=True)
    model.eval()
    inputs = Inputs(folder)
    answer = {'inputs': {'args': [inputs.node(a) for a in (run_args or args)],
                         'kwargs': {k: inputs.node(v) for k, v in (kwargs or {}).items()}},
              'seed_before_call': 0, 'mode': 'eval', 'exit': 0}
    if export:
        program = torch.export.export(model, args, kwargs or {})
        program = program.run_decompositions() if decompose else program
        for graph in program.graph_module.modules():
            for node in getattr(getattr(graph, 'graph', None), 'nodes', []):
                if node.meta.get('stack_trace'):
                    for prefix in (os.path.dirname(os.path.dirname(torch.__file__)) + '/', os.path.dirname(os.path.abspath(__file__)) + '/'):
                        node.meta['stack_trace'] = node.meta['stack_trace'].replace(prefix, '')
        torch.export.save(program, os.path.join(folder, 'model.pt2'))
    if script:
        made = torch.jit.trace(model, args, check_trace=False) if trace else torch.jit.script(model)
        made.save(os.path.join(folder, 'model.pt'))
    if message is not None:
        answer['exit'], answer['message'] = message
    else:
        torch.manual_seed(0)
        runner = torch.jit.load(os.path.join(folder, 'model.pt')) if script else program.module()
        out = runner(*_pytree.tree_map(lambda t: t.clone() if isinstance(t, torch.Tensor) else t, args), **(kwargs or {}))
        answer['outputs'] = leaves(out)
        for output, path in zip(answer['outputs'], paths or ()):
            output['path'] = path
    answer['ops'] = list(ops)
    json.dump(answer, open(os.path.join(folder, 'expected.json'), 'w'), indent=1)


# ---- classes that are no modules: their methods are frames of the stack
@torch.jit.script
class Box:
    def __init__(self, a: torch.Tensor, k: int):
        self.a = a
        self.b = a * k

    def area(self) -> torch.Tensor:
        return (self.a + self.b).sum()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.tanh()


class UsesBox(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)

    def forward(self, x):
        box = Box(self.l(x), 3)
        return box.area() + box.forward(x)


make('class_methods', UsesBox(), (torch.randn(2, 3),),
     ops=[{'func': 'mul', 'module_call': '', 'in': '__init__', 'text': 'a * k'},
          {'func': 'sum', 'module_call': '', 'in': 'area', 'text': 'self.a + self.b'},
          {'func': 'tanh', 'module_call': '', 'in': 'forward', 'text': 'x.tanh()'},
          {'func': 'linear', 'module_call': 'l:1', 'in': 'forward', 'text': 'self.l(x)'}])


# ---- inputs by the types that forward states
class Kinds(nn.Module):
    def forward(self, x, sizes: List[int], scales: List[float], names: List[str], flags: List[bool],
                rest: Optional[List[int]] = None):
        y = x.reshape(sizes) * scales[0] + scales[1]
        if flags[0]:
            y = y + len(names[0])
        if rest is not None:
            y = y + rest[0]
        return y


make('typed_lists', Kinds(), (torch.randn(2, 6), [3, 4], [2.0, 1.0], ['abc', 'd'], [True, False], [7]))


class Nested(nn.Module):
    def forward(self, d: Dict[str, List[torch.Tensor]], t: List[Tuple[torch.Tensor, int]], k: Dict[str, int],
                e: Dict[int, torch.Tensor], o: List[Optional[torch.Tensor]]):
        s = d['a'][0] + d['b'][0] + e[1]
        for a, n in t:
            s = s + a * n
        for x in o:
            if x is not None:
                s = s + x
        return {'s': s, 'k': s * k['z']}


x = torch.randn(2)
make('typed_nested', Nested(), ({'a': [x], 'b': [x, x]}, [(x, 3), (x, 4)], {'z': 7}, {1: x}, [None, x]))


class Point(NamedTuple):
    a: torch.Tensor
    n: int
    rest: List[torch.Tensor]


class TakesPoint(nn.Module):
    def forward(self, p: Point):
        return p.a * p.n + p.rest[0], p


make('typed_named_tuple', TakesPoint(), (Point(x, 4, [x]),))


class TakesMany(nn.Module):
    def forward(self, x: Union[torch.Tensor, List[torch.Tensor]], c: complex, a: Any, d: torch.device, t: torch.dtype):
        y = x if isinstance(x, torch.Tensor) else x[0] * 2
        if isinstance(a, torch.Tensor):
            y = y + a
        return y.to(d).to(t) * torch.abs(torch.ones(2) * c)


make('typed_others', TakesMany(), ([x], 2.0 + 0j, x, torch.device('cpu'), torch.float64),
     run_args=([x], 2, x, 'cpu', 'float64'))
make('typed_wrong', Kinds(), (torch.randn(2, 6), [3, 4], [2.0, 1.0], ['abc', 'd'], [True, False]),
     run_args=(torch.randn(2, 6), [3, 4], [2.0, 'b'], ['abc', 'd'], [True, False]),
     message=(2, 'input scales.1: expected float, got "b"'))
make('typed_wrong_count', TakesPoint(), (Point(x, 4, [x]),), run_args=((x, 4),),
     message=(2, 'of 3 items, got 2'))


# ---- outputs in the order of the model, also from the tenth on
class ManyOutputs(nn.Module):
    def forward(self, x):
        y = [x]
        for i in range(11):
            y.append(y[-1] * 0.5 + 1)
        return y


make('many_outputs', ManyOutputs(), (torch.randn(2),), export=True)


# ---- replay: memory that TorchScript fills, and strides of what is written
class Literals(nn.Module):
    def forward(self, x):
        y = x + torch.tensor([1.0, 2.0, 3.0])
        return y[torch.tensor([0, 2])]


make('tensor_literals', Literals(), (torch.randn(3),))


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.g = nn.GRUCell(4, 6)
        self.l = nn.LSTMCell(6, 5)

    def forward(self, x):
        h, c, d = torch.zeros(3, 6), torch.zeros(3, 5), torch.zeros(3, 5)
        for t in range(5):
            h = self.g(x[t], h)
            d, c = self.l(h, (d, c))
        return d


make('cells_traced', Cells(), (torch.randn(5, 3, 4),), trace=True)

# ---- LibTorch writes such a name and cannot read it
class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({'\u00fc': nn.ReLU()})

    def forward(self, x):
        for part in self.parts.values():
            x = part(x)
        return x


make('octal_name', Named(), (torch.randn(2),), message=(3, 'ill formed octal specifier'))


# ---- tasks that are forked in a list, and autocast in a module whose modules have modules
class Forks(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])

    def forward(self, x):
        tasks: List[torch.jit.Future[torch.Tensor]] = []
        for m in self.a:
            tasks.append(torch.jit.fork(m, x))
        y = x.exp()
        for task in tasks:
            y = y + torch.jit.wait(task)
        return y


make('forks_in_a_list', Forks(), (torch.randn(2, 3),),
     ops=[{'func': 'linear', 'module_call': 'a.0:1', 'in': 'forward', 'text': 'torch.jit.fork(m, x)'},
          {'func': 'exp', 'module_call': '', 'in': 'forward', 'text': 'x.exp()'}])


class Casts(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.ReLU()))

    def forward(self, x):
        with torch.autocast('cpu', dtype=torch.bfloat16):
            y = self.l(x)
        return y


class CastsBelow(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Casts()
        self.b = nn.Linear(3, 3)

    def forward(self, x):
        return self.b(self.a(x).float())


make('autocast_below', CastsBelow(), (torch.randn(2, 3),))


# ---- ops with effects, which exported programs order by tokens, and regions with hints
class Effects(nn.Module):
    def forward(self, x):
        y = x.exp()
        torch.ops.aten._print('a line of the model')
        return y + 1


make('effects', Effects(), (torch.randn(3),), script=False, export=True, decompose=True,
     ops=[{'func': '_print', 'module_call': '', 'in': 'forward', 'text': '_print'}])


class Hints(nn.Module):
    def forward(self, x):
        from torch._higher_order_ops.hints_wrap import hints_wrapper
        return hints_wrapper(lambda y: y.sin(), (x,), {}, hints={'a': True})


make('hints', Hints(), (torch.randn(3),), script=False, export=True,
     ops=[{'func': 'sin', 'module_call': '', 'in': 'forward', 'text': 'y.sin()'}])


# ---- dicts whose keys are no texts
class NumberKeys(nn.Module):
    def forward(self, x, d: Dict[int, torch.Tensor]) -> Tuple[Dict[int, torch.Tensor], Dict[bool, torch.Tensor], Dict[float, torch.Tensor]]:
        return {0: x + 1, -7: d[3] * 2}, {True: x}, {0.5: x - 1}


make('number_keys', NumberKeys(), (torch.randn(2), {3: torch.randn(2)}), paths=('0.0', '0.-7', '1.true', '2.0.5'))


class ExportedKeys(nn.Module):
    def forward(self, x, d):
        return {0: x + 1, -7: d[3] * 2, 'text': x}


make('number_keys_exported', ExportedKeys(), (torch.randn(2), {3: torch.randn(2)}), script=False, export=True, paths=('0', '-7', 'text'))


# A row that was turned has a stride that its one column does not use; products round by it.
class TurnedRows(nn.Module):
    def forward(self, x):
        y: List[torch.Tensor] = []
        for i in range(24):
            y.append(torch.matmul(x[i:i + 1] * 0.37, (x[24 + i:25 + i] * 0.61).t()))
        return torch.cat(y)


make('turned_rows', TurnedRows(), (torch.randn(48, 32),))


# ---- checkpoints that hold more than tensors (tests/io/tst_state_dict.cpp)
def checkpoints():
    import numpy
    folder = os.path.join(OUT, 'checkpoints')
    os.makedirs(folder, exist_ok=True)
    eye = torch.eye(4)
    torch.save({'step': 3, 'csr': eye.to_sparse_csr(), 'w': torch.tensor([1.0, 2.0]), 'bsr': eye.to_sparse_bsr((2, 2)),
                'quantized': torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), 'coo': eye.to_sparse(),
                'meta': torch.empty(2, 3, device='meta'), 7: torch.ones(1), 'name': 'adam'}, os.path.join(folder, 'mixed.pt'))
    records = numpy.array([(1.0, (2, 3)), (3.0, (4, 5))], dtype=[('a', '<f4'), ("b]", '<i4', (2,))])
    numpy.savez_compressed(os.path.join(folder, 'mixed.npz'), first=numpy.ones(3, numpy.float32), records=records,
                           objects=numpy.array([{}, 1], dtype=object), text=numpy.array(['ab', 'c']),
                           dates=numpy.array(['2020-01-01'], dtype='datetime64[ns]'), last=numpy.full(2, numpy.nan))


checkpoints()
