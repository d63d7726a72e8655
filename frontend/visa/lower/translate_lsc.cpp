// Translates lsc instructions to messages, rule by rule.
#include "frontend/visa/lower/translate_lsc.hpp"

#include <algorithm>
#include <bit>

#include "frontend/visa/lower/lsc_rules.hpp"
#include "frontend/visa/lsc_form.hpp"
#include "frontend/visa/variable.hpp"

namespace eum::visa {
namespace {

// Binding table indices that denote other memory (Broadwell PRM volume 7, "Stateless Model"): 253 and 255 all
// of it.
constexpr std::uint64_t first_special_index = 253, slm_index = 254;
constexpr std::uint32_t state_bytes = 64;  ///< size of the state of a surface

template <class Enum>
std::string_view name(std::span<const std::string_view> names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() && !names[index].empty() ? names[index] : "none";
}

constexpr ir::Type address_type(LscAddressSize size) {
  return size == LscAddressSize::a16   ? ir::Type::u16
         : size == LscAddressSize::a32 ? ir::Type::u32
                                       : ir::Type::u64;
}

class Translator {
 public:
  Translator(const Kernel& kernel, const Instruction& inst, const Layout& layout, eu::LscMessage& out)
      : kernel_(kernel),
        inst_(inst),
        layout_(layout),
        lsc_(kernel.lsc[inst.lsc]),
        operands_(kernel.operands_of(inst)),
        shape_(info(lsc_.op).shape),
        rule_(rule(lsc_.op)),
        typed_(is_typed(lsc_.unit)),
        out_(out) {}

  Result<void> run();

 private:
  const Operand& at(LscOperand place) const { return operands_[static_cast<std::size_t>(place)]; }
  static LscOperand address(unsigned k) {
    return static_cast<LscOperand>(static_cast<unsigned>(LscOperand::Address0) + k);
  }
  static bool is_given(const Operand& op) { return op.present() && op.kind != OperandKind::Null; }

  Result<void> operation();
  Result<void> caching() const;
  Result<void> model();
  Result<void> surface();
  Result<void> data();
  Result<void> vector() const;
  Result<void> block2d();
  Result<void> typed_block();
  Result<void> addresses();
  Result<void> data_operands();
  /// Converts a raw operand of `bytes`, which its variable must have.
  Result<void> raw(LscOperand place, ir::Type type, unsigned bytes, std::string_view what,
                   eu::Operand& to) const;
  std::uint32_t room(const Operand& op, const eu::Operand& place) const;
  Result<void> null(LscOperand place, std::string_view what) const;
  bool names_scratch() const;
  /// Bytes of the data of one channel, all elements.
  unsigned data_bytes() const;

