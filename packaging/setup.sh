#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what building and running opscope on Debian 12 needs, fetches LibTorch, configures and builds build/release:
# the named targets, or everything. Shared by run.sh and test.sh; safe to interrupt and to repeat.
#     packaging/setup.sh [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf 'opscope: %s\n' "$*"; }
die() { printf 'opscope: %s\n' "$*" >&2; exit 1; }
trap 'exit 130' INT TERM

packages=(build-essential cmake ninja-build ccache lld clang-format pkg-config ca-certificates python3 python3-pip xz-utils
    qt6-base-dev libqcustomplot-dev libqscintilla2-qt6-dev libgraphviz-dev
    zlib1g-dev libdeflate-dev libfmt-dev libsimdjson-dev libxxhash-dev libsqlite3-dev xvfb xauth)

install_packages() {
    local installed missing=()
    installed=$(dpkg-query -W -f='${Package} ${Status}\n' "${packages[@]}" 2>/dev/null | sed -n 's/ install ok installed$//p' || true)
    for p in "${packages[@]}"; do
        grep -qxF "$p" <<<"$installed" || missing+=("$p")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    command -v apt-get >/dev/null || die "this set-up installs Debian packages, and apt-get is not here; needed: ${missing[*]}"
    local sudo=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "installing packages needs root or sudo; missing: ${missing[*]}"
        sudo=(sudo)
    fi
    say "installing ${#missing[@]} Debian packages: ${missing[*]}"
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq || die "apt-get update did not succeed"
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null \
        || die "apt-get could not install: ${missing[*]}"
}

install_packages
packaging/fetch_libtorch.sh
if [ ! -f build/release/build.ninja ]; then
    say "configuring build/release"
    cmake --preset release -DOPSCOPE_BATCHES=ON >build-configure.log 2>&1 || { cat build-configure.log >&2; rm -f build-configure.log; die "configuring did not succeed"; }
    rm -f build-configure.log
fi
say "building build/release"
targets=()
[ $# -eq 0 ] || targets=(--target "$@")
cmake --build build/release "${targets[@]}" || die "the build did not succeed"
