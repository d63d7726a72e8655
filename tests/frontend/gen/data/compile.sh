#!/usr/bin/env bash
# Compiles sources of tests/kernels for families that are not in its corpus, and puts each kernel's instruction words into
# FOLDER/gen8/NAME.dat (Broadwell) or FOLDER/gen11/NAME.dat (Ice Lake); make.sh takes them from there.
# usage: compile.sh FOLDER      needs ocloc (Debian intel-opencl-icd)
set -euo pipefail
folder=$(realpath "$1")
sources=$(cd "$(dirname "$0")/../../../kernels/src" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# words DEVICE CORE FAMILY SOURCE KERNEL
words() {
  ocloc compile -file "$sources/$4.cl" -device "$1" -out_dir "$work/o" -output "$4" >"$work/log"
  ocloc disasm -file "$work/o/$4_$2.bin" -device "$1" -dump "$work/d" >>"$work/log"
  mkdir -p "$folder/gen$3"
  mv "$work/d/$5_KernelHeap.dat" "$folder/gen$3/$5.dat"
  rm -rf "$work/d"
}
for pair in atomics:atomics_local bits32:bits32 collatz:collatz half_math:half_math saxpy:saxpy sgemm:sgemm \
  shading:shading subroutine:subroutine; do
  words icllp Gen11lp 11 "${pair%:*}" "${pair#*:}"
done
for pair in collatz:collatz shading:shading subroutine:subroutine; do
  words bdw Gen8core 8 "${pair%:*}" "${pair#*:}"
done
