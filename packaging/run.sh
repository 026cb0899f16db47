#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sets up, builds and opens the window on FILE..., or on the bundled sample. Without a display the same window runs
# under Xvfb, prints the verdict of what it shows and saves a picture. Safe to interrupt and to repeat.
#     packaging/run.sh [FILE...]
set -euo pipefail
say() { printf 'opscope: %s\n' "$*"; }
die() { printf 'opscope: %s\n' "$*" >&2; exit 1; }
trap 'printf "\nopscope: interrupted\n" >&2; exit 130' INT TERM

files=()
for file in "$@"; do
    [ -e "$file" ] || die "there is no file $file"
    files+=("$(realpath "$file")")
done
cd "$(dirname "$0")/.."
packaging/setup.sh opscope opscope-cli capture_worker layout_worker

bin=build/release/bin
if [ ${#files[@]} -eq 0 ]; then
    sample=build/release/share/opscope/samples/masked_attention.opscope
    if [ ! -f "$sample" ]; then
        say "capturing the sample"
        mkdir -p "$(dirname "$sample")"
        "$bin/opscope-cli" capture resources/samples/masked_attention.pt2 --seed 0 -o "$sample.part" \
            || die "the sample could not be captured"
        mv "$sample.part" "$sample"
    fi
    files=("$sample")
fi

if [ -n "${WAYLAND_DISPLAY:-}${DISPLAY:-}" ]; then
    say "opening the window"
    exec "$bin/opscope" "${files[@]}"
fi
picture="$PWD/build/release/opscope.png"
say "there is no display: the window runs under Xvfb"
QT_QPA_PLATFORM=xcb xvfb-run --auto-servernum --server-args="-screen 0 1600x1000x24" \
    "$bin/opscope" --config build/release/headless.ini --window-size 1600x1000 --select origin \
    --screenshot "$picture" --quit-after "${files[@]}" || die "the window could not be shown under Xvfb"
