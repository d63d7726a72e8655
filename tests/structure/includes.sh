#!/usr/bin/env bash
# Includes point one way, memory <- frontend <- jit <- runtime. Inside frontend ir <- eu <- {gen, visa}, ir <- x86: the EU
# knows no encoding, and no front end another. Inside jit analysis <- passes <- codegen <- engines: the first three know no
# host, no engine knows another, and none of it a guest. Includes in quotes are paths from the project root.
# usage: tests/structure/includes.sh      in the project root
set -euo pipefail

# folder: what its files may include
rules='
memory        memory
frontend/ir   frontend/ir memory
frontend/eu   frontend/eu frontend/ir memory
frontend/gen  frontend/gen frontend/eu frontend/ir memory
frontend/visa frontend/visa frontend/eu frontend/ir memory
frontend/x86  frontend/x86 frontend/ir memory
jit           jit frontend memory
jit/analysis  jit/analysis jit/engine.hpp frontend/ir memory
jit/passes    jit/passes jit/analysis jit/engine.hpp jit/optimisations.def frontend/ir memory
jit/codegen   jit/codegen jit/passes jit/analysis jit/engine.hpp frontend/ir memory
jit/reference jit/reference jit/passes jit/engine.hpp jit/access.hpp jit/image_access.hpp jit/fpmode.hpp frontend/ir memory
jit/avx2      jit/avx2 jit/codegen jit/passes jit/analysis jit/engine.hpp jit/access.hpp jit/image_access.hpp jit/fpmode.hpp jit/code_memory.hpp frontend/ir memory
runtime       runtime jit frontend memory
'

# Prints each include below the root $1 that no rule allows.
violations() {
  (cd "$1" && grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' memory frontend jit runtime \
    --include='*.[ch]pp' --include='*.h' --include='*.def' || true) |
    awk -v rules="$rules" '
      BEGIN {
        count = split(rules, line, "\n")
        for (i = 1; i <= count; ++i)
          if (split(line[i], word, " ") > 1)
            for (j = 2; j in word; ++j) allowed[word[1]] = allowed[word[1]] " " word[j]
      }
      {
        file = $0; sub(/:.*/, "", file)
        target = $0; sub(/^[^"]*"/, "", target); sub(/".*/, "", target)
        folder = ""
        for (name in allowed) if (index(file, name "/") == 1 && length(name) > length(folder)) folder = name
        ok = folder == "" ? 0 : target ~ /^eumulate\//
        split(allowed[folder], word, " ")
        for (j in word) if (target == word[j] || index(target, word[j] "/") == 1) ok = 1
        if (!ok) print file " includes \"" target "\""
      }'
}

fake=$(mktemp -d)
trap 'rm -rf "$fake"' EXIT
mkdir -p "$fake"/{memory,frontend/ir,frontend/eu,frontend/gen,jit,runtime}
echo '#include "frontend/ir/ops.hpp"' >"$fake/memory/up.hpp"
echo ' # include "frontend/gen/decoder.hpp"' >"$fake/frontend/ir/sideways.cpp"
echo '#include "frontend/gen/instruction.hpp"' >"$fake/frontend/eu/encoding.cpp"
echo '#include "operand.hpp"' >"$fake/frontend/gen/relative.cpp"
echo '#include "tests/main.hpp"' >"$fake/runtime/tests.cpp"
echo '#include "memory/base/result.hpp"' >"$fake/jit/allowed.cpp"
[[ $(violations "$fake" | wc -l) -eq 5 ]] || {
  echo "this check does not see what it should; of 5 violations planted it found:"
  violations "$fake"
  exit 1
}

found=$(violations .)
[[ -z $found ]] || {
  echo "$found"
  exit 1
}
