#pragma once
// The data that describes an encoding of instruction words. encodings/NAME.hpp provides it, one file per
// encoding; nothing has a default, so omissions do not compile where the decoder reads them.
#include <array>
#include <cstdint>

#include "frontend/gen/family.hpp"
#include "frontend/gen/instruction.hpp"
#include "frontend/gen/layout.hpp"
#include "frontend/gen/opcode.hpp"
#include "frontend/gen/type.hpp"

namespace eum::gen {

/// Specialised for each row of encodings.def, with these members:
/// - opcode_number: the column of instructions.def that its opcode field holds
/// - fields: a Layout
/// - types: TypeCodes
/// - branches_in_align16: whether branches may be in Align16
/// - branch_unit: bytes per unit of JIP and UIP
/// - jump_unit: bytes per unit of the offset of jmpi, call and calla
/// - math_functions: those that are defined
/// - math_takes_immediates: whether sources of math may be other than directly addressed general registers
/// - thread_ctrls: the defined values of thread control
/// - send_thread_ctrls: those allowed for messages; none if messages have no thread control
/// - send_has_region: whether send has a region of source 0
/// - send_takes_arf: whether the payload of send may be an architecture register
/// - compaction: Compaction
template <Encoding E>
struct EncodingData;

/// Types by code; Type::none marks an undefined code.
class TypeList {
 public:
  /// The types of codes 0, 1, and so on; further codes are undefined.
  template <class... T>
  requires(sizeof...(T) > 0 && sizeof...(T) <= 16) constexpr explicit TypeList(T... type) {
    by_code_.fill(Type::none);
    std::size_t code = 0;
    ((by_code_[code++] = type), ...);
  }
  constexpr Type operator[](std::size_t code) const { return by_code_[code]; }

 private:
  std::array<Type, 16> by_code_{};
};

inline constexpr TypeList no_types{Type::none};

struct TypeCodes {
  TypeList registers;
  TypeList immediates;
  TypeList ternary;        ///< for an instruction with three sources
  TypeList ternary_float;  ///< the same if a bit says that the execution type is a float
};

/// A set of math functions, one bit each.
using MathSet = std::uint16_t;
template <class... F>
constexpr MathSet math_set(F... function) {
  return static_cast<MathSet>((0u | ... | (1u << static_cast<unsigned>(function))));
}
constexpr bool contains(MathSet set, MathFunction function) {
  return set >> static_cast<unsigned>(function) & 1;
}

/// A set of values of the thread control field.
using ThreadCtrlSet = std::uint8_t;
template <class... T>
constexpr ThreadCtrlSet thread_ctrl_set(T... value) {
  return static_cast<ThreadCtrlSet>((0u | ... | (1u << static_cast<unsigned>(value))));
}
constexpr bool contains(ThreadCtrlSet set, ThreadCtrl value) {
  return set >> static_cast<unsigned>(value) & 1;
}

/// A set of formats, as the tables write it.
using FormatSet = std::uint32_t;
template <class... F>
constexpr FormatSet formats(F... format) {
  return (0u | ... | (1u << static_cast<unsigned>(format)));
}

/// How 64-bit words expand. The fields of the compacted word are the same in all encodings (compaction.cpp),
/// as are the tables of controls, sub-registers and sources.
struct Compaction {
  FormatSet formats;  ///< those that have a compacted form
  Bits control;       ///< destination bits of an entry of compaction_tables.hpp
  Bits datatype;
  Bits source0;
  Bits source1;
  const std::array<std::uint32_t, 32>& datatypes;
};

}  // namespace eum::gen
