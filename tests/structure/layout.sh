#!/usr/bin/env bash
# The top level holds what the design names and nothing else; no source file has more than 600 lines.
# usage: tests/structure/layout.sh      in the project root
set -euo pipefail

entries='CMakeLists.txt CMakePresets.json LICENSE README.md frontend jit memory perf runtime tests build'
max_lines=600

# Prints what is wrong below the root $1.
violations() {
  (
    cd "$1"
    for entry in *; do
      [[ " $entries " == *" $entry "* ]] || echo "$entry: not an entry of the top level ($entries)"
    done
    find frontend jit memory perf runtime tests .ci CMakeLists.txt README.md \
      \( -name '*.[ch]pp' -o -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -name '*.py' -o -name '*.md' \
      -o -name CMakeLists.txt -o -path '.ci/*' \) -type f -exec wc -l {} + 2>/dev/null |
      awk -v max=$max_lines '$2 != "total" && $1 > max {print $2 ": " $1 " lines, at most " max " allowed"}'
  )
}

fake=$(mktemp -d)
trap 'rm -rf "$fake"' EXIT
mkdir -p "$fake"/{jit,utils}
seq 601 >"$fake/jit/long.cpp"
seq 600 >"$fake/jit/fits.cpp"
[[ $(violations "$fake" | wc -l) -eq 2 ]] || {
  echo "this check does not see what it should; of 2 violations planted it found:"
  violations "$fake"
  exit 1
}

found=$(violations .)
[[ -z $found ]] || {
  echo "$found"
  exit 1
}
