#!/usr/bin/env bash
# Builds the fuzz targets (preset fuzz) and runs each for a while, two at a time, from the committed seeds in
# tests/fuzz/corpus/NAME; what it finds on the way stays in build/fuzz/corpus/NAME. An input that fails is kept in
# build/fuzz/failures, and the output names it.
# usage: tests/fuzz/run.sh [SECONDS [NAME...]]      default: 10 seconds, every target
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-10}
shift || true
names=("$@")
[[ ${#names[@]} -gt 0 ]] || mapfile -t names < <(basename -s .cpp tests/fuzz/*.cpp)

runtime/install_dependencies.sh ci
cmake --preset fuzz
cmake --build build/fuzz --target "${names[@]/#/fuzz_}"
mkdir -p build/fuzz/failures

export spread=''
! setarch "$(uname -m)" -R true 2>/dev/null || spread="setarch $(uname -m) -R"  # as in tests/ctest.sh

fuzz() {
  local name=$1 seconds=$2 seeds=tests/fuzz/corpus/$1 found=build/fuzz/corpus/$1 log=build/fuzz/fuzz_$1.log longest=4096
  [[ $name != @(loader|run) ]] || longest=131072  # whole binaries
  mkdir -p "$found"
  local folders=("$found")
  [[ ! -d $seeds ]] || folders+=("$seeds")
  # shellcheck disable=SC2086  # words of a command, or none
  if $spread build/fuzz/tests/fuzz_"$name" -max_total_time="$seconds" -max_len="$longest" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="build/fuzz/failures/$name-" "${folders[@]}" >"$log" 2>&1; then
    echo "fuzz_$name: $(tail -n 1 "$log")"
  else
    tail -n 60 "$log"
    echo "fuzz_$name: FAILED"
    return 1
  fi
}
export -f fuzz
printf '%s\n' "${names[@]}" | xargs -P 2 -I NAME bash -c 'fuzz NAME '"$seconds"