  const Kernel& kernel_;
  const Instruction& inst_;
  const Layout& layout_;
  const Lsc& lsc_;
  std::span<const Operand> operands_;
  LscShape shape_;
  const LscOpRule& rule_;
  bool typed_;
  eu::LscMessage& out_;
};

Result<void> Translator::operation() {
  const auto& operation = typed_ ? rule_.typed : rule_.untyped;
  if (!operation)
    return error("lsc_{} of {} is not modelled", info(lsc_.op).text, name(lsc_unit_names, lsc_.unit));
  out_.operation = *operation;
  out_.atomic = rule_.atomic;
  return {};
}

Result<void> Translator::caching() const {
  if (lsc_.unit == LscUnit::slm) {
    if (lsc_.l1 == LscCaching::df && lsc_.l3 == LscCaching::df) return {};
    return error("expected default caching of shared local memory, found .{}.{}",
                 name(lsc_caching_names, lsc_.l1), name(lsc_caching_names, lsc_.l3));
  }
  if (allows(rule_.kind, lsc_.l1, lsc_.l3)) return {};
  constexpr std::string_view kinds[] = {"loads", "stores", "atomics", "it"};
  return error("expected caching that {} have, found .{}.{}", name(kinds, rule_.kind),
               name(lsc_caching_names, lsc_.l1), name(lsc_caching_names, lsc_.l3));
}

/// Whether the surface is the kernel's scratch space, whose state r0 points to. Compilers compute the surface
/// from r0 in a variable right before each access: the closest instruction that mentions the variable
/// decides.
bool Translator::names_scratch() const {
  constexpr std::uint32_t pointer_dword = 5, pointer_shift = 4;
  constexpr std::size_t farthest = 64;
  const Operand& surface = at(LscOperand::Surface);
  if (surface.kind != OperandKind::General || surface.row != 0 || surface.column != 0) return false;
  const VariableId root = kernel_.place(surface.variable).root;
  const auto mentions = [&](const Operand& op) {
    const bool variable = op.kind == OperandKind::General || op.kind == OperandKind::Raw ||
                          op.kind == OperandKind::Indirect || op.kind == OperandKind::AddressOf;
    return variable && kernel_.place(op.variable).root == root;
  };
  const auto index = static_cast<std::size_t>(&inst_ - kernel_.instructions.data());
  for (std::size_t i = index; i > 0 && index - i < farthest;) {
    const Instruction* inst = &kernel_.instructions[--i];
    if (inst->opcode == Opcode::label || inst->opcode == Opcode::subroutine) return false;
    const std::span<const Operand> operands = kernel_.operands_of(*inst);
    if (std::ranges::none_of(operands, mentions)) continue;
    if (inst->opcode == Opcode::lsc) {
      // The variable may also be the surface of another access.
      const auto others = operands.subspan(1);
      if (std::ranges::none_of(others, mentions)) continue;
      return false;
    }
    if (inst->opcode != Opcode::shr || operands.size() != 3) return false;
    const Operand &from = operands[1], &by = operands[2];
    return inst->no_mask && inst->exec_size == 1 && inst->predicate.variable == no_variable &&
           operands[0].kind == OperandKind::General && operands[0].variable == surface.variable &&
           operands[0].row == 0 && operands[0].column == 0 && from.kind == OperandKind::General &&
           kernel_.place(from.variable).root == id(PredefinedVariable::r0) &&
           kernel_.place(from.variable).offset + from.row * layout_.grf_bytes() +
                   from.column * info(kernel_.variables[from.variable].type).bytes ==
               pointer_dword * 4 &&
           by.kind == OperandKind::Immediate && by.immediate == pointer_shift;
  }
  return false;
}

Result<void> Translator::surface() {
  const Operand& op = at(LscOperand::Surface);
  switch (lsc_.model) {
    case LscAddressModel::flat:
      if (op.present() && !(op.kind == OperandKind::Immediate && op.immediate == 0) &&
          op.kind != OperandKind::Null)
        out_.surface = layout_.operand(kernel_, op);
      return {};
    case LscAddressModel::arg:
      out_.indirect_data = true;
      return {};
    case LscAddressModel::bti:
      out_.space = ir::MemSpace::Surface;
      if (lsc_.surface_index != 0)
        return error("expected no index beside that in the binding table, found {}", lsc_.surface_index);
      if (op.kind != OperandKind::Immediate) break;
      if (op.immediate >= mem::binding_table_size)
        return error("expected an index in the binding table below {}, found {}", mem::binding_table_size,
                     op.immediate);
      if (op.immediate < first_special_index) {
        out_.surface_index = static_cast<std::uint8_t>(op.immediate);
        return {};
      }
      if (typed_ || shape_ == LscShape::AppendCounter)
        return error("expected the index of a surface, found {}", op.immediate);
      out_.space = op.immediate == slm_index ? ir::MemSpace::Slm : ir::MemSpace::A32;
      return {};
    case LscAddressModel::bss:
      out_.space = ir::MemSpace::Bindless;
      break;
    case LscAddressModel::ss:
      if (lsc_.surface_index == 0 && !typed_ && shape_ != LscShape::AppendCounter && names_scratch()) {
        out_.space = ir::MemSpace::Scratch;
        return {};
      }
      out_.space = ir::MemSpace::States;
      break;
    default:
      break;
  }
  if (!is_given(op)) return error("expected a surface, found none");
  out_.surface = layout_.operand(kernel_, op);
  out_.state_distance = lsc_.surface_index * state_bytes;
  return {};
}

Result<void> Translator::model() {
  const auto sizes = address_sizes(lsc_.unit, lsc_.model);
  if (sizes.empty())
    return error("expected an address model of {}, found {}", name(lsc_unit_names, lsc_.unit),
                 name(lsc_model_names, lsc_.model));
  const bool addressed = shape_ != LscShape::AppendCounter && !is_block2d(shape_);
  if (addressed) {
    if (std::ranges::find(sizes, lsc_.address_size) == sizes.end())
      return error("expected addresses of {} or {} for {} of {}, found {}",
                   name(lsc_address_size_names, sizes[0]), name(lsc_address_size_names, sizes[1]),
                   name(lsc_model_names, lsc_.model), name(lsc_unit_names, lsc_.unit),
                   name(lsc_address_size_names, lsc_.address_size));
    out_.address = address_type(lsc_.address_size);
  }
  if (shape_ == LscShape::AppendCounter &&
      (lsc_.model == LscAddressModel::flat || lsc_.model == LscAddressModel::arg))
    return error("expected a surface with an append counter, found {}", name(lsc_model_names, lsc_.model));
  if (is_block2d(shape_) && !typed_ && (lsc_.model != LscAddressModel::flat || lsc_.unit == LscUnit::slm))
    return error("expected flat addresses of global memory for block2d, found {} of {}",
                 name(lsc_model_names, lsc_.model), name(lsc_unit_names, lsc_.unit));
  out_.space = lsc_.unit == LscUnit::slm       ? ir::MemSpace::Slm
               : out_.address == ir::Type::u64 ? ir::MemSpace::A64
                                               : ir::MemSpace::A32;
  out_.scale = lsc_.scale;
  out_.offset = {lsc_.offset, lsc_.offset_y, lsc_.offset_z};
  return surface();
}

Result<void> Translator::vector() const {
  const bool quad = is_quad(shape_);
  const std::string_view size = name(lsc_data_size_names, lsc_.data_size);
  if (quad) {
    if (lsc_.channel_mask == 0 || lsc_.channel_mask > 15)
      return error("expected channels out of xyzw, found mask {:#x}", lsc_.channel_mask);
    if (lsc_.elements != 1 || lsc_.transposed) return error("expected a channel mask, found a vector");
    return {};
  }
  if (lsc_.channel_mask != 0)
    return error("expected no channel mask but of quads, found {:#x}", lsc_.channel_mask);
  if (lsc_.elements == 0 || lsc_.elements > 64 ||
      (lsc_.elements > 4 && !std::has_single_bit(unsigned{lsc_.elements})))
    return error("expected 1, 2, 3, 4, 8, 16, 32 or 64 elements, found {}", lsc_.elements);
  const LscDataRule& data = rule(lsc_.data_size);
  if (rule_.kind == LscKind::Atomic) {
    if (lsc_.transposed) return error("expected atomics that are not transposed, found {}t", size);
    if (lsc_.elements != 1)
      return error("expected one element of an atomic, found {}x{}", size, lsc_.elements);
    if (!data.atomics || (shape_ == LscShape::AppendCounter && lsc_.data_size != LscDataSize::d32))
      return error("expected {} of an atomic, found {}",
                   shape_ == LscShape::AppendCounter ? "d32" : "d16u32, d32 or d64", size);
    return {};
  }
  if (lsc_.elements != 1 && !data.vectors)
    return error("expected vectors of d32 or d64, found {}x{}", size, lsc_.elements);
  if (lsc_.transposed) {
    if (!data.vectors) return error("expected transposed data of d32 or d64, found {}t", size);
    if (inst_.exec_size != 1)
      return error("expected one channel where data is transposed, found {}", inst_.exec_size);
  } else if (lsc_.elements > most_vector) {
    return error("expected at most {} elements that are not transposed, found {}x{}", most_vector, size,
                 lsc_.elements);
  }
  if (lsc_.transposed && lsc_.op == LscOp::load_status)
    return error("expected a status that is not transposed, found {}t", size);
  return {};
}

Result<void> Translator::data() {
  if (is_block2d(shape_) && typed_) return typed_block();
  if (lsc_.data_size == LscDataSize::invalid) return error("expected a data size, found none");
  const LscDataRule& data = rule(lsc_.data_size);
  out_.memory = data.memory;
  out_.unit = data.unit;
  out_.high_half = data.high_half;
  out_.transposed = lsc_.transposed;
  if (is_block2d(shape_)) return block2d();
  if (const Result<void> checked = vector(); !checked) return checked;
  if (typed_ && lsc_.data_size != LscDataSize::d32)
    return error("expected d32 of a typed message, found {}", name(lsc_data_size_names, lsc_.data_size));
  out_.components = is_quad(shape_)       ? lsc_.channel_mask
                    : lsc_.elements == 64 ? ~std::uint64_t{0}
                                          : (std::uint64_t{1} << lsc_.elements) - 1;
  return {};
}

Result<void> Translator::block2d() {
  const LscDataRule& data = rule(lsc_.data_size);
  const bool store = shape_ == LscShape::StoreBlock2d;
  const std::string_view size = name(lsc_data_size_names, lsc_.data_size);
  const unsigned bytes = ir::size_of(data.memory);
  if (data.most_blocks == 0) return error("expected blocks of d8, d16, d32 or d64, found {}", size);
  if (inst_.exec_size != 1) return error("expected one channel of a block, found {}", inst_.exec_size);
  if (lsc_.blocks == 0 || lsc_.width == 0 || lsc_.height == 0)
    return error("expected blocks of at least one element, found {}x{}x{}", lsc_.blocks, lsc_.width,
                 lsc_.height);
  const bool alone = store || (lsc_.transposed && !lsc_.vnni);
  const unsigned most = alone ? 1 : data.most_blocks;
  if (lsc_.blocks > most || !std::has_single_bit(unsigned{lsc_.blocks}))
    return error("expected {} of {}, found {}",
                 most == 1   ? "one block"
                 : most == 2 ? "1 or 2 blocks"
                             : "1, 2 or 4 blocks",
                 size, lsc_.blocks);
  const unsigned row = lsc_.blocks * lsc_.width * bytes,
                 widest = store ? block2d_store_row_bytes : block2d_load_row_bytes;
  if (row > widest) return error("expected rows of at most {} bytes, found {}", widest, row);
  if (lsc_.height > block2d_rows)
    return error("expected at most {} rows, found {}", block2d_rows, lsc_.height);
  if (lsc_.transposed && lsc_.width > data.most_transposed_width)
    return error("expected transposed blocks of {} at most {} elements wide, found {}", size,
                 data.most_transposed_width, lsc_.width);
  if (lsc_.vnni) {
    if (store) return error("expected a store without VNNI transform");
    if (bytes > 4) return error("expected a VNNI transform of d8, d16 or d32, found {}", size);
    const unsigned together = 4 / bytes, found = lsc_.transposed ? lsc_.width : lsc_.height;
    if (found % together != 0)
      return error("expected a {} that is a multiple of {} for the VNNI transform of {}, found {}",
                   lsc_.transposed ? "width" : "height", together, size, found);
  }
  out_.blocks = lsc_.blocks;
  out_.width = lsc_.width;
  out_.height = lsc_.height;
  out_.vnni = lsc_.vnni;
  return {};
}

Result<void> Translator::typed_block() {
  if (inst_.predicate.variable != no_variable) return error("expected no predicate of a typed block");
  if (lsc_.width == 0 || lsc_.width > typed_block_width || lsc_.height == 0 || lsc_.height > typed_block_rows)
    return error("expected a block of 1 to {} bytes and rows, found {}x{}", typed_block_width, lsc_.width,
                 lsc_.height);
  const unsigned bytes = mem::image::media_row_bytes(lsc_.width) * lsc_.height;
  if (bytes > typed_block_bytes)
    return error("expected a block of at most {} bytes of registers, found {}", typed_block_bytes, bytes);
  out_.width = lsc_.width;
  out_.height = lsc_.height;
  return {};
}

Result<void> Translator::raw(LscOperand place, ir::Type type, unsigned bytes, std::string_view what,
                             eu::Operand& to) const {
  const Operand& op = at(place);
  to = layout_.raw(kernel_, op, type);
  if (to.kind != eu::OperandKind::Register) return {};
  const std::uint32_t has = room(op, to);
  if (bytes <= has) return {};
  return error("expected {} of {} bytes, found {} in {}", what, bytes, has,
               kernel_.variables[op.variable].name);
}

/// Bytes from a raw operand's place to the end of the variable that has its storage.
std::uint32_t Translator::room(const Operand& op, const eu::Operand& place) const {
  const Kernel::Place where = kernel_.place(op.variable);
  const std::uint64_t inside = where.offset + place.offset - layout_.offset(op.variable);
  const std::uint64_t has = kernel_.variables[where.root].bytes();
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(has - std::min(has, inside), ~std::uint32_t{0}));
}

Result<void> Translator::null(LscOperand place, std::string_view what) const {
  if (!is_given(at(place))) return {};
  return error("expected {} to be null, found {}", what, kernel_.variables[at(place).variable].name);
}

Result<void> Translator::addresses() {
  const auto scalars = [&](unsigned count) {
    for (unsigned k = 0; k < count; ++k) out_.addresses[k] = layout_.operand(kernel_, at(address(k)));
  };
  if (shape_ == LscShape::AppendCounter) return {};
  if (is_block2d(shape_)) {
    const unsigned count = typed_ ? 2 : 6;
    for (unsigned k = 0; k < count; ++k)
      if (!is_given(at(address(k))))
        return error("expected {} values that say where a block is, found {}", count, k);
    scalars(count);
    return {};
  }
  if (!is_given(at(LscOperand::Address0))) return error("expected addresses, found none");
  if (is_strided(shape_)) {
    const Operand& pitch = at(LscOperand::Address1);
    if (pitch.kind == OperandKind::Immediate && pitch.immediate > most_pitch)
      return error("expected a pitch of at most {} bytes, found {}", most_pitch, pitch.immediate);
    if (pitch.kind == OperandKind::Null)
      return error("expected a pitch that is a number or a variable, found null");
    scalars(pitch.present() ? 2 : 1);
    out_.addresses[0].type = out_.address;  // whatever the declared type of its variable
    return {};
  }
  const unsigned bytes = inst_.exec_size * ir::size_of(out_.address), count = typed_ ? 4 : 1;
  for (unsigned k = 0; k < count; ++k)
    if (const Result<void> read =
            raw(address(k), out_.address, bytes, typed_ ? "coordinates" : "addresses", out_.addresses[k]);
        !read)
      return read;
  return {};
}

unsigned Translator::data_bytes() const {
  const unsigned grf = layout_.grf_bytes(), unit = ir::size_of(out_.unit);
  const auto whole = [&](unsigned bytes) { return (bytes + grf - 1) / grf * grf; };
  if (lsc_.op == LscOp::load_status) return 4;
  if (is_block2d(shape_)) {
    if (typed_) return mem::image::media_row_bytes(lsc_.width) * lsc_.height;
    const unsigned row = lsc_.transposed ? lsc_.height : lsc_.width,
                   rows = lsc_.transposed ? lsc_.width : lsc_.height;
    const unsigned block = std::bit_ceil(row) * rows * unit;
    return (lsc_.blocks - 1) * whole(block) + block;
  }
  const auto elements = static_cast<unsigned>(std::popcount(out_.components));
  if (lsc_.transposed) return elements * unit;
  return (elements - 1) * whole(inst_.exec_size * unit) + inst_.exec_size * unit;
}

Result<void> Translator::data_operands() {
  const unsigned bytes = data_bytes();
  if (rule_.kind == LscKind::Store) {
    if (const Result<void> none = null(LscOperand::Dst, "the destination of a store"); !none) return none;
    if (!is_given(at(LscOperand::Data0))) return error("expected data to store, found none");
    return raw(LscOperand::Data0, out_.memory, bytes, "data", out_.data[0]);
  }
  const unsigned sources = rule_.kind == LscKind::Atomic ? mem::info(rule_.atomic).operands : 0;
  for (unsigned k = 0; k < out_.data.size(); ++k) {
    const LscOperand place = k == 0 ? LscOperand::Data0 : LscOperand::Data1;
    if (k >= sources) {
      if (const Result<void> none = null(place, k == 0 ? "the first source" : "the second source"); !none)
        return none;
      continue;
    }
    if (!is_given(at(place)))
      return error("expected {} sources of lsc_{}, found {}", sources, info(lsc_.op).text, k);
    if (const Result<void> read = raw(place, out_.memory, bytes, "data", out_.data[k]); !read) return read;
  }
  const Result<void> read = raw(LscOperand::Dst, out_.memory, bytes, "a destination", out_.dst);
  if (read && out_.returns()) out_.room = room(at(LscOperand::Dst), out_.dst);
  return read;
}

Result<void> Translator::run() {
  if (const Result<void> known = operation(); !known) return known;
  if (shape_ == LscShape::Fence) return {};
  for (Result<void> (Translator::*step)() :
       {&Translator::model, &Translator::data, &Translator::addresses, &Translator::data_operands})
    if (const Result<void> done = (this->*step)(); !done) return done;
  return caching();
}

}  // namespace

Result<void> translate_lsc(const Kernel& kernel, const Instruction& instruction, const Layout& layout,
                           eu::LscMessage& message) {
  return Translator(kernel, instruction, layout, message).run();
}

}  // namespace eum::visa
