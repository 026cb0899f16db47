# SPDX-License-Identifier: GPL-3.0-or-later
"""What resources/python/opscope_trace.py reads of a trace, as JSON; and a trace that it writes.

    check_python_reader.py FOLDER_OF_THE_MODULE TRACE NEW_TRACE
"""
import json
import sys

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import opscope_trace  # noqa: E402

trace = opscope_trace.Trace(sys.argv[2])
completed = {id: {"stats": "stats" in t, "payload": t.get("payload", {}).get("state"), "op": t.get("op")}
             for id, t in trace.tensors.items()}
sources = {r["file"]: trace.source(r["file"]) for r in trace.records["source"]}
print(json.dumps({"kinds": {kind: len(records) for kind, records in trace.records.items()},
                  "status": trace.final and trace.final["status"], "tensors": completed, "sources": sources}))

with opscope_trace.Writer(sys.argv[3], {"model_name": "mine"}) as out:
    for i in range(1000):
        out.add("tensor", id=i, dtype="float32", shape=[2], op=i,
                stats={"n": 2, "nan": 2, "min": float("nan"), "mean": float("inf")})
        out.add("op", id=i, op="aten.relu.default", func="relu", outputs=[i], parents=[i - 1] if i else [])
