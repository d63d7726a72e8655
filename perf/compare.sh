#!/usr/bin/env bash
# Times every kernel of perf/kernels on PoCL, on Eumulate and as a C++ loop, in turns, with one worker and with one for
# each processor; then prints the tables, writes the records and one page with bars.
# usage: perf/compare.sh [--baseline OLD.json] [--out FOLDER] [--workers N[,N...]] [MEASURE_OPTION...] [PART...]
# The folder (build/perf) gets workers-N.json of each and compare.html. Ends with 1 if a result is wrong, or if a kernel
# is worse than in OLD.json by more than noise. MEASURE_OPTIONs are those of perf_compare measure; a PART chooses the
# kernels whose names hold it.
set -euo pipefail
cd "$(dirname "$0")/.."

baseline=() out=build/perf workers=1,$(nproc) rest=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --baseline) baseline=(--baseline "$2") && shift 2 ;;
    --out) out=$2 && shift 2 ;;
    --workers) workers=$2 && shift 2 ;;
    -h | --help)
      sed -n '2,/^set/{/^set/d;s/^# //;p}' "$0"
      exit
      ;;
    *) rest+=("$1") && shift ;;
  esac
done

[[ -f build/release/build.ninja ]] || cmake --preset release
cmake --build build/release --target perf_compare >&2

mkdir -p "$out"
records=() wrong=0
for count in ${workers//,/ }; do
  record=$out/workers-$count.json
  [[ " ${records[*]} " != *" $record "* ]] || continue  # one processor
  build/release/perf/perf_compare measure --workers "$count" --json "$record" "${rest[@]}" >/dev/null || wrong=$?
  [[ $wrong -le 1 ]] || exit "$wrong"
  records+=("$record")
done
build/release/perf/perf_compare report "${records[@]}" --html "$out/compare.html" "${baseline[@]}" || wrong=$?
echo "records and page: ${records[*]} $out/compare.html"
exit "$wrong"
