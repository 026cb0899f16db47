#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sets up, builds and runs all tests, without a display. Extra arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."
packaging/setup.sh
export QT_QPA_PLATFORM=offscreen
printf 'opscope: running the tests\n'
ctest --test-dir build/release --output-on-failure --timeout 600 -j 2 "$@" || { printf 'opscope: tests did not pass\n' >&2; exit 1; }
