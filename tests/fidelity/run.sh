#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes real architectures with torch from PyPI, captures each in both formats, compares with Python and with the
# exported graph, replays every op, and writes docs/fidelity.md. Needs a built build/release and about 6 GB of disk in
# the user's cache. Exit code 1 when anything differs.
#     tests/fidelity/run.sh [MODEL...]
# OPSCOPE_FIDELITY_MODELS: a folder with models that were made before (or for them); OPSCOPE_FIDELITY_PYTHON: a Python
# that has torch, torchvision, transformers and silero-vad.
set -euo pipefail
cd "$(dirname "$0")/../.."
say() { printf 'fidelity: %s\n' "$*"; }
die() { printf 'fidelity: %s\n' "$*" >&2; exit 1; }
trap 'exit 130' INT TERM

cli=build/release/bin/opscope-cli
[ -x "$cli" ] || die "$cli is not built: run packaging/setup.sh first"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/opscope/fidelity"
python="${OPSCOPE_FIDELITY_PYTHON:-$cache/venv/bin/python}"
if ! "$python" -c 'import torch, torchvision, transformers, silero_vad' 2>/dev/null; then
    [ -z "${OPSCOPE_FIDELITY_PYTHON:-}" ] || die "OPSCOPE_FIDELITY_PYTHON lacks torch, torchvision, transformers or silero-vad"
    say "making a Python environment in $cache/venv"
    python3 -m venv "$cache/venv" || die "python3 could not make an environment (is python3-venv installed?)"
    "$python" -m pip install --quiet torch==2.15.0 torchvision transformers silero-vad numpy \
        || die "pip could not install torch and its friends"
fi
models="${OPSCOPE_FIDELITY_MODELS:-$cache/models}"
"$python" tests/fidelity/make_models.py "$models" "$@"
"$python" tests/fidelity/check_models.py "$cli" "$models" docs/fidelity.md "$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)"
