// Prints lsc instructions.
#include <fmt/format.h>

#include "frontend/visa/instruction_printer.hpp"
#include "frontend/visa/lsc_form.hpp"

namespace eum::visa {
namespace {

template <class... Args>
void append(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}
template <class Enum, std::size_t count>
std::string_view text(const std::string_view (&names)[count], Enum value) {
  return names[static_cast<std::size_t>(value)];
}

}  // namespace

const Operand& InstructionPrinter::lsc_operand(LscOperand place) const {
  return kernel_.operands_of(*inst_)[static_cast<std::size_t>(place)];
}

void InstructionPrinter::lsc() {
  using enum LscShape;
  const Lsc& lsc = kernel_.lsc[inst_->lsc];
  const LscShape shape = info(lsc.op).shape;
  lsc_suffixes(lsc);
  if (shape == Fence) return;
  if (has_exec_size(shape, lsc.unit)) {
    out_ += ' ';
    exec_size();
  }
  out_ += ' ';
  const Operand& dst = lsc_operand(LscOperand::Dst);
  const Operand& data = lsc_operand(LscOperand::Data0);
  if (is_store(shape)) {
    lsc_address(lsc);
    out_ += ' ';
    lsc_data(lsc, data);
    return;
  }
  if (shape == ReadStateInfo) {
    raw(dst, true);
    out_ += ' ';
    lsc_model(lsc);
    if (const Operand& coordinate = lsc_operand(LscOperand::Address0); coordinate.present()) {
      out_ += '[';
      raw(coordinate, true);
      out_ += ']';
    }
    return;
  }
  lsc_data(lsc, dst);
  out_ += ' ';
  if (shape == AppendCounter) {
    lsc_model(lsc);
    out_ += ' ';
    lsc_data(lsc, data);
    return;
  }
  lsc_address(lsc);
  if (shape != Atomic) return;
  for (LscOperand place : {LscOperand::Data0, LscOperand::Data1}) {
    out_ += ' ';
    raw(lsc_operand(place), true);
  }
}

void InstructionPrinter::lsc_suffixes(const Lsc& lsc) {
  append(out_, "{}{}.{}", info(Opcode::lsc).text, info(lsc.op).text, text(lsc_unit_names, lsc.unit));
  if (lsc.op == LscOp::fence)
    append(out_, ".{}.{}", text(lsc_fence_names, lsc.fence), text(lsc_scope_names, lsc.scope));
  else if (lsc.l1 != LscCaching::df || lsc.l3 != LscCaching::df)
    append(out_, ".{}.{}", text(lsc_caching_names, lsc.l1), text(lsc_caching_names, lsc.l3));
}

void InstructionPrinter::lsc_data(const Lsc& lsc, const Operand& operand) {
  raw(operand, true);
  if (is_block2d(info(lsc.op).shape) && is_typed(lsc.unit)) {
    append(out_, ":{}x{}", lsc.width, lsc.height);
    return;
  }
  append(out_, ":{}", text(lsc_data_size_names, lsc.data_size));
  if (is_block2d(info(lsc.op).shape)) {
    append(out_, ".{}x{}x{}{}{}", lsc.blocks, lsc.width, lsc.height, lsc.transposed ? 't' : 'n',
           lsc.vnni ? 't' : 'n');
    return;
  }
  if (lsc.channel_mask != 0) mask_letters(lsc_channel_letters, lsc.channel_mask);
  if (lsc.elements != 1) append(out_, "x{}", lsc.elements);
  if (lsc.transposed) out_ += 't';
}

void InstructionPrinter::lsc_model(const Lsc& lsc) {
  out_ += text(lsc_model_names, lsc.model);
  const Operand& surface = lsc_operand(LscOperand::Surface);
  if (!surface.present()) return;
  out_ += '(';
  scalar(surface);
  if (lsc.surface_index != 0) append(out_, ",{:#x}", lsc.surface_index);
  out_ += ')';
}

void InstructionPrinter::lsc_address(const Lsc& lsc) {
  const LscShape shape = info(lsc.op).shape;
  const bool block = is_block2d(shape), typed = is_typed(lsc.unit);
  const std::int32_t offsets[] = {lsc.offset, lsc.offset_y, lsc.offset_z};
  // Index of the first address that has an immediate offset.
  const std::size_t first_offset = block && !typed ? 4 : 0;
  const std::size_t last =
      static_cast<std::size_t>(LscOperand::Data0) - static_cast<std::size_t>(LscOperand::Address0);
  lsc_model(lsc);
  out_ += '[';
  if (lsc.scale != 1) append(out_, "{:#x}*", lsc.scale);
  for (std::size_t i = 0; i < last; ++i) {
    const Operand& operand =
        lsc_operand(static_cast<LscOperand>(static_cast<std::size_t>(LscOperand::Address0) + i));
    if (!operand.present()) break;
    if (i != 0) out_ += ',';
    if (block || (is_strided(shape) && i == 1))
      scalar(operand);
    else
      raw(operand, true);
    if (i >= first_offset && i - first_offset < std::size(offsets)) lsc_offset(offsets[i - first_offset]);
    if (!typed && !block && i == 0 && !is_strided(shape)) break;
  }
  out_ += ']';
  if (!block) append(out_, ":{}", text(lsc_address_size_names, lsc.address_size));
}

void InstructionPrinter::lsc_offset(std::int32_t offset) {
  if (offset != 0)
    append(out_, "{}{:#x}", offset < 0 ? '-' : '+', offset < 0 ? -std::int64_t{offset} : offset);
}

void InstructionPrinter::scalar(const Operand& operand) {
  if (operand.kind == OperandKind::Immediate)
    append(out_, "{:#x}", operand.immediate);
  else if (operand.kind == OperandKind::State)
    append(out_, "{}({})", name(operand), operand.column);
  else if (operand.row != 0)
    append(out_, "{}({},{})", name(operand), operand.row, operand.column);
  else if (operand.column != 0)
    append(out_, "{}.{}", name(operand), operand.column);
  else
    out_ += name(operand);
}

}  // namespace eum::visa
