#!/usr/bin/env bash
# Regenerates the data of this folder: instruction bytes and what iga64 (Debian libigc-tools 1.0.12504) makes of them.
# Usage: make.sh KERNEL_DIR VECTOR_DIR. KERNEL_DIR/{gen8,gen9,gen11}/NAME.dat, those that are there, are instruction heaps:
# the *_KernelHeap.dat of `ocloc disasm -file F -device bdw|bxt|icllp -dump D` (compile.sh makes some of them);
# VECTOR_DIR/{gen7,gen9}/*.expected hold 16 bytes a line in hex, gen7/*.asm their assembly in the syntax of i965 tools.
#   vectors.txt          "32 hex digits, text" for each word of the vectors of Gen9
#   vectors_gen7.txt     "32 hex digits, assembly" for each word of the vectors of Gen7
#   vectors_gen7p5.txt   "32 hex digits, text" for those that iga64 -p 7p5 decodes
#   FAMILY_NAME.dat/.txt a kernel, and its text with labels and comments; runs of blanks are one blank
set -euo pipefail
shopt -s nullglob
kernels=$(realpath "$1") vectors=$(realpath "$2")
cd "$(dirname "$0")"
squeeze() { sed -E 's/[[:space:]]+/ /g; s/^ //; s/ $//'; }

for family in 8 9 11; do
  for file in "$kernels/gen$family"/*.dat; do
    name=gen${family}_$(basename "$file" .dat)
    cp "$file" "$name.dat"
    iga64 -d -p "$family" "$name.dat" --output-on-fail -o /dev/stdout 2>/dev/null | squeeze >"$name.txt"
  done
done

words=$(mktemp)
cat "$vectors"/gen9/*.expected | tr -d ' ' >"$words"
xxd -r -p "$words" >"$words.bin"
iga64 -d -n -p 9 "$words.bin" -o /dev/stdout | squeeze | sed 's, *//.*,,' | paste -d ' ' "$words" - >vectors.txt

./gen7_vectors.py "$vectors/gen7" >vectors_gen7.txt
cut -d ' ' -f 1 vectors_gen7.txt >"$words"
xxd -r -p "$words" >"$words.bin"
iga64 -d -n -p 7p5 "$words.bin" --output-on-fail -o /dev/stdout 2>/dev/null | squeeze | sed 's, *//.*,,' |
  paste -d ' ' "$words" - | grep -v ' illegal$' >vectors_gen7p5.txt
rm "$words" "$words.bin"
