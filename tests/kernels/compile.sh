#!/usr/bin/env bash
# Regenerates bin/STEM.{patch,zebin}.bin from the rows of manifest.def with the vendor's offline compiler.
# Usage: compile.sh [--device DEVICE [--into DIRECTORY]] [STEM...]   (no STEM: all). Needs ocloc (Debian intel-opencl-icd).
# Without --device for bxt; for other devices as ocloc names them into devices/DEVICE/, patch tokens only. Ends with 1 if the
# outcome of any row differs from what the manifest says of it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
device=bxt
into=$here/bin
if [ "${1:-}" = --device ]; then
  device=$2
  into=$here/devices/$device
  shift 2
fi
if [ "${1:-}" = --into ]; then
  into=$2
  shift 2
fi
mkdir -p "$into"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile() {  # stem source options container-name ocloc-arguments... -> bin/STEM.NAME.bin
  local stem=$1 source=$2 options=$3 container=$4
  shift 4
  local out=$work/$stem.$container
  ocloc compile -file "$here/src/$source.cl" -device "$device" -out_dir "$out" -output "$stem" -options "$options" "$@" \
    >"$out.log" 2>&1 || return 1
  mv "$out/${stem}"_*.bin "$into/$stem.$container.bin"
}

failures=0
rows=0
while IFS='|' read -r stem source options zebin; do
  if [ $# -gt 0 ] && [[ " $* " != *" $stem "* ]]; then continue; fi
  rows=$((rows + 1))
  if grep -qE "^KERNEL_NOT_FOR\($device, +$stem, " "$here/devices.def"; then
    if compile "$stem" "$source" "$options" patch; then
      echo "$stem: compiles for $device, but devices.def says that it does not"
      rm "$into/$stem.patch.bin"
      failures=$((failures + 1))
    fi
  elif ! compile "$stem" "$source" "$options" patch; then
    echo "$stem: patch tokens: does not compile:"
    cat "$work/$stem.patch.log"
    failures=$((failures + 1))
  fi
  [ "$device" = bxt ] || continue
  if compile "$stem" "$source" "$options" zebin --format zebin; then
    if [ -n "$zebin" ]; then
      echo "$stem: zebin: compiles, but the manifest says: $zebin"
      failures=$((failures + 1))
    fi
  elif [ -z "$zebin" ]; then
    echo "$stem: zebin: does not compile:"
    cat "$work/$stem.zebin.log"
    failures=$((failures + 1))
  fi
done < <(sed -nE 's/^KERNEL_FILE\(([a-z0-9_]+), *([a-z0-9_]+), *"([^"]*)", *"([^"]*)", *"[^"]*", *"[^"]*"\)$/\1|\2|\3|\4/p' \
  "$here/manifest.def")
if [ "$rows" -eq 0 ]; then
  echo "no row of manifest.def matches: $*"
  exit 1
fi
echo "$rows kernel files, $failures failures"
[ "$failures" -eq 0 ]
