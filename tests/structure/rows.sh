#!/usr/bin/env bash
# The tables keep their promises: a row that lacks its other half does not build, and the compiler names it; a row of
# instructions.def that maps onto a micro-op needs nothing else. Each check compiles sources of the project with a copy
# of a table that has one more row.
# usage: tests/structure/rows.sh COMPILER FOLDER_WITH_ARCHIVES      in the project root
set -euo pipefail
compiler=$1
archives=("$2"/libeumulate_{jit,frontend,memory}.a)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# one_more NAME TABLE ROW: the folder whose copy of TABLE has the row.
one_more() {
  mkdir -p "$work/$1/$(dirname "$2")"
  { cat "$2" && echo "$3"; } >"$work/$1/$2"
}
# build NAME ARGUMENT...: compiles with the tables of folder NAME before those of the project.
build() {
  local name=$1
  shift
  "$compiler" -std=c++20 -O0 -fPIC -fno-strict-aliasing -frounding-math -I "$work/$name" -I . "$@" >"$work/$name.log" 2>&1
}
# refused NAME CAUSE ARGUMENT...: the build with these arguments must fail, and say CAUSE.
refused() {
  local name=$1 cause=$2
  shift 2
  if build "$name" "$@"; then
    echo "$name: it built"
    failed=1
  elif ! grep -qE "$cause" "$work/$name.log"; then
    echo "$name: expected a message with $cause, found:"
    head -n 30 "$work/$name.log"
    failed=1
  fi
}

op='row_under_test, Lanewise2, Pure, Never, Int, '
one_more semantics frontend/ir/ops.def "IR_OP($op Table, \"\")"
refused semantics 'Semantics<.*row_under_test' -fsyntax-only frontend/ir/semantics/lane_function.cpp

one_more evaluation frontend/ir/ops.def 'IR_OP(row_under_test, Effect1, Effect, Never, Int, Native, "")'
refused evaluation 'deleted function.*row_under_test' -fsyntax-only jit/reference/interpreter.cpp

one_more emitter frontend/ir/ops.def "IR_OP($op Native, \"\")"
refused emitter 'undefined reference to .*emit_row_under_test' -shared -Wl,-z,defs -o "$work/emitter.so" \
  jit/avx2/emit/table.cpp "${archives[@]}" -lasmjit -lfmt -ldl
if grep 'undefined reference' "$work/emitter.log" | grep -v emit_row_under_test; then
  echo "emitter: other references were undefined too"
  failed=1
fi

one_more attribute frontend/ir/attributes.def 'IR_ATTRIBUTE(RowUnderTest, Last, "")'
refused attribute 'print_RowUnderTest' -fsyntax-only frontend/ir/attribute.cpp

one_more engine jit/engines.def 'JIT_ENGINE(row_under_test, "row_under_test", "")'
refused engine 'make_row_under_test_engine' -fsyntax-only jit/engine.cpp

row='Gen8, Binary, Int, IntOrVec, Pred|CMod|SrcMod|Logic, lower_bitwise<ir::Op::xor_>)'
one_more opcode frontend/gen/instructions.def "GEN_OP(row_under_test, \"row_under_test\", 0x06, $row"
refused opcode 'two instructions claim one opcode' -fsyntax-only frontend/gen/decoder.cpp

one_more handler frontend/gen/instructions.def \
  'GEN_OP(row_under_test, "row_under_test", 0x7d, Gen8, Binary, Int, IntOrVec, Pred, lower_row_under_test)'
refused handler 'lower_row_under_test.*not declared|undeclared identifier .lower_row_under_test' \
  -fsyntax-only frontend/gen/lower/lower.cpp

# At the end of the table, so that the other files of the archive, which know the table without it, stay right.
one_more instruction frontend/gen/instructions.def "GEN_OP(row_under_test, \"row_under_test\", 0x7d, $row"
if ! build instruction -o "$work/one_more_row" tests/structure/one_more_row.cpp frontend/gen/decoder.cpp \
  frontend/gen/printer.cpp frontend/gen/lower/lower.cpp "${archives[@]:1}" -lfmt -ldl || ! "$work/one_more_row"; then
  echo "instruction: one more row did not work"
  head -n 30 "$work/instruction.log"
  failed=1
fi
exit $failed
