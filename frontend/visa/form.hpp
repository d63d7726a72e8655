#pragma once
// The syntax of instructions: each opcode's name, and the items of its form (forms.def), which both parser
// and printer follow. It must not know how items are read or printed.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "frontend/visa/kernel.hpp"

namespace eum::visa {

enum class Item : std::uint8_t {
  Predicate,  ///< "(P1) ", optional
  Name,       ///< the opcode's text
  // After the name; items that are not fields of Instruction use one element of Instruction::suffix each.
  Saturate,         ///< ".sat" or nothing
  Condition,        ///< ".eq" ...
  Channels,         ///< ".RGBA": bit 0 R ... bit 3 A
  Number,           ///< ".4"
  BooleanFunction,  ///< ".x96"
  Precision,        ///< ".s8": value of Precision
  AtomicOperation,  ///< ".add": value of AtomicOperation
  AtomicWidth,      ///< ".16", ".64" or nothing: bits, 32 for nothing
  MediaMode,        ///< ".nomod": value of MediaMode
  OutputFormat,     ///< ".16-full": value of OutputFormat
  Alignment,        ///< ".aligned" 1, ".unaligned" or nothing 0
  Modified,         ///< ".mod" 1, nothing 0
  FenceFlags,       ///< ".EISCRL1": set of FenceFlag, by bits
  CallFlags,        ///< ".uniform", ".noreturn": set of CallFlag
  SamplerFlags,     ///< ".pixel_null_mask", ".cps", ".divS": set of SamplerFlag
  TargetFlags,      ///< ".<PS><Z>": set of TargetFlag
  // Numbers and words among the operands; these use suffix elements too.
  ExecSize,    ///< "(M1, 16)": fields of Instruction
  Count,       ///< "(8)"
  Pair,        ///< "(32,1)": two suffixes
  Plane,       ///< "0", optional
  Integer,     ///< "3"
  HexInteger,  ///< "0x3"
  AvsControl,  ///< "AVS_16_FULL": value of AvsControl
  AvsMode,     ///< "AVS_16x8": value of AvsMode
  // Operands, in the order of Kernel::operands.
  Dst,               ///< general or indirect
  DstDirect,         ///< general
  DstOrPredicate,    ///< general, indirect or predicate
  DstOrAddress,      ///< general, indirect or address
  DstAddress,        ///< address
  DstState,          ///< state or general
  Src,               ///< general, indirect or immediate
  SrcDirect,         ///< general or immediate
  SrcLikeDst,        ///< a predicate if the first operand is one, else as Src
  SrcAny,            ///< as Src, or address, address-of, predicate
  SrcState,          ///< state, or as Src
  SrcBase,           ///< general, address or address-of
  SrcOffset,         ///< general, immediate or address-of
  Simple,            ///< general without a region, which is <1;1,0>
  PredicateOperand,  ///< predicate
  Raw,               ///< raw or %null
  Surface,           ///< name of a surface
  SurfaceOrPointer,  ///< the same, or name of a general variable that holds its address
  Sampler,           ///< name of a sampler
  Variable,          ///< name of any variable
  Label,
  Function,
  Text,
  LabelHere,     ///< "NAME:"
  FunctionHere,  ///< ".function "NAME""
  // Several operands.
  LabelList,        ///< "(a, b)"
  RawList,          ///< raw operands up to the end of the line
  TargetList,       ///< general, immediate or raw operands up to the end of the line
  OptionalSrcPair,  ///< two of Src, or none
  SrcTriple,        ///< "(a, b, c)" of Src
  Lsc,              ///< the whole rest of an lsc instruction (lsc_form.hpp)
};

/// A set of operand kinds.
using KindSet = std::uint16_t;
template <class... Kinds>
constexpr KindSet kinds(Kinds... kind) {
  return static_cast<KindSet>((0u | ... | (1u << static_cast<unsigned>(kind))));
}
constexpr bool contains(KindSet set, OperandKind kind) { return (set & kinds(kind)) != 0; }

/// The operand kinds that an item accepts; 0 for items that are not operands. SrcLikeDst: if the first
/// operand is not a predicate.
constexpr KindSet accepted(Item item) {
  using enum OperandKind;
  constexpr KindSet source = kinds(General, Indirect, Immediate, Null);
  switch (item) {
    case Item::Dst:
      return kinds(General, Indirect, Null);
    case Item::DstDirect:
      return kinds(General, Null);
    case Item::DstOrPredicate:
      return kinds(General, Indirect, Null, Predicate);
    case Item::DstOrAddress:
      return kinds(General, Indirect, Null, Address);
    case Item::DstAddress:
      return kinds(Address);
    case Item::DstState:
      return kinds(State, General);
    case Item::Src:
    case Item::SrcLikeDst:
      return source;
    case Item::SrcDirect:
      return kinds(General, Immediate, Null);
    case Item::SrcAny:
      return source | kinds(Address, AddressOf, Predicate);
    case Item::SrcState:
      return source | kinds(State);
    case Item::SrcBase:
      return kinds(General, Address, AddressOf);
    case Item::SrcOffset:
      return kinds(General, Immediate, AddressOf);
    case Item::PredicateOperand:
      return kinds(Predicate);
    case Item::Raw:
      return kinds(Raw, Null);
    default:
      return 0;
  }
}
constexpr bool is_destination(Item item) { return item >= Item::Dst && item <= Item::DstState; }

inline constexpr std::size_t max_items = 18;
class Form {
 public:
  constexpr Form(std::initializer_list<Item> items) {
    for (Item item : items) items_[count_++] = item;
  }
  constexpr std::span<const Item> items() const { return std::span(items_).first(count_); }

 private:
  std::array<Item, max_items> items_{};
  std::size_t count_ = 0;
};

/// One member per row of forms.def.
struct Forms {
  using enum Item;
#define VISA_FORM(name, ...) Form name{__VA_ARGS__};
#include "frontend/visa/forms.def"
#undef VISA_FORM
};
inline constexpr Forms forms{};

struct OpcodeInfo {
  std::string_view text;  ///< of the name
  std::uint8_t number;
  std::int16_t sub;  ///< value of the field that distinguishes rows with the same number; -1: there is none
  const Form* form;
};
inline constexpr OpcodeInfo opcode_table[] = {
#define VISA_OPCODE(name, text, number, sub, form) {text, number, sub, &forms.form},
#include "frontend/visa/opcodes.def"
#undef VISA_OPCODE
};
inline constexpr std::size_t opcode_count = std::size(opcode_table);

constexpr const OpcodeInfo& info(Opcode opcode) { return opcode_table[static_cast<std::size_t>(opcode)]; }

}  // namespace eum::visa
