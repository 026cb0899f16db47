# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures every model that make_models.py made, compares with what Python said, and writes the page of the docs.

    python check_models.py CLI MODELS PAGE REVISION

Compared for each model and format: the outputs with those of Python (rtol 1e-5, atol 1e-6) and with those of an
unwatched run in the same process (bit for bit), the sequence of ops with the exported graph (.pt2) or with what
PyTorch's profiler saw (TorchScript), every tensor argument with what the trace says it comes from, and
`verify --replay`: every recorded op recomputed from its recorded inputs. Exit code 1 when anything differs.
"""
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time

RTOL, ATOL = 1e-5, 1e-6
# Ops that PyTorch's profiler never sees.
UNOBSERVED = {"size", "is_leaf", "output_nr", "_version", "is_complex"}


def cli(program, *words):
    """Exit code, JSON document (or None), messages."""
    done = subprocess.run([program, *words, "--json"], capture_output=True, text=True)
    try:
        return done.returncode, json.loads(done.stdout), done.stderr.strip()
    except json.JSONDecodeError:
        return done.returncode, None, done.stderr.strip()


def number(value):
    return float(value.replace("Infinity", "inf")) if isinstance(value, str) else float(value)


def near(a, b, slack):
    return (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= slack


def output_difference(outputs, expected):
    outputs = [output for output in outputs if output["dtype"] is not None]
    if len(outputs) != len(expected):
        return f"{len(outputs)} outputs, {len(expected)} expected"
    for output, wanted in zip(outputs, expected):
        if output["shape"] != wanted["shape"] or output["dtype"] != wanted["dtype"]:
            return f"{output['dtype']}{output['shape']}, {wanted['dtype']}{wanted['shape']} expected"
        for a, b in zip(output["first"], wanted["first"]):
            if not near(number(a), b, ATOL + RTOL * abs(b)):
                return f"value {a}, {b} expected"
        if not near(number(output["sum_finite"]), wanted["sum_finite"], ATOL + RTOL * wanted["abs_sum_finite"]):
            return f"sum {output['sum_finite']}, {wanted['sum_finite']} expected"
    return ""


def sequence_difference(records, wanted, with_overload):
    """Of the ATen calls; WANTED are "aten.add.Tensor" (.pt2) or "add" (TorchScript)."""
    ran = [record["op"] for record in records if record["t"] == "op" and record.get("op", "").startswith("aten.")]
    if with_overload:
        wanted = [name for name in wanted if name.startswith("aten.")]
    else:
        ran = [name.split(".")[1] for name in ran]
        ran = [name for name in ran if name not in UNOBSERVED]
        # When a constant's number is read depends on the executor: counted, not ordered.
        if ran.count("item") != wanted.count("item"):
            return f"{ran.count('item')} numbers read, {wanted.count('item')} expected"
        ran = [name for name in ran if name != "item"]
        wanted = [name for name in wanted if name != "item"]
    for index, (a, b) in enumerate(zip(ran, wanted)):
        if a != b:
            return f"call {index} is {a}, {b} expected"
    return "" if len(ran) == len(wanted) else f"{len(ran)} calls, {len(wanted)} expected"


def untraceable(records):
    """Tensor arguments that come from nowhere: no earlier op, no parameter, buffer or input, no constant."""
    tensors = {record["id"]: record for record in records if record["t"] == "tensor"}
    lost, constants = [], 0
    for record in records:
        if record["t"] != "op":
            continue
        for argument in record.get("args", []):
            for number in argument.get("tensors", []):
                if number is None:
                    continue
                tensor = tensors.get(number)
                role = tensor.get("role", "output") if tensor else "missing"
                if role == "constant" and not tensor.get("address"):
                    constants += 1
                elif role == "missing" or (role == "output" and tensor.get("op") is None) or (
                        role in ("parameter", "buffer", "input") and not tensor.get("address")):
                    lost.append(f"{record['op']}({argument['name']})")
    return (f"{len(lost)} arguments from nowhere: {lost[0]}" if lost else ""), constants


def check(program, models, facts, suffix, folder):
    name = facts["name"]
    model = os.path.join(models, name + suffix)
    trace = os.path.join(folder, "run.opscope")
    tree = ".kwargs.json" if suffix == ".pt2" or facts["torchscript"] != "traced" else ".args.json"
    started = time.monotonic()
    code, document, messages = cli(program, "capture", model, "-o", trace, "--seed", "0", "--check-plain",
                                   "--inputs", os.path.join(models, name + tree))
    row = {"model": name, "format": suffix[1:], "seconds": time.monotonic() - started, "outputs": "", "plain": "",
           "sequence": "", "inputs": "", "replay": "", "calls": 0, "bytes": 0}
    plain = ((document or {}).get("summary") or {}).get("plain")
    if code not in (0, 1) or not plain:
        row["outputs"] = "not captured: " + messages.splitlines()[-1] if messages else "not captured"
        return row
    row["watched"] = f"{plain['equal']} of {plain['outputs']}"
    row["plain"] = "" if plain["equal"] == plain["outputs"] else f"{plain['differing'][0]}"
    row["bytes"] = os.path.getsize(trace)
    row["outputs"] = output_difference(cli(program, "outputs", trace)[1]["outputs"], facts["outputs"])
    dumped = subprocess.run([program, "dump", trace], capture_output=True, text=True).stdout
    records = [record for record in map(json.loads, dumped.splitlines()) if "t" in record]
    row["calls"] = sum(record["t"] == "op" and record.get("kind", "compute") == "compute" for record in records)
    exported = suffix == ".pt2"
    row["sequence"] = sequence_difference(records, facts["targets" if exported else "calls"], exported)
    row["inputs"], row["constants"] = untraceable(records)
    code, document, messages = cli(program, "verify", trace, "--replay", model)
    replay = (document or {}).get("replay")
    row["replayed"] = f"{replay['equal']} of {replay['replayed']}" if replay else "-"
    if code != 0 or not replay:
        row["replay"] = messages.splitlines()[-1] if messages else "replay differs"
    return row


def problem_of(row):
    return row["outputs"] or row["plain"] or row["sequence"] or row["inputs"] or row["replay"]


def page(rows, torch_version, revision):
    lines = ["# Fidelity on real architectures", "",
             "Written by `tests/fidelity/run.sh`; do not edit. Random weights, CPU, one thread.", "",
             f"Revision {revision}, torch {torch_version}, {platform.machine()}, {time.strftime('%Y-%m-%d')}.", "",
             "*outputs*: against a plain run in Python, rtol 1e-5, atol 1e-6. *unwatched*: outputs that are bit for bit those "
             "of the same model run without being watched in the same process. *sequence*: ATen calls against the exported "
             "graph (.pt2) or against what PyTorch's profiler saw (TorchScript). *inputs*: every tensor argument comes from an "
             "earlier op, a parameter, a buffer, an input or a constant (in brackets: constants without a name). *replay*: "
             "ops whose outputs, recomputed from their recorded inputs, are bit for bit those recorded; the others draw "
             "random numbers, make no tensor, or make memory without values.", "",
             "| model | format | calls | outputs | unwatched | sequence | inputs | replay | capture s | trace MB |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        sequence = row["sequence"] or "equal"
        inputs = row["inputs"] or ("all" + (f" ({row['constants']})" if row.get("constants") else ""))
        replay = row.get("replayed", "-") + (f" ({row['replay']})" if row["replay"] else "")
        lines.append(f"| {row['model']} | {row['format']} | {row['calls']} | {row['outputs'] or 'equal'} | "
                     f"{row['plain'] or row.get('watched', '-')} | {sequence} | {inputs} | {replay} | {row['seconds']:.2f} | {row['bytes'] / 1e6:.1f} |")
    good = sum(not problem_of(row) for row in rows)
    return "\n".join(lines + ["", f"{good} of {len(rows)} are equal in everything that was compared.", ""])


def main():
    program, models, page_path, revision = sys.argv[1:5]
    rows, torch_version = [], ""
    for file in sorted(os.listdir(models)):
        if not file.endswith(".json") or file.endswith((".args.json", ".kwargs.json")):
            continue
        with open(os.path.join(models, file)) as stream:
            facts = json.load(stream)
        torch_version = facts["torch"]
        for suffix in (".pt2", ".pt"):
            if os.path.exists(os.path.join(models, facts["name"] + suffix)):
                with tempfile.TemporaryDirectory() as folder:
                    rows.append(check(program, models, facts, suffix, folder))
                print(f"fidelity: {rows[-1]['model']} {rows[-1]['format']}: {problem_of(rows[-1]) or 'equal'}", flush=True)
    with open(page_path, "w") as stream:
        stream.write(page(rows, torch_version, revision))
    sys.exit(any(problem_of(row) for row in rows))


if __name__ == "__main__":
    main()
