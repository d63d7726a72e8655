// vISA messages except lsc: the row of a message says what it is, its operands where.
#include "frontend/visa/lower/translate_message.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "frontend/eu/handlers.hpp"
#include "frontend/eu/messages/message_lowering.hpp"
#include "frontend/visa/suffix.hpp"
#include "frontend/visa/variable.hpp"
#include "memory/image/message.hpp"

namespace eum::visa {
namespace {

// Binding table indices that denote other memory (Broadwell PRM volume 7, "Stateless Model").
constexpr std::uint32_t slm_index = 254, stateless_index = 255, stateless_non_coherent_index = 253;
constexpr std::uint32_t last_surface_index = 239;

std::optional<mem::AtomicOp> atomic_op(std::uint32_t suffix) {
  using enum AtomicOperation;
  switch (static_cast<AtomicOperation>(suffix)) {
    case add:
      return mem::AtomicOp::add;
    case sub:
      return mem::AtomicOp::sub;
    case inc:
      return mem::AtomicOp::inc;
    case dec:
      return mem::AtomicOp::dec;
    case min:
      return mem::AtomicOp::umin;
    case max:
      return mem::AtomicOp::umax;
    case xchg:
      return mem::AtomicOp::mov;
    case cmpxchg:
      return mem::AtomicOp::cmpwr;
    case and_:
      return mem::AtomicOp::and_;
    case or_:
      return mem::AtomicOp::or_;
    case xor_:
      return mem::AtomicOp::xor_;
    case minsint:
      return mem::AtomicOp::imin;
    case maxsint:
      return mem::AtomicOp::imax;
    case fmax:
      return mem::AtomicOp::fmax;
    case fmin:
      return mem::AtomicOp::fmin;
    case fcmpwr:
      return mem::AtomicOp::fcmpwr;
    case fadd:
      return mem::AtomicOp::fadd;
    case fsub:
      return mem::AtomicOp::fsub;
  }
  return std::nullopt;
}

std::optional<mem::image::SampleOp> sample_op(Opcode opcode) {
  using enum mem::image::SampleOp;
  switch (opcode) {
    case Opcode::sample_3d:
      return sample;
    case Opcode::sample_b:
      return sample_b;
    case Opcode::sample_l:
      return sample_l;
    case Opcode::sample_c:
      return sample_c;
    case Opcode::sample_d:
      return sample_d;
    case Opcode::sample_b_c:
      return sample_b_c;
    case Opcode::sample_l_c:
      return sample_l_c;
    case Opcode::sample_d_c:
      return sample_d_c;
    case Opcode::sample_lz:
      return sample_lz;
    case Opcode::sample_c_lz:
      return sample_c_lz;
    case Opcode::lod:
      return lod;
    case Opcode::load_3d:
      return ld;
    case Opcode::load_lz:
      return ld_lz;
    case Opcode::load_2dms_w:
      return ld2dms_w;
    case Opcode::load_mcs:
      return ld_mcs;
    case Opcode::sample4:
      return gather4;
    case Opcode::sample4_c:
      return gather4_c;
    case Opcode::sample4_po:
      return gather4_po;
    case Opcode::sample4_po_c:
      return gather4_po_c;
    case Opcode::resinfo:
      return resinfo;
    case Opcode::sampleinfo:
      return sampleinfo;
    default:
      return std::nullopt;
  }
}

class MessageTranslator {
 public:
  MessageTranslator(const Program& program, const Program::Unit& unit, std::uint32_t index,
                    eu::Instruction& out)
      : program_(program),
        unit_(unit),
        kernel_(*unit.kernel),
        in_(kernel_.instructions[index]),
        operands_(kernel_.operands_of(in_)),
        index_(index),
        target_(unit.layout.target()),
        out_(out),
        message_(out.message) {}

  Result<void> run();

