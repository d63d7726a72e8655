#!/usr/bin/env bash
# Installs what is missing, builds everything (preset release), runs all tests. The last line is their count.
# usage: tests/run.sh [CTEST_ARGUMENT...]      for example: tests/run.sh -R lower
set -euo pipefail
cd "$(dirname "$0")/.."

runtime/install_dependencies.sh tests
cmake --preset release -DEUMULATE_TESTS=ON -DEUMULATE_PERF=ON
cmake --build build/release
tests/ctest.sh build/release "$@"
