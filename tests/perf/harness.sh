#!/usr/bin/env bash
# The comparison runs: every row at its small size on Eumulate and as a loop in C++, some on PoCL too, with right results;
# records, tables and the page come out, and a baseline that was better is noticed. No time is asserted.
# usage: tests/perf/harness.sh BUILD_DIRECTORY
set -euo pipefail
compare=$1/perf/perf_compare
micro=$1/perf/perf_micro
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect CODE COMMAND...
expect() {
  local code=$1 found=0
  shift
  "$@" >"$work/out" 2>"$work/err" || found=$?
  [[ $found -eq $code ]] || {
    echo "expected exit code $code, found $found: $*"
    cat "$work/out" "$work/err"
    exit 1
  }
}
contains() {
  grep -qF -- "$2" "$1" || {
    echo "$1 lacks: $2"
    exit 1
  }
}

quick=(--quick --samples 1 --seconds 0)
expect 0 "$compare" measure "${quick[@]}" --without pocl --workers 2 --json "$work/all.json"
contains "$work/out" "| private_shuffle |"
expect 0 "$compare" measure stencil3d saxpy_64K spmv "${quick[@]}" --json "$work/some.json"
contains "$work/out" "| stencil3d |"
expect 2 "$compare" measure nothing_like_it "${quick[@]}"

expect 0 "$compare" report "$work/some.json" "$work/all.json" --html "$work/page.html" --baseline "$work/some.json"
contains "$work/page.html" "<svg"
# record MILLISECONDS_OF_EUMULATE: beside 100 of PoCL.
record() {
  local instructions='"instructions": {"other": 1, "packed_128_256_512": [0, 0, 0]}, "build_seconds": 0'
  echo '{"host": "h", "workers": 1, "kernels": [{"name": "k", "file": "f", "kernel": "k", "dimensions": 1,'
  echo '"global": [1, 1, 1], "local": [1, 1, 1], "contenders": ['
  echo "{\"name\": \"PoCL\", \"wall_seconds\": [0.1], \"cpu_seconds\": [0.1], $instructions},"
  echo "{\"name\": \"Eumulate\", \"wall_seconds\": [0.$1], \"cpu_seconds\": [0.$1], $instructions}]}]}"
}
record 050 >"$work/old.json"
record 060 >"$work/slow.json"
expect 0 "$compare" report "$work/old.json" --baseline "$work/slow.json"
expect 1 "$compare" report "$work/slow.json" --baseline "$work/old.json"
contains "$work/out" "k: 0.600 of PoCL"
expect 2 "$compare" report "$work/some.json" --baseline "$work/all.json"  # of other workers
echo '{' >"$work/broken.json"
expect 2 "$compare" report "$work/broken.json"

expect 0 "$micro" "${quick[@]}" --without-pocl --json "$work/micro.json"
contains "$work/out" "| barriers |"
contains "$work/micro.json" '"unit_ns"'

EUMULATE=$1/eumulate expect 0 "$(dirname "$0")/../../perf/visa.py" 1 saxpy
contains "$work/out" "saxpy"
