#!/usr/bin/env bash
# The tables keep their promises: a row without its implementation does not build, and the compiler names it; a row of
# instructions.def that maps onto a micro-op needs nothing else, nor does a row of families.def with an encoding that is
# there. Each check compiles sources of the project with a copy of a table that has one row more, or one less.
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
# one_less NAME TABLE PATTERN: the folder whose copy of TABLE lacks the lines that match PATTERN, of which there is one.
one_less() {
  mkdir -p "$work/$1/$(dirname "$2")"
  if [[ $(grep -cE "$3" "$2") -ne 1 ]]; then
    echo "$1: expected one line that matches $3 in $2"
    failed=1
  fi
  grep -vE "$3" "$2" >"$work/$1/$2"
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

one_more pass jit/optimisations.def 'PASS(row_under_test, Optional, "")'
refused pass 'row_under_test.*not declared|undeclared identifier .row_under_test' -fsyntax-only jit/passes/pipeline.cpp

one_more format memory/image/formats.def 'FORMAT(R8Q8_UNORM, 0x1f0, sampled)'
refused format 'a letter that no channel has' -fsyntax-only memory/image/format.cpp

one_more format_code memory/image/formats.def 'FORMAT(R8_UNORM, 0x141, sampled)'
refused format_code 'two formats have one code' -fsyntax-only memory/image/format.cpp

row='every, Binary, Int, IntOrVec, Pred|CMod|SrcMod|Logic, lower_logic, xor_, next)'
one_more opcode frontend/gen/instructions.def "GEN_OP(row_under_test, \"row_under_test\", 0x06, $row"
refused opcode 'two instructions claim one opcode' -fsyntax-only frontend/gen/decoder.cpp

one_more handler frontend/gen/instructions.def \
  'GEN_OP(row_under_test, "row_under_test", 0x7d, every, Binary, Int, IntOrVec, Pred, lower_row_under_test, none, next)'
refused handler 'lower_row_under_test.*not declared|undeclared identifier .lower_row_under_test' \
  -fsyntax-only frontend/gen/lower/translate.cpp

# At the end of the table, so that the other files of the archive, which know the table without it, stay right.
one_more instruction frontend/gen/instructions.def "GEN_OP(row_under_test, \"row_under_test\", 0x7d, $row"
if ! build instruction -o "$work/one_more_row" tests/structure/one_more_row.cpp frontend/gen/decoder.cpp \
  frontend/gen/printer.cpp frontend/gen/lower/translate.cpp frontend/gen/lower/lower.cpp "${archives[@]:1}" -lfmt -ldl || ! "$work/one_more_row"; then
  echo "instruction: one more row did not work"
  head -n 30 "$work/instruction.log"
  failed=1
fi

# Families and encodings: nothing but a row for a family; for an encoding all of its data.
encodings=(-fsyntax-only -x c++ frontend/gen/encoding.hpp)
one_more family_encoding frontend/gen/families.def \
  'GEN_FAMILY(RowUnderTest, "Gen99", "99", no_such_encoding, 32, 128, 2, 16, 9, 0)'
refused family_encoding no_such_encoding "${encodings[@]}"

one_more encoding frontend/gen/encodings.def 'GEN_ENCODING(row_under_test)'
refused encoding 'EncodingData<.*row_under_test' "${encodings[@]}"

# An encoding that has none of its members: each is asked for.
members='opcode_number fields types branches_in_align16 branch_unit jump_unit math_functions math_takes_immediates
  thread_ctrls send_thread_ctrls send_has_region send_takes_arf compaction'
members=$(echo $members)
mkdir -p "$work/members/frontend/gen/encodings"
sed -E "s/^(  static constexpr .*)\\<(${members// /|})( =.*)$/\\1other_\\2\\3/" frontend/gen/encodings/gen11.hpp \
  >"$work/members/frontend/gen/encodings/gen11.hpp"
if build members "${encodings[@]}"; then
  echo "members: it built"
  failed=1
fi
for member in $members; do
  grep -qE "\<other_$member\>" "$work/members/frontend/gen/encodings/gen11.hpp" || {
    echo "members: gen11.hpp has no $member"
    failed=1
  }
  grep -qE "\<$member\>.*not a member|no member named '$member'" "$work/members.log" || {
    echo "members: expected a message that $member is missing, found:"
    head -n 30 "$work/members.log"
    failed=1
  }
done
one_less field frontend/gen/encodings/gen9.hpp '\{s_src1_reg,'
refused field 'a part of the encoding lacks a field' "${encodings[@]}"

one_more family frontend/gen/families.def 'GEN_FAMILY(RowUnderTest, "Gen99", "99", gen9, 32, 128, 2, 16, 9, 0)'
if ! build family -o "$work/one_more_family" tests/structure/one_more_family.cpp frontend/gen/decoder.cpp \
  frontend/gen/printer.cpp "${archives[@]:1}" -lfmt -ldl || ! "$work/one_more_family"; then
  echo "family: one more row did not work"
  head -n 30 "$work/family.log"
  failed=1
fi
exit $failed
