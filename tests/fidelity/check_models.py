# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures every model that make_models.py made, compares with what Python said, and writes the page of the docs.

    python check_models.py CLI MODELS PAGE REVISION

Compared for each model and format: the outputs (rtol 1e-5, atol 1e-6), the sequence of ops against the exported
graph (.pt2), and `verify --replay`: every recorded op recomputed from its recorded inputs. Exit code 1 when
anything differs.
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


def sequence_difference(ops, targets):
    calls = {}
    for op in ops:
        if op["kind"] == "compute":
            calls.setdefault(op["call"], op["op"])
    ran = [name for _, name in sorted(calls.items()) if name.startswith("aten.")]
    wanted = [name for name in targets if name.startswith("aten.")]
    for index, (a, b) in enumerate(zip(ran, wanted)):
        if a != b:
            return f"call {index} is {a}, {b} expected"
    return "" if len(ran) == len(wanted) else f"{len(ran)} calls, {len(wanted)} expected"


def check(program, models, facts, suffix, folder):
    name = facts["name"]
    model = os.path.join(models, name + suffix)
    trace = os.path.join(folder, "run.opscope")
    tree = ".kwargs.json" if suffix == ".pt2" or facts["torchscript"] != "traced" else ".args.json"
    started = time.monotonic()
    code, document, messages = cli(program, "capture", model, "-o", trace, "--seed", "0", "--inputs",
                                   os.path.join(models, name + tree))
    row = {"model": name, "format": suffix[1:], "seconds": time.monotonic() - started, "outputs": "", "sequence": "",
           "replay": "", "calls": 0, "bytes": 0}
    if code != 0:
        row["outputs"] = "not captured: " + messages.splitlines()[-1] if messages else "not captured"
        return row
    row["bytes"] = os.path.getsize(trace)
    row["outputs"] = output_difference(cli(program, "outputs", trace)[1]["outputs"], facts["outputs"])
    ops = cli(program, "ops", trace)[1]["ops"]
    row["calls"] = len({op["call"] for op in ops if op["kind"] == "compute"})
    if suffix == ".pt2":
        row["sequence"] = sequence_difference(ops, facts["targets"])
    code, document, messages = cli(program, "verify", trace, "--replay", model)
    replay = (document or {}).get("replay")
    row["replayed"] = f"{replay['equal']} of {replay['replayed']}" if replay else "-"
    if code != 0 or not replay:
        row["replay"] = messages.splitlines()[-1] if messages else "replay differs"
    return row


def page(rows, torch_version, revision):
    lines = ["# Fidelity on real architectures", "",
             "Written by `tests/fidelity/run.sh`; do not edit. Random weights, CPU, one thread.", "",
             f"Revision {revision}, torch {torch_version}, {platform.machine()}, {time.strftime('%Y-%m-%d')}.", "",
             "*outputs*: against a plain run in Python, rtol 1e-5, atol 1e-6. *sequence*: aten calls against the exported graph. "
             "*replay*: recorded ops whose recomputed outputs are bitwise those recorded.", "",
             "| model | format | calls | outputs | sequence | replay | capture s | trace MB |",
             "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        sequence = (row["sequence"] or "equal") if row["format"] == "pt2" else "-"
        replay = row.get("replayed", "-") + (f" ({row['replay']})" if row["replay"] else "")
        lines.append(f"| {row['model']} | {row['format']} | {row['calls']} | {row['outputs'] or 'equal'} | {sequence} | "
                     f"{replay} | {row['seconds']:.2f} | {row['bytes'] / 1e6:.1f} |")
    good = sum(not (row["outputs"] or row["sequence"] or row["replay"]) for row in rows)
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
                row = rows[-1]
                problem = row["outputs"] or row["sequence"] or row["replay"] or "equal"
                print(f"fidelity: {row['model']} {row['format']}: {problem}", flush=True)
    with open(page_path, "w") as stream:
        stream.write(page(rows, torch_version, revision))
    sys.exit(any(row["outputs"] or row["sequence"] or row["replay"] for row in rows))


if __name__ == "__main__":
    main()
