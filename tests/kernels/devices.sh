#!/usr/bin/env bash
# Compiles the corpus for devices whose binaries are not kept, which have the instructions of bxt, and runs it.
# Usage: devices.sh BUILD_DIRECTORY [DEVICE...]      (no DEVICE: all). Needs ocloc (Debian intel-opencl-icd).
set -euo pipefail
build=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- skl kbl cfl glk
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for device; do
  "$here/compile.sh" --device "$device" --into "$work/$device"
  EUMULATE_DEVICE=$device EUMULATE_DEVICE_FAMILY=Gen9 EUMULATE_DEVICE_BINARIES=$work/$device \
    "$build/tests/test_runtime" '[.device]'
done
