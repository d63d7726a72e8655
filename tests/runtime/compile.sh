#!/usr/bin/env bash
# Regenerates bin/ from src/ with the vendor's offline compiler (Debian intel-opencl-icd: ocloc).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$here/bin"

compile() {  # name source device core options...
  local name=$1 source=$2 device=$3 core=$4
  shift 4
  ocloc compile -file "$here/src/$source.cl" -device "$device" -out_dir "$work/$name" -output k "$@" >"$work/log" ||
    { cat "$work/log"; exit 1; }
  mv "$work/$name/k_$core.bin" "$here/bin/$name.bin"
}

for source in arguments image_queries layouts printing faults; do
  compile $source.patch $source bxt Gen9lp -options "-cl-std=CL2.0"
  compile $source.zebin $source bxt Gen9lp -options "-cl-std=CL2.0" --format zebin
done
compile external.patch external bxt Gen9lp -internal_options -library-compilation
compile external.zebin external bxt Gen9lp -internal_options -library-compilation --format zebin
# The line table has the name of the source as it is given, beside it the folder: one that is nobody's.
lines=/tmp/eumulate_lines
mkdir -p "$lines" && cp "$here/src/lines.cl" "$lines"
(cd "$lines" && ocloc compile -file lines.cl -device bxt -out_dir "$work/lines" -output k -options "-g" --format zebin \
  >"$work/log")
rm -r "$lines"
mv "$work/lines/k_Gen9lp.bin" "$here/bin/lines.zebin.bin"
# Pointers are used as addresses, not through surfaces.
for container in patch zebin; do
  compile read_ahead.$container read_ahead bxt Gen9lp -options "-cl-intel-greater-than-4GB-buffer-required" \
    $([[ $container == patch ]] || echo --format zebin)
done
for pair in bdw:Gen8core skl:Gen9core icllp:Gen11lp pvc:XE_HPC_COREpvc; do
  compile ${pair%:*}.patch plain ${pair%:*} ${pair#*:}
  compile ${pair%:*}.zebin plain ${pair%:*} ${pair#*:} --format zebin
done
