#pragma once
// The data of every encoding, checked. To add an encoding, add a row to encodings.def, its file in
// encodings/, and the line that includes it here.
#include "frontend/gen/encodings/gen11.hpp"
#include "frontend/gen/encodings/gen7.hpp"
#include "frontend/gen/encodings/gen7_5.hpp"
#include "frontend/gen/encodings/gen8.hpp"
#include "frontend/gen/encodings/gen9.hpp"

namespace eum::gen {

/// Asserts everything that an encoding must have, so that the error names the file that lacks it.
template <Encoding E>
constexpr bool is_sound() {
  using Data = EncodingData<E>;
  constexpr const Layout& fields = Data::fields;
  static_assert(layout_check::well_formed(fields),
                "bits of a field are no range within one half of the word");
  static_assert(layout_check::whole_parts(fields), "a part of the encoding lacks a field");
  static_assert(layout_check::disjoint(fields), "two fields of one instruction overlap");
  static_assert(layout_check::covered(fields), "no shape of layout.hpp has a part of the encoding");
  static_assert(Data::opcode_number != nullptr);
  static_assert(Data::types.registers[0] == Type::ud && Data::types.immediates[0] == Type::ud);
  static_assert(Data::compaction.formats != 0);
  static_assert(Data::send_has_region != fields.has(Part::ExFuncCtrl),
                "send has either a region of source 0 or an extended function control");
  static_assert((Data::compaction.formats & formats(Format::Ternary)) == 0 || fields.has(Part::Ternary16),
                "compacted instructions with three sources are Align16 ones");
  static_assert(!Data::branches_in_align16 || fields.has(Part::AccessMode));
  static_assert(Data::branch_unit > 0 && Data::jump_unit > 0);
  static_assert(Data::math_functions != 0);
  static_cast<void>(Data::math_takes_immediates);
  static_assert(contains(Data::thread_ctrls, ThreadCtrl::None));
  static_cast<void>(Data::send_thread_ctrls);
  static_cast<void>(Data::send_takes_arf);
  return true;
}
#define GEN_ENCODING(name) static_assert(is_sound<Encoding::name>());
#include "frontend/gen/encodings.def"
#undef GEN_ENCODING

}  // namespace eum::gen
