#!/usr/bin/env bash
# Builds the tests with threads (preset tsan: g++, std::thread workers in place of oneTBB) and runs them under the thread
# sanitizer. Says so and ends well where the host's addresses lie where the sanitizer cannot run.
# usage: tests/tsan.sh [CTEST_ARGUMENT...]       default: dispatches, their code cache, memory
set -euo pipefail
cd "$(dirname "$0")/.."
# Warnings are for the other builds: with this sanitizer g++ sees uninitialised values where there are none.
EUMULATE_WERROR=OFF cmake --preset tsan
cmake --build build/tsan --target test_runtime test_memory
spread=()
! setarch "$(uname -m)" -R true 2>/dev/null || spread=(setarch "$(uname -m)" -R)
if ! probe=$("${spread[@]}" build/tsan/tests/test_memory --list-test-names-only 2>&1) && [[ $probe == *'unexpected memory mapping'* ]]; then
  echo "skipped: the thread sanitizer does not run on this host: $probe"
  exit 0
fi
[[ $# -gt 0 ]] || set -- -R '^(runtime|memory):' -E '10.5 buffers|flipped bits|extreme numbers|truncated binaries|from both containers'
tests/ctest.sh build/tsan "$@"
