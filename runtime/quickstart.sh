#!/usr/bin/env bash
# Installs what is missing, builds eumulate (preset release) and runs the demo: real Broxton binaries on this CPU,
# their results verified. Quick when nothing is missing. Arguments go to the demo; --pictures DIR writes PNG files of what
# the picture kernels read and wrote (a relative DIR is one of the project root).
set -euo pipefail
cd "$(dirname "$0")/.."

runtime/install_dependencies.sh build
# A build directory that is there is taken as it is, with or without tests.
[[ -f build/release/build.ninja ]] || cmake --preset release -DEUMULATE_TESTS=OFF -DEUMULATE_PERF=OFF
cmake --build build/release --target eumulate eumulate_demo
build/release/tests/kernels/eumulate_demo "$@"
