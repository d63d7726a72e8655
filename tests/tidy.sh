#!/usr/bin/env bash
# clang-tidy, by .clang-tidy: names and what its checks find, over the sources that differ from where this branch left
# origin/main (on main itself: from the commit before), and over one that includes each header that differs. --all takes
# every source. Errors are what WarningsAsErrors of .clang-tidy names; the rest is listed. Wants a build directory of
# clang with compile commands (preset fuzz). After SECONDS no further source is begun, and how many were not is said.
# usage: [SECONDS_AT_MOST=n] tests/tidy.sh BUILD_DIRECTORY [--all | FILE...]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift

sources() { find frontend jit memory perf runtime tests -name '*.cpp' | sort; }

# The commit that the sources are compared with; nothing where there is no history.
base() {
  local base head
  head=$(git rev-parse -q --verify HEAD) || return 0
  base=$(git merge-base origin/main HEAD 2>/dev/null) || base=$head
  [[ $base != "$head" ]] || base=$(git rev-parse -q --verify HEAD~1) || return 0
  echo "$base"
}

# Of the files that differ, the sources; for each header one source that includes it, its own if it has one.
changed() {
  local file
  git diff --name-only --diff-filter=d "$1" -- '*.cpp' '*.hpp' '*.def' | while read -r file; do
    case $file in
      *.cpp) echo "$file" ;;
      *)
        if [[ -f ${file%.*}.cpp ]]; then
          echo "${file%.*}.cpp"
        else
          grep -rlF --include='*.cpp' "\"$file\"" frontend jit memory perf runtime tests | sort | head -n 1
        fi
        ;;
    esac
  done | sort -u
}

if [[ ${1:-} == --all ]]; then
  mapfile -t files < <(sources)
elif [[ $# -gt 0 ]]; then
  files=("$@")
else
  from=$(base)
  if [[ -z $from ]]; then
    echo "tidy: no commit to compare with: nothing is checked; tests/tidy.sh $build --all checks everything"
    exit 0
  fi
  mapfile -t files < <(changed "$from")
fi
# What this build compiles.
mapfile -t known < <(sed -nE 's|^ *"file": "'"$PWD"'/(.*)",?$|\1|p' "$build/compile_commands.json" | sort -u)
mapfile -t files < <(comm -12 <(printf '%s\n' "${files[@]}" | sort -u) <(printf '%s\n' "${known[@]}"))
if [[ ${#files[@]} -eq 0 || -z ${files[0]} ]]; then
  echo "tidy: no source differs"
  exit 0
fi

export deadline=$(($(date +%s) + ${SECONDS_AT_MOST:-36000})) build
tidy() {
  if [[ $(date +%s) -ge $deadline ]]; then
    echo "not begun: $1"
  else
    clang-tidy -p "$build" --quiet "$1" 2>/dev/null
  fi
}
export -f tidy
status=0
printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -I FILE bash -c 'tidy FILE' >"$build/tidy.log" || status=$?
# A header's findings once, whoever includes it.
findings() { sed -nE "s|^$PWD/(.*: $1: .*)|\1|p" "$build/tidy.log" | sort -u; }
findings warning
findings error
echo "tidy: ${#files[@]} sources, $(grep -c '^not begun: ' "$build/tidy.log" || true) of them not begun," \
  "$(findings warning | wc -l) warnings, $(findings error | wc -l) errors"
[[ $status -eq 0 ]] || {
  [[ -n $(findings error) ]] || tail -n 20 "$build/tidy.log"
  exit 1
}