 private:
  /// Sets the memory of a data port message: binding table index, shared local memory or the address space.
  Result<void> memory(const Operand& op);
  Result<void> image(const Operand& op);
  Result<void> sampler(const Operand& op);
  eu::Operand surface_index(const Operand& op) const;
  void base(const Operand& op) { brought_.scalars[0] = unit_.layout.operand(kernel_, op); }
  /// Adds `count` registers from the first byte of `op` on, to payload or response; %null has none.
  void transfer(const Operand& op, bool write, unsigned count);
  /// Adds a parameter of the payload: `op` from its first byte on, `bytes` per channel.
  void parameter(const Operand& op, unsigned bytes) { transfer(op, true, registers(bytes)); }
  void response(const Operand& op, unsigned bytes, unsigned count = 1) {
    transfer(op, false, count * registers(bytes));
  }
  void move(const Operand& data, bool write, unsigned memory_bits, unsigned components);
  Result<void> blocks(const Operand& data, bool write, unsigned owords);
  Result<void> scattered();
  Result<void> atomic(const Operand& addresses, const Operand& dst, const Operand& src0, const Operand& src1);
  Result<void> typed();
  Result<void> typed_atomic();
  Result<void> sample();
  Result<void> media();
  unsigned registers(unsigned bytes) const { return target_.registers(in_.exec_size * bytes); }

