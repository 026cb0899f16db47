#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How long the window takes to its first picture: without a file (limit 150 ms), and from the start of the process to
# the graph of TRACE (limit 400 ms). usage: tests/bench/window.sh [TRACE]; needs a display, or xvfb-run.
set -euo pipefail
cd "$(dirname "$0")/../.."
runs=${RUNS:-9}
program=build/release/bin/opscope
settings=$(mktemp -d)
trap 'rm -rf "$settings"' EXIT
median() { sort -n | awk '{v[NR]=$1} END {print v[int((NR + 1) / 2)]}'; }
measure() { # WHAT LIMIT ARGUMENTS...
    local what=$1 limit=$2; shift 2
    local figure
    figure=$(for ((i = 0; i < runs; i++)); do
        "$program" --config "$settings/window.ini" --window-size 1600x1000 --start-empty --print-times --quit-after "$@" |
            awk -v what="$what" '$1 == what {print $2}'
    done | median)
    printf '%-8s median of %d: %s ms (limit %s ms)\n' "$what" "$runs" "$figure" "$limit"
    [ "$figure" -le "$limit" ]
}
status=0
measure window 150 || status=1
if [ $# -gt 0 ]; then measure graph 400 "$1" || status=1; fi
exit $status
