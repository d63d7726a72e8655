#!/usr/bin/env bash
# Every test of engines, and the corpus on the AVX2 engine, without each optimisation alone and without all of them. The
# tests themselves do a part of it each time; this takes five minutes for each.
# usage: tests/jit/reduced.sh BUILD_DIRECTORY [NAME...]      in the project root
set -euo pipefail
build=$1
shift
names=("$@")
[[ $# -gt 0 ]] || mapfile -t names < <(
  echo all
  sed -nE 's/^(PASS\(([a-z_0-9]+), *(Optional|Unobserved|Unrestored)|CHOICE\(([a-z_0-9]+)),.*/\2\4/p' jit/optimisations.def
)

failed=0
for name in "${names[@]}"; do
  echo "without $name"
  export EUMULATE_DISABLE=$name
  "$build/tests/test_jit" '~code size*' | tail -n 40 || failed=1
  "$build/tests/test_visa" | tail -n 40 || failed=1
  "$build/tests/test_runtime" '[corpus]' | tail -n 40 || failed=1
done
exit $failed