  const Program& program_;
  const Program::Unit& unit_;
  const Kernel& kernel_;
  const Instruction& in_;
  std::span<const Operand> operands_;
  std::uint32_t index_;
  const eu::Target& target_;
  eu::Instruction& out_;
  eu::Message& message_;
  eu::MessageOperands brought_;
};

eu::Operand MessageTranslator::surface_index(const Operand& op) const {
  Operand first = op;
  first.kind = OperandKind::State;
  first.column = 0;
  return unit_.layout.operand(kernel_, first);
}

Result<void> MessageTranslator::memory(const Operand& op) {
  std::optional<std::uint32_t> index = unit_.surfaces.known(index_, op.variable);
  if (op.variable == id(PredefinedVariable::slm)) index = slm_index;
  if (op.variable == id(PredefinedVariable::scratch) && !index) index = stateless_index;
  if (!index) {
    message_.memory.space = ir::MemSpace::Surface;
    brought_.surface = surface_index(op);
    return {};
  }
  switch (*index) {
    case slm_index:
      message_.memory.space = ir::MemSpace::Slm;
      return {};
    case stateless_index:
    case stateless_non_coherent_index:
      message_.memory.space = ir::MemSpace::A32;
      return {};
    default:
      break;
  }
  if (*index > last_surface_index)
    return error("expected a binding table index of at most {}, or one that means other memory, found {}",
                 last_surface_index, *index);
  message_.memory.space = ir::MemSpace::Surface;
  message_.memory.surface = static_cast<std::uint8_t>(*index);
  return {};
}

Result<void> MessageTranslator::image(const Operand& op) {
  if (const Result<void> found = memory(op); !found) return found;
  message_.image.surface = message_.memory.surface;
  return {};
}

Result<void> MessageTranslator::sampler(const Operand& op) {
  constexpr std::uint32_t samplers = 16;
  const std::optional<std::uint32_t> index = unit_.surfaces.known(index_, op.variable);
  if (!index || *index >= samplers)
    return error("expected a sampler of 0 to {} that movs sets in the same block, found {}", samplers - 1,
                 index ? std::to_string(*index) : std::string("none"));
  message_.image.sampler = static_cast<std::uint8_t>(*index);
  return {};
}

void MessageTranslator::transfer(const Operand& op, bool write, unsigned count) {
  if (op.kind == OperandKind::Null || op.kind == OperandKind::None) return;
  const eu::RegisterRange range{unit_.layout.raw_offset(op), static_cast<std::uint16_t>(count)};
  if (write)
    brought_.payload.push_back(range);
  else
    message_.response = range;
}

/// Moves elements of each channel between memory and registers, where they take a dword or more.
void MessageTranslator::move(const Operand& data, bool write, unsigned memory_bits, unsigned components) {
  message_.lower = &eu::lower_per_channel;
  message_.write = write;
  message_.memory_bits = static_cast<std::uint16_t>(memory_bits);
  message_.register_bits = static_cast<std::uint16_t>(std::max(memory_bits, 32u));
  message_.components = static_cast<std::uint8_t>(components);
  transfer(data, write, message_.elements() * registers(message_.register_bits / 8u));
}

Result<void> MessageTranslator::blocks(const Operand& data, bool write, unsigned owords) {
  constexpr unsigned oword_bits = 128, oword_bytes = 16;
  if (!std::has_single_bit(owords) || owords > 16)
    return error("expected blocks of 1, 2, 4, 8 or 16 owords, found {}", owords);
  message_.lower = &eu::lower_block_message;
  message_.write = write;
  message_.memory_bits = oword_bits;
  message_.element_count = static_cast<std::uint8_t>(owords);
  transfer(data, write, target_.registers(owords * oword_bytes));
  out_.no_mask = true;
  return {};
}

Result<void> MessageTranslator::scattered() {
  constexpr unsigned dword_bits = 32, address32 = 4, address64 = 8;
  const bool write = in_.opcode == Opcode::scatter_scaled || in_.opcode == Opcode::scatter4_scaled ||
                     in_.opcode == Opcode::svm_scatter || in_.opcode == Opcode::svm_scatter4scaled;
  const auto bits = [](unsigned count) { return (1u << count) - 1; };
  switch (in_.opcode) {
    case Opcode::gather_scaled:
    case Opcode::scatter_scaled: {
      const unsigned bytes = in_.suffix[0];
      if (bytes != 1 && bytes != 2 && bytes != 4) return error("expected 1, 2 or 4 blocks, found {}", bytes);
      if (const Result<void> found = memory(operands_[0]); !found) return found;
      base(operands_[1]);
      parameter(operands_[2], address32);
      move(operands_[3], write, 8 * bytes, 1);
      return {};
    }
    case Opcode::gather4_scaled:
    case Opcode::scatter4_scaled:
      if (const Result<void> found = memory(operands_[0]); !found) return found;
      base(operands_[1]);
      parameter(operands_[2], address32);
      move(operands_[3], write, dword_bits, in_.suffix[0]);
      return {};
    case Opcode::svm_gather4scaled:
    case Opcode::svm_scatter4scaled:
      message_.memory.space = ir::MemSpace::A64;
      base(operands_[0]);
      parameter(operands_[1], address64);
      move(operands_[2], write, dword_bits, in_.suffix[0]);
      return {};
    default:
      break;
  }
  // svm_gather and svm_scatter: blocks of 1 byte form one element, larger blocks are elements of their own.
  const unsigned block = in_.suffix[0], count = in_.suffix[1];
  const bool counted = count == 1 || count == 2 || count == 4 || count == 8;
  if (!counted || (block != 1 && block != 4 && block != 8))
    return error("expected 1, 2, 4 or 8 blocks of 1, 4 or 8 bytes, found {} of {}", count, block);
  message_.memory.space = ir::MemSpace::A64;
  parameter(operands_[0], address64);
  if (block == 1)
    move(operands_[1], write, 8 * count, 1);
  else
    move(operands_[1], write, 8 * block, bits(count));
  return {};
}

// The sources of compare-and-exchange are the new value, then the value to compare with; the EU has the
// opposite order.
Result<void> MessageTranslator::atomic(const Operand& addresses, const Operand& dst, const Operand& src0,
                                       const Operand& src1) {
  const std::optional<mem::AtomicOp> op = atomic_op(in_.suffix[0]);
  const unsigned width = in_.suffix[1];
  if (!op) return error("expected an atomic operation, found number {}", in_.suffix[0]);
  if (width != 32 && width != 64) return error("expected atomics of 32 or 64 bits, found {}", width);
  const unsigned bytes = width / 8;
  message_.lower = &eu::lower_untyped_atomic;
  message_.memory.atomic = *op;
  message_.memory_bits = static_cast<std::uint16_t>(width);
  message_.returns = dst.kind != OperandKind::Null;
  parameter(addresses, ir::size_of(ir::info(message_.memory.space).address));
  const unsigned sources = mem::info(*op).operands;
  for (unsigned k = 0; k < sources; ++k) {
    const Operand& source = sources == 2 ? (k == 0 ? src1 : src0) : src0;
    if (source.kind != OperandKind::Raw)
      return error("expected {} sources of this operation, found %null", sources);
    parameter(source, bytes);
  }
  response(dst, bytes);
  return {};
}

Result<void> MessageTranslator::typed() {
  constexpr unsigned coordinates = 4;
  if (const Result<void> found = image(operands_[0]); !found) return found;
  message_.lower = &eu::lower_typed_surface;
  message_.write = in_.opcode == Opcode::scatter4_typed;
  message_.components = static_cast<std::uint8_t>(in_.suffix[0]);
  for (unsigned k = 0; k < coordinates; ++k) parameter(operands_[1 + k], 4);
  transfer(operands_[1 + coordinates], message_.write, message_.elements() * registers(4));
  return {};
}

Result<void> MessageTranslator::typed_atomic() {
  // Surface, u, v, r, lod, src0, src1, dst.
  if (const Result<void> found = image(operands_[0]); !found) return found;
  const std::optional<mem::AtomicOp> op = atomic_op(in_.suffix[0]);
  if (!op || in_.suffix[1] != 32) return error("expected an atomic operation of 32 bits");
  message_.lower = &eu::lower_typed_atomic;
  message_.image.atomic = *op;
  message_.memory_bits = 32;
  for (unsigned k = 1; k <= 4; ++k) parameter(operands_[k], 4);
  const unsigned sources = mem::info(*op).operands;
  for (unsigned k = 0; k < sources; ++k) parameter(operands_[sources == 2 ? 6 - k : 5], 4);
  message_.returns = operands_[7].kind != OperandKind::Null;
  response(operands_[7], 4);
  return {};
}

Result<void> MessageTranslator::sample() {
  const std::optional<mem::image::SampleOp> op = sample_op(in_.opcode);
  if (!op) return error("sampler message that is not modelled");
  const bool info_message = in_.opcode == Opcode::resinfo || in_.opcode == Opcode::sampleinfo;
  const std::uint32_t flags = info_message ? 0 : in_.suffix[0];
  if (flags != 0)
    return error("expected a sampler message without pixel null mask, CPS or divergent sampler");
  std::uint32_t channels = in_.suffix[info_message ? 0 : 1];
  const bool gather = mem::image::info(*op).has(mem::image::sample_flag::Gather);
  std::uint32_t control = 0;
  std::size_t k = 0;
  if (!info_message) {
    const Operand& offsets = operands_[k++];
    if (offsets.kind != OperandKind::Immediate) return error("expected immediate texel offsets");
    control = static_cast<std::uint32_t>(offsets.immediate) & 0xfff;
  }
  if (k < operands_.size() && operands_[k].kind == OperandKind::Name &&
      kernel_.variables[operands_[k].variable].kind == VariableKind::Sampler)
    if (const Result<void> found = sampler(operands_[k++]); !found) return found;
  if (const Result<void> found = image(operands_[k++]); !found) return found;
  // resinfo has its parameter first, others the destination.
  if (in_.opcode == Opcode::resinfo) parameter(operands_[k++], 4);
  const Operand& dst = operands_[k++];
  for (; k < operands_.size(); ++k) parameter(operands_[k], 4);
  if (gather) {
    // One channel is gathered, and four texels are returned.
    control |= static_cast<std::uint32_t>(std::countr_zero(channels)) << 16;
    channels = 0xf;
  }
  const auto results = static_cast<unsigned>(std::popcount(channels));
  const bool masks = channels != (1u << results) - 1;
  if (masks) control |= (~channels & 0xfu) << 12;
  if (control != 0) {
    brought_.scalars[0].kind = eu::OperandKind::Immediate;
    brought_.scalars[0].type = ir::Type::u32;
    brought_.scalars[0].immediate = control;
  }
  message_.lower = &eu::lower_sample;
  message_.image.sample = *op;
  const bool half = dst.kind == OperandKind::Raw && kernel_.variables[dst.variable].type == Type::hf;
  message_.image.half = half;
  response(dst, half ? 2 : 4, results);
  return {};
}

Result<void> MessageTranslator::media() {
  const std::uint32_t mode = in_.suffix[0], width = in_.suffix[1], height = in_.suffix[2];
  if (mode != 0) return error("expected a media block without modifier");
  if (width < 1 || width > 64 || height < 1 || height > 64)
    return error("expected media blocks of 1 to 64 bytes by 1 to 64 rows, found {} by {}", width, height);
  if (const Result<void> found = image(operands_[0]); !found) return found;
  message_.write = in_.opcode == Opcode::media_st;
  message_.lower = &eu::lower_media_block;
  for (unsigned k = 0; k < 2; ++k) brought_.scalars[k] = unit_.layout.operand(kernel_, operands_[1 + k]);
  brought_.scalars[2].kind = eu::OperandKind::Immediate;
  brought_.scalars[2].type = ir::Type::u32;
  brought_.scalars[2].immediate = (height - 1) << 16 | (width - 1);
  transfer(operands_[3], message_.write, target_.registers(mem::image::media_row_bytes(width) * height));
  out_.no_mask = true;
  return {};
}

Result<void> MessageTranslator::run() {
  out_.lower = &eu::lower_send;
  message_.channels = in_.exec_size;
  const Result<void> made = [&]() -> Result<void> {
    switch (in_.opcode) {
      case Opcode::gather_scaled:
      case Opcode::scatter_scaled:
      case Opcode::gather4_scaled:
      case Opcode::scatter4_scaled:
      case Opcode::svm_gather:
      case Opcode::svm_scatter:
      case Opcode::svm_gather4scaled:
      case Opcode::svm_scatter4scaled:
        return scattered();
      case Opcode::dword_atomic:
        if (const Result<void> found = memory(operands_[0]); !found) return found;
        return atomic(operands_[1], operands_[4], operands_[2], operands_[3]);
      case Opcode::svm_atomic:
        message_.memory.space = ir::MemSpace::A64;
        // A single source may be in either position.
        if (operands_[2].kind == OperandKind::Null && operands_[3].kind != OperandKind::Null)
          return atomic(operands_[0], operands_[1], operands_[3], operands_[2]);
        return atomic(operands_[0], operands_[1], operands_[2], operands_[3]);
      case Opcode::oword_ld:
      case Opcode::oword_ld_unaligned:
      case Opcode::oword_st: {
        constexpr unsigned oword = 16;
        if (const Result<void> found = memory(operands_[0]); !found) return found;
        base(operands_[1]);
        message_.address_unit = in_.opcode == Opcode::oword_ld_unaligned ? 1 : oword;
        return blocks(operands_[2], in_.opcode == Opcode::oword_st, in_.suffix[1]);
      }
      case Opcode::svm_block_ld:
      case Opcode::svm_block_st:
        message_.memory.space = ir::MemSpace::A64;
        base(operands_[0]);
        return blocks(operands_[1], in_.opcode == Opcode::svm_block_st, in_.suffix[1]);
      case Opcode::gather4_typed:
      case Opcode::scatter4_typed:
        return typed();
      case Opcode::typed_atomic:
        return typed_atomic();
      case Opcode::media_ld:
      case Opcode::media_st:
        return media();
      default:
        return sample();
    }
  }();
  if (!made) return made;
  message_.operands = program_.keep(std::move(brought_));
  return {};
}

}  // namespace

Result<void> translate_message(const Program& program, const Program::Unit& unit, std::uint32_t index,
                               eu::Instruction& result) {
  return MessageTranslator(program, unit, index, result).run();
}

}  // namespace eum::visa
