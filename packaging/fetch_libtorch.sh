#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Puts the CPU part of LibTorch 2.15.0 into the user's cache: the wheel of torch is fetched with pip, and only
# libtorch_cpu.so, libc10.so, libgomp and the headers are taken out of it. Does nothing when they are there already.
set -euo pipefail
version=2.15.0
tag=cp311
sha256=48c2d861134c0b5697c7602cb5ffa68f62a2989fdcd1717e593356f67996ca1e
cache="${XDG_CACHE_HOME:-$HOME/.cache}/opscope"
target="$cache/libtorch-$version-$tag"
say() { printf 'opscope: %s\n' "$*"; }
die() { printf 'opscope: %s\n' "$*" >&2; exit 1; }

if [ -n "${OPSCOPE_LIBTORCH:-}" ]; then
    [ -f "$OPSCOPE_LIBTORCH/lib/libtorch_cpu.so" ] || die "OPSCOPE_LIBTORCH names $OPSCOPE_LIBTORCH, which holds no lib/libtorch_cpu.so"
    say "LibTorch is the one OPSCOPE_LIBTORCH names: $OPSCOPE_LIBTORCH"
    exit 0
fi
if [ -f "$target/complete" ]; then
    say "LibTorch $version is in the cache: $target"
    exit 0
fi
mkdir -p "$cache"
work="$(mktemp -d "$cache/fetch.XXXXXX")"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
free_kib=$(df -Pk "$cache" | awk 'NR==2 {print $4}')
[ "$free_kib" -gt 1300000 ] || die "$cache has $((free_kib / 1024)) MiB free, fetching LibTorch needs 1270 MiB"
say "fetching the wheel of torch $version (539 MB) ..."
python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.11 --implementation cp --abi cp311 \
    --platform manylinux_2_28_x86_64 --dest "$work/wheel" "torch==$version" \
    || die "pip could not download torch $version: is the package index reachable?"
wheel=$(echo "$work"/wheel/torch-*.whl)
say "checking $(basename "$wheel") ..."
echo "$sha256  $wheel" | sha256sum --check --quiet - || die "$(basename "$wheel") does not have the expected SHA-256 $sha256"
say "unpacking the CPU libraries and headers ..."
python3 - "$wheel" "$work/out" <<'PY' || die "the wheel of torch $version could not be unpacked"
import sys, zipfile
members = {"torch/lib/libtorch_cpu.so", "torch/lib/libc10.so", "torch/lib/libgomp.so.1"}
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for info in wheel.infolist():
        if info.filename in members or info.filename.startswith("torch/include/") or info.filename.endswith("/LICENSE"):
            wheel.extract(info, sys.argv[2])
PY
[ -f "$work/out/torch/lib/libtorch_cpu.so" ] || die "the wheel of torch $version holds no libtorch_cpu.so"
touch "$work/out/complete"
rm -rf "$target"
mv "$work/out" "$target"
say "LibTorch $version is in $target"
