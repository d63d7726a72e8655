#!/usr/bin/env bash
# Host instructions for each guest instruction, counted by callgrind: the difference between many launches and one, so that
# loading, translation and buffers do not count. "Translated" is what runs in translated code, the rest are dispatch and
# functions that translated code calls.
# usage: perf/instructions.sh [NAME...]      (default: all; needs valgrind and build/release/eumulate)
set -euo pipefail
cd "$(dirname "$0")/.."

# name: binary kernel range, arguments
kernels='
saxpy: saxpy saxpy --global 262144 --arg f32:2.5 --arg random:f32:262144:1 --arg random:f32:262144:2 --arg i32:262144
sgemm: sgemm sgemm --global 64,64 --arg i32:64 --arg random:f32:4096:1 --arg random:f32:4096:2 --arg zeros:16384
stencil3d: stencil3d stencil3d --global 64,64,32 --arg random:f32:131072:1 --arg zeros:524288 --arg f32:0.4 --arg f32:0.1
nbody: nbody nbody --global 256 --arg random:f32:1024:1 --arg zeros:4096 --arg i32:256 --arg f32:0.01
hash: hash hash --global 2048 --arg random:u32:65536:1 --arg zeros:8192 --arg u32:7
'
launches=5

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# counts REPEAT WORD...: instructions of one process, all and those in no file; guest instructions of a launch.
counts() {
  local repeat=$1
  shift
  valgrind --tool=callgrind --callgrind-out-file="$work/out" \
    build/release/eumulate run "$@" --threads 1 --repeat "$repeat" --json >"$work/report" 2>"$work/log" || {
    cat "$work/log" >&2
    exit 1
  }
  local costs guest
  # Costs of each object by itself: a line behind "calls=" is what the callee took. Code that no file holds is "???".
  costs=$(awk '
    /^c?ob=/ {  # the first mention of an object has its name
      id = $1; sub(/^c?ob=/, "", id)
      if (NF > 1) name[id] = $2
      if ($1 ~ /^ob=/) translated = name[id] == "???"
    }
    /^calls=/ {skip = 1; next}
    /^[-+*0-9]/ {
      if (!skip) {all += $2; if (translated) own += $2}
      skip = 0
    }
    END {printf "%d %d", all, own}' "$work/out")
  guest=$(sed -nE 's/^ *"guest_instructions": ([0-9]+),?$/\1/p' "$work/report")
  echo "$costs $guest"
}

echo "| kernel | guest instructions | host instructions for each | of them translated |"
echo "|---|---|---|---|"
while IFS=: read -r name words; do
  [[ -n $name && (-z $* || " $* " == *" $name "*) ]] || continue
  read -ra words <<<"$words"
  words=("tests/kernels/bin/${words[0]}.patch.bin" --kernel "${words[@]:1}")
  read -r all_one translated_one guest < <(counts 1 "${words[@]}")
  read -r all_many translated_many guest < <(counts "$launches" "${words[@]}")
  awk -v name="$name" -v guest="$guest" -v all=$((all_many - all_one)) -v translated=$((translated_many - translated_one)) \
    -v launches=$((launches - 1)) \
    'BEGIN {printf "| %s | %d | %.2f | %.2f |\n", name, guest, all / guest / launches, translated / guest / launches}'
done <<<"$kernels"
