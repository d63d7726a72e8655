#!/usr/bin/env bash
# Regenerates the vISA text and the argument map of every kernel of manifest.def for bxt and pvc with the vendor's
# offline compiler: visa/STEM.KERNEL.DEVICE.visaasm, visa/STEM.DEVICE.ze_info, and visa/STEM.DEVICE.zebin where the
# program has data, or is of OpenCL C 2.0 and so may have groups of different sizes: of neither does .ze_info know.
# Usage: compile_visa.sh [STEM...]   (no STEM: all). Needs ocloc (Debian intel-opencl-icd) and readelf. Ends with 1 if
# the outcome of any row differs from what the manifest says of it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$here/visa"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

section() {  # file name -> the section's bytes
  local offset size
  read -r offset size < <(readelf -SW "$1" 2>/dev/null |
    awk -v name="$2" '{ for (i = 1; i <= NF; i++) if ($i == name) print "0x" $(i + 3), "0x" $(i + 4) }')
  tail -c +$((offset + 1)) "$1" | head -c $((size))
}

# The compiler tries a kernel with several SIMD sizes and sometimes twice: the newest text with the size that the
# argument map says is the one whose binary it keeps.
text_of() {  # folder kernel simd -> file
  local file
  while read -r file; do
    if grep -q "^\.kernel \"$2\"\$" "$1/$file" && grep -q "^\.kernel_attr SimdSize=$3 *\$" "$1/$file"; then
      echo "$1/$file"
      return
    fi
  done < <(ls -t "$1")
}

compile() {  # stem source options device -> visa/STEM.*
  local stem=$1 source=$2 options=$3 device=$4
  local out=$work/$stem.$device name simd text
  mkdir -p "$out/dump"
  IGC_ShaderDumpEnable=1 IGC_ShaderDumpPidDisable=1 IGC_DumpToCustomDir="$out/dump" ocloc compile \
    -file "$here/src/$source.cl" -device "$device" -out_dir "$out" -output "$stem" -options "$options" --format zebin \
    >"$out.log" 2>&1 || return 1
  find "$out/dump" -type f ! -name '*.visaasm' -delete
  rm -f "$here/visa/$stem".*".$device.visaasm" "$here/visa/$stem.$device."*
  section "$out/${stem}"_*.bin .ze_info >"$here/visa/$stem.$device.ze_info"
  if [[ $options == *-cl-std=CL2* ]] || readelf -SW "$out/${stem}"_*.bin 2>/dev/null | grep -q ' \.data\.'; then
    cp "$out/${stem}"_*.bin "$here/visa/$stem.$device.zebin"
  fi
  while read -r name simd; do
    if [ "$name" = Intel_Symbol_Table_Void_Program ]; then continue; fi
    text=$(text_of "$out/dump" "$name" "$simd")
    if [ -z "$text" ]; then
      echo "$stem: $device: no text of kernel $name with SIMD size $simd"
      return 1
    fi
    cp "$text" "$here/visa/$stem.$name.$device.visaasm"
  done < <(awk '/^kernels_misc_info/ { exit } /^  - name:/ { name = $3 } /^      simd_size:/ { print name, $2 }' \
    "$here/visa/$stem.$device.ze_info")
}

failures=0
rows=0
while IFS='|' read -r stem source options pvc; do
  if [ $# -gt 0 ] && [[ " $* " != *" $stem "* ]]; then continue; fi
  rows=$((rows + 1))
  if ! compile "$stem" "$source" "$options" bxt; then
    echo "$stem: bxt: does not compile:"
    cat "$work/$stem.bxt.log"
    failures=$((failures + 1))
  fi
  if [[ $pvc == *"are dropped" ]]; then continue; fi # it compiles to something else
  if compile "$stem" "$source" "$options" pvc; then
    if [ -n "$pvc" ]; then
      echo "$stem: pvc: compiles, but the manifest says: $pvc"
      failures=$((failures + 1))
    fi
  elif [ -z "$pvc" ]; then
    echo "$stem: pvc: does not compile:"
    cat "$work/$stem.pvc.log"
    failures=$((failures + 1))
  fi
done < <(sed -nE 's/^KERNEL_FILE\(([a-z0-9_]+), *([a-z0-9_]+), *"([^"]*)", *"[^"]*", *"([^"]*)", *"[^"]*"\)$/\1|\2|\3|\4/p' \
  "$here/manifest.def")
if [ "$rows" -eq 0 ]; then
  echo "no row of manifest.def matches: $*"
  exit 1
fi
echo "$rows kernel files, $failures failures"
[ "$failures" -eq 0 ]
