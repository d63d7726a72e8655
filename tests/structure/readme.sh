#!/usr/bin/env bash
# README.md tells the truth: each block of commands (```sh) runs, in a scratch folder that looks like the project root,
# and prints the lines of the block of text behind it, as do the examples of embedding, which CMake has built. Files and
# folders that tables name are there; the exit codes are those of --help.
# In a block of text "..." stands for anything; in lines with times every number matches every other.
# usage: tests/structure/readme.sh BUILD_DIRECTORY FOLDER_WITH_EXAMPLES      in the project root
set -euo pipefail
build=$(realpath "$1")
examples=$(realpath "$2")

# Commands that are not run here: those that .ci/run runs (it must have the same words), and those that cannot be.
by_ci='
runtime/quickstart.sh
tests/run.sh
cmake --preset fuzz
cmake --build build/fuzz
tests/ctest.sh build/fuzz
'
# command: the file that must be there
elsewhere='
tests/run.sh -R lower: tests/run.sh
tests/fuzz/run.sh 60 decoder: tests/fuzz/decoder.cpp
tests/kernels/compile.sh saxpy: tests/kernels/compile.sh
tests/kernels/compile_visa.sh saxpy: tests/kernels/compile_visa.sh
build/release/perf/perf_translation --benchmark_filter=saxpy: perf/translation.cpp
perf/compare.sh saxpy --samples 3: perf/compare.sh
perf/instructions.sh saxpy: perf/instructions.sh
build/release/perf/perf_compare measure saxpy --samples 3: perf/compare.cpp
build/release/perf/perf_micro barriers: perf/micro.cpp
'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A folder that looks like the project root, with this build as build/release.
root=$work/root
mkdir -p "$root/build"
for entry in *; do [[ $entry == build ]] || ln -s "$PWD/$entry" "$root/$entry"; done
ln -s "$build" "$root/build/release"
listed=$(sed -E '/^$/d; s/: [^ ]*$//' <<<"$by_ci$elsewhere")

# Lines as they are compared.
plain() { sed -E '/ ms|[0-9]s/s/[0-9.]+/N/g; s/[[:space:]]+$//' "$1"; }
# expect TEXT OUTPUT: the lines of file TEXT are lines of file OUTPUT.
expect() {
  local line
  while IFS= read -r line; do
    [[ -z $line || $line == ... ]] || grep -qxF -- "$line" <(plain "$2") || echo "not printed: $line"
  done < <(plain "$1")
}
# following BLOCK: the block behind it.
following() { ls "$(dirname "$1")/$(printf '%02d' $((10#$(basename "${1%.*}") + 1)))".*; }

check_commands() {  # in $1: the blocks
  local command file block run=0
  while IFS= read -r command; do
    grep -qxF -- "$command" "$1"/*.sh || echo "the test knows a command that is not there: $command"
  done <<<"$listed"
  while IFS= read -r command; do
    grep -qE -- "^ *$command( |\$)" .ci/run || echo ".ci/run does not run: $command"
  done < <(sed '/^$/d' <<<"$by_ci")
  while IFS=: read -r command file; do
    [[ -z $command || -f ${file# } ]] || echo "$command: no file$file"
  done <<<"$elsewhere"
  for block in "$1"/*.sh; do
    grep -vxFf <(echo "$listed") "$block" >"$block.commands" || continue
    run=$((run + 1))
    if (cd "$root" && PATH=$build:$PATH bash -euo pipefail "$block.commands") >"$block.out" 2>"$block.err"; then
      expect "$(following "$block")" "$block.out"
    else
      echo "these commands fail: $(cat "$block") $(head -n 20 "$block.err")"
    fi
  done
  [[ $run -ge 4 ]] || echo "$run blocks of commands were run, expected at least 4"
}

check_examples() {
  local language block
  for language in cpp c; do
    block=$(ls "$1"/*."$language")
    (cd "$root" && "$examples/readme_$language") >"$block.out" || echo "the example in $language fails"
    expect "$(following "$block")" "$block.out"
  done
  # The lines for CMake, where the embedder has put the project's folder.
  mkdir "$1/embedder"
  ln -s "$PWD" "$1/embedder/eumulate"
  cp "$1"/*.cpp "$1/embedder/example.cpp"
  {
    echo 'cmake_minimum_required(VERSION 3.25)'
    echo 'project(embedder CXX C)'
    cat "$1"/*.cmake
  } >"$1/embedder/CMakeLists.txt"
  cmake -G Ninja -S "$1/embedder" -B "$1/embedder/build" >"$1/embedder.log" 2>&1 ||
    echo "the lines for CMake fail: $(tail -n 20 "$1/embedder.log")"
}

check_tables() {  # $1: a README
  local path row codes
  while IFS= read -r path; do
    ls -d $path >/dev/null 2>&1 || echo "there is no $path"
  done < <(grep -oE '`(\.ci|frontend|jit|memory|runtime|tests|perf)/[A-Za-z0-9_./*]*`' "$1" | tr -d '`')
  codes=$("$build/eumulate" --help | sed -nE 's/^  ([0-9])  (.*)$/| \1 | \2 |/p')
  [[ $(wc -l <<<"$codes") -eq 8 ]] || echo "expected 8 exit codes in --help, found: $codes"
  while IFS= read -r row; do
    grep -qxF -- "$row" "$1" || echo "exit code of --help that is not in the table: $row"
  done <<<"$codes"
}

# violations README NAME: what is wrong with it, a line or more each.
violations() {
  mkdir "$work/$2"
  awk -v folder="$work/$2" '
    /^```/ && file {close(file); file = ""; next}
    /^```/ {file = sprintf("%s/%02d.%s", folder, ++count, substr($0, 4)); printf "" >file; next}
    file {print >file}' "$1"
  check_commands "$work/$2"
  check_examples "$work/$2"
  check_tables "$1"
}

# Four wrong lines: an output, a command, an exit code, a path.
sed -E 's/^0 2\.5 5/0 2.5 6/; s/^eumulate ir /eumulate ire /; s/^\| 3 \| kernel/| 3 | Kernel/; s/`jit\/passes\/`/`jit\/pass\/`/' \
  README.md >"$work/wrong.md"
found=$(violations "$work/wrong.md" wrong)
[[ $(grep -cE '^(not printed: 0 2.5 6|these commands fail: eumulate|exit code of --help|there is no jit/pass/)' <<<"$found") -eq 4 ]] || {
  echo "this check does not see what it should; of 4 violations planted it found:"
  echo "$found"
  exit 1
}

found=$(violations README.md right)
[[ -z $found ]] || {
  echo "$found"
  exit 1
}
