# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads and writes native opscope traces with numpy alone (the format: core/trace/FORMAT.md), and without it all
but values. A file whose writer died or is still at work is read as far as it is whole.

    trace = Trace("run.opscope")
    for op in trace.records["op"]:
        print(op["op"], [trace.tensors[t].get("shape") for t in op.get("outputs", []) if t is not None])
    values = trace.array(trace.tensors[3])          # numpy array, or None when the values were not saved

    with Writer("new.opscope", {"model_name": "mine"}) as out:
        out.add("tensor", id=0, dtype="float32", shape=[2], op=0, payload=out.payload(numpy.ones(2, "f4")))
        out.add("op", id=0, op="aten.ones.default", func="ones", outputs=[0])
"""

import collections
import io
import json
import math
import re
import struct
import zipfile
import zlib

MIME = "application/vnd.opscope.trace"
FORMAT = "opscope-trace"
# Types that numpy does not have: the unsigned integer they are stored as, and how to make floats of it.
STORED_AS = {"bfloat16": "<u2", "complex32": "<u4", "float8_e4m3fn": "u1", "float8_e5m2": "u1",
             "float8_e4m3fnuz": "u1", "float8_e5m2fnuz": "u1", "float8_e8m0fnu": "u1"}
OWN_NAMES = {"bool": "?", "qint8": "i1", "quint8": "u1", "qint32": "<i4"}


def stored_dtype(name):
    import numpy
    return numpy.dtype(STORED_AS.get(name) or OWN_NAMES.get(name) or name).newbyteorder("<")


def plain(value):
    """As JSON has it: numbers that are not finite are strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


class Scan:
    """The whole entries of an archive without a directory, from byte 0 on. Sizes stand in the local headers."""

    def __init__(self, path):
        self._file = open(path, "rb")
        self._entries = {}
        end = self._file.seek(0, io.SEEK_END)
        at = 0
        while len(head := self._read(at, 30)) == 30 and head[:4] == b"PK\3\4":
            method, crc, packed, size, name_length, extra_length = struct.unpack("<8xH4xIIIHH", head)
            extra = self._read(at + 30 + name_length, extra_length)
            if 0xFFFFFFFF in (packed, size) and extra[:2] == b"\1\0":
                size, packed = struct.unpack("<QQ", extra[4:20])
            data = at + 30 + name_length + extra_length
            if data + packed > end:
                break
            self._entries[self._read(at + 30, name_length).decode()] = (data, packed, size, method, crc)
            at = data + packed

    def _read(self, at, length):
        self._file.seek(at)
        return self._file.read(length)

    def namelist(self):
        return list(self._entries)

    def read(self, name):
        data, packed, size, method, crc = self._entries[name]
        out = self._read(data, packed)
        if method == zipfile.ZIP_DEFLATED:
            out = zlib.decompressobj(-15).decompress(out, size)
        if len(out) != size or zlib.crc32(out) != crc:
            raise zipfile.BadZipFile(f"entry {name} is damaged")
        return out


def open_archive(path):
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        archive = Scan(path)
        if "manifest.json" not in archive.namelist():
            raise
        return archive


