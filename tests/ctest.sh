#!/usr/bin/env bash
# Runs the tests of a build directory, two at a time or more, and repeats ctest's count as the last line.
# usage: tests/ctest.sh BUILD_DIRECTORY [CTEST_ARGUMENT...]
set -euo pipefail
build=$1
shift

# Sanitizers of clang 14 and gcc 12 die where the kernel spreads addresses wider than they know (vm.mmap_rnd_bits above
# 28), so they run without, where that is allowed.
spread=()
if grep -qE '^EUMULATE_SANITIZE:[A-Z]+=.' "$build/CMakeCache.txt" && setarch "$(uname -m)" -R true 2>/dev/null; then
  spread=(setarch "$(uname -m)" -R)
fi

log=$build/Testing/output.txt
mkdir -p "$build/Testing"
status=0
"${spread[@]}" ctest --test-dir "$build" --output-on-failure --no-tests=error --timeout 600 -j "$(nproc)" "$@" 2>&1 | tee "$log" || status=$?
grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+$' "$log" | tail -n 1 || true
exit "$status"