class Trace:
    """A trace opened by its records; payloads are read when they are asked for."""

    def __init__(self, path):
        self._zip = open_archive(path)
        self.manifest = json.loads(self._zip.read("manifest.json"))
        if self.manifest.get("format") != FORMAT or self.manifest.get("version") != 1:
            raise ValueError(f"{path}: not an opscope trace of version 1")
        names = self._zip.namelist()
        self.final = json.loads(self._zip.read("final.json")) if "final.json" in names else None
        self.records = collections.defaultdict(list)
        self._known = {}
        segments = (n for n in names if re.fullmatch(r"records/\d+\.jsonl", n))
        for name in sorted(segments, key=lambda n: int(n[8:-6])):
            for line in self._zip.read(name).split(b"\n")[:-1]:
                self._take(json.loads(line), path)
        self.tensors = {record["id"]: record for record in self.records["tensor"]}
        self._arrays = {}

    def _take(self, record, path):
        kind = record["t"]
        if kind.startswith("!"):
            raise ValueError(f"{path}: needs a reader that knows {kind} records")
        # A second record of a tensor or a module call gives what the first one left out.
        if kind in ("tensor", "module_call") and (kind, record["id"]) in self._known:
            first = self._known[kind, record["id"]]
            for member in ("stats", "payload", "strides", "offset", "outputs", "duration"):
                if member in record:
                    first[member] = record[member]
            return
        self.records[kind].append(record)
        if "id" in record:
            self._known[kind, record["id"]] = record

    def array(self, tensor):
        """Values of a tensor record, None when they are not in the file. bfloat16 comes as float32, the other
        types that numpy lacks as unsigned integers."""
        import numpy
        payload = tensor.get("payload", {})
        if payload.get("state") != "saved":
            return None
        entry = payload["entry"]
        if entry not in self._arrays:
            self._arrays = {entry: numpy.load(io.BytesIO(self._zip.read(entry)), allow_pickle=False)}
        data = self._arrays[entry].reshape(-1).view("u1")
        start = payload.get("offset", 0)
        values = data[start:start + payload.get("bytes", 0)].view(stored_dtype(tensor["dtype"]))
        if tensor["dtype"] == "bfloat16":
            values = (values.astype("<u4") << 16).view("<f4")
        shape = tensor.get("shape", [])
        if payload.get("contiguous", True):
            return values.reshape(shape)
        strides = tensor.get("strides") or [int(numpy.prod(shape[i + 1:])) for i in range(len(shape))]
        first = tensor.get("offset", 0)
        last = first + sum((n - 1) * s for n, s in zip(shape, strides))
        if 0 in shape:
            return values[:0].reshape(shape)
        if not 0 <= first <= last < values.size or min(strides, default=0) < 0:
            raise ValueError(f"tensor {tensor['id']}: shape and strides leave its storage of {values.size} elements")
        steps = [s * values.itemsize for s in strides]
        return numpy.lib.stride_tricks.as_strided(values[first:], shape, steps, writeable=False)

    def source(self, file):
        """Text of a source file, None when it is not in the trace."""
        for record in self.records["source"]:
            if record["file"] == file and record.get("entry"):
                return self._zip.read(record["entry"]).decode("utf-8", "replace")
        return None


class Writer:
    """Writes a trace; without an index, which readers make up from the records."""

    def __init__(self, path, manifest=None):
        self._zip = zipfile.ZipFile(path, "w", allowZip64=True)
        self._lines = []
        self._segments = self._payloads = self._count = 0
        self._store("mimetype", MIME.encode(), align=False)
        full = {"format": FORMAT, "version": 1, "source": "own", **(manifest or {})}
        self._store("manifest.json", json.dumps(full).encode(), align=False)

    def _store(self, name, data, align=True):
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        if align:
            end = self._zip.fp.tell() + 30 + len(name.encode()) + (20 if len(data) >= 0xFFFFFFFF else 0)
            padding = -end % 64
            padding += 64 if 0 < padding < 4 else 0
            if padding:
                info.extra = struct.pack("<HH", 0x4246, padding - 4) + bytes(padding - 4)
        self._zip.writestr(info, data)

    def add(self, kind, **members):
        self._lines.append(json.dumps(plain({"t": kind, **members}), allow_nan=False))
        self._count += 1
        if len(self._lines) == 512:
            self.flush()

    def payload(self, array):
        import numpy
        array = numpy.ascontiguousarray(array)
        data = io.BytesIO()
        numpy.lib.format.write_array(data, array.astype(array.dtype.newbyteorder("<")), (1, 0), allow_pickle=False)
        name = f"tensors/{self._payloads:06}.npy"
        self._payloads += 1
        self._store(name, data.getvalue())
        return {"state": "saved", "entry": name, "bytes": array.nbytes}

    def flush(self):
        if self._lines:
            info = zipfile.ZipInfo(f"records/{self._segments:06}.jsonl", (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            self._zip.writestr(info, "".join(line + "\n" for line in self._lines))
            self._segments += 1
            self._lines = []

    def close(self, status="finished"):
        self.flush()
        counts = {"records": self._count, "segments": self._segments, "payload_entries": self._payloads}
        self._store("final.json", json.dumps({"status": status, "counts": counts}).encode(), align=False)
        self._zip.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.close("finished" if kind is None else "failed")
