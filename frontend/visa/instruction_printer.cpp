// Prints the items of an instruction's form, and operands.
#include "frontend/visa/instruction_printer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/visa/lexer.hpp"
#include "frontend/visa/suffix.hpp"

namespace eum::visa {
namespace {

template <class... Args>
void append(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      append(out, "\\{}", c);
    else if (byte < 0x20 || byte >= 0x7f)
      append(out, "\\x{:02x}", byte);
    else
      out += c;
  }
  out += '"';
}

void append_name(std::string& out, std::string_view name) {
  if (!name.empty() && is_letter(name[0]) && std::ranges::all_of(name, is_word))
    out += name;
  else
    append_quoted(out, name);
}

void InstructionPrinter::print(const Instruction& inst) {
  inst_ = &inst;
  operand_ = suffix_ = 0;
  for (Item next : info(inst.opcode).form->items()) item(next);
}

void InstructionPrinter::item(Item item) {
  switch (item) {
    case Item::Predicate:
      predicate();
      return;
    case Item::Name:
      out_ += info(inst_->opcode).text;
      return;
    case Item::Saturate:
      out_ += inst_->saturate ? ".sat" : "";
      return;
    case Item::Condition:
      append(out_, ".{}", condition_names[static_cast<std::size_t>(inst_->condition)]);
      return;
    case Item::Lsc:
      lsc();
      return;
    case Item::ExecSize:
      out_ += ' ';
      exec_size();
      return;
    default:
      break;
  }
  if (item < Item::Dst)
    suffix_item(item);
  else
    operand_item(item);
}

void InstructionPrinter::predicate() {
  const Predicate& predicate = inst_->predicate;
  if (predicate.variable == no_variable) return;
  static constexpr std::string_view combines[] = {"", ".any", ".all"};
  append(out_, "({}{}{}) ", predicate.inverse ? "!" : "", kernel_.variables[predicate.variable].name,
         combines[static_cast<std::size_t>(predicate.combine)]);
}

void InstructionPrinter::exec_size() {
  append(out_, "(M{}{}, {})", inst_->channel_offset / 4 + 1, inst_->no_mask ? "_NM" : "", inst_->exec_size);
}

void InstructionPrinter::mask_letters(std::string_view letters, std::uint32_t mask) {
  out_ += '.';
  for (std::size_t i = 0; i < letters.size(); ++i)
    if ((mask >> i & 1) != 0) out_ += letters[i];
}

void InstructionPrinter::suffix_item(Item item) {
  const std::uint32_t value = next_suffix();
  const auto flags = [&](std::span<const SuffixText> table, std::string_view before,
                         std::string_view behind) {
    for (const SuffixText& row : table)
      if ((value & row.value) != 0) append(out_, "{}{}{}", before, row.text, behind);
  };
  switch (item) {
    case Item::Channels:
      mask_letters(channel_letters, value);
      return;
    case Item::Number:
      append(out_, ".{}", value);
      return;
    case Item::BooleanFunction:
      append(out_, ".x{:02x}", value);
      return;
    case Item::Precision:
      append(out_, ".{}", suffix_text(precisions, value));
      return;
    case Item::AtomicOperation:
      append(out_, ".{}", suffix_text(atomic_operations, value));
      return;
    case Item::AtomicWidth:
      if (value != 32) append(out_, ".{}", value);
      return;
    case Item::MediaMode:
      append(out_, ".{}", suffix_text(media_modes, value));
      return;
    case Item::OutputFormat:
      append(out_, ".{}", suffix_text(output_formats, value));
      return;
    case Item::Alignment:
      out_ += value != 0 ? ".aligned" : "";
      return;
    case Item::Modified:
      out_ += value != 0 ? ".mod" : "";
      return;
    case Item::FenceFlags:
      if (value != 0) out_ += '.';
      flags(fence_flags, "", "");
      return;
    case Item::CallFlags:
      flags(call_flags, ".", "");
      return;
    case Item::SamplerFlags:
      flags(sampler_flags, ".", "");
      return;
    case Item::TargetFlags:
      if (value != 0) out_ += '.';
      flags(target_flags, "<", ">");
      return;
    case Item::Count:
      append(out_, " ({})", value);
      return;
    case Item::Pair:
      append(out_, " ({},{})", value, next_suffix());
      return;
    case Item::Plane:
    case Item::Integer:
      append(out_, " {}", value);
      return;
    case Item::HexInteger:
      append(out_, " {:#x}", value);
      return;
    case Item::AvsControl:
      append(out_, " {}", suffix_text(avs_controls, value));
      return;
    case Item::AvsMode:
      append(out_, " {}", suffix_text(avs_modes, value));
      return;
    default:
      return;
  }
}

void InstructionPrinter::operand_item(Item item) {
  switch (item) {
    case Item::LabelHere:
      append(out_, "{}:", kernel_.labels[next_operand().variable].name);
      return;
    case Item::FunctionHere:
      append(out_, "{} ", info(inst_->opcode).text);
      append_quoted(out_, kernel_.strings[next_operand().variable]);
      return;
    case Item::Text:
      out_ += ' ';
      append_quoted(out_, kernel_.strings[next_operand().variable]);
      return;
    case Item::Function:
      out_ += ' ';
      append_name(out_, kernel_.strings[next_operand().variable]);
      return;
    case Item::Label:
      out_ += ' ';
      label(next_operand());
      return;
    case Item::LabelList:
      out_ += " (";
      for (std::string_view before = ""; more_operands(); before = ", ") {
        out_ += before;
        label(next_operand());
      }
      out_ += ')';
      return;
    case Item::SrcTriple:
      out_ += " (";
      for (int i = 0; i < 3; ++i) {
        if (i != 0) out_ += ", ";
        vector(next_operand(), false);
      }
      out_ += ')';
      return;
    case Item::RawList:
    case Item::TargetList:
    case Item::OptionalSrcPair:
      while (more_operands()) {
        const Operand& operand = next_operand();
        out_ += ' ';
        const bool is_raw = operand.kind == OperandKind::Raw || operand.kind == OperandKind::Null;
        if (is_raw && item != Item::OptionalSrcPair)
          raw(operand, false);
        else
          vector(operand, false);
      }
      return;
    case Item::Raw:
      out_ += ' ';
      raw(next_operand(), false);
      return;
    case Item::Surface:
    case Item::SurfaceOrPointer:
    case Item::Sampler:
    case Item::Variable:
      append(out_, " {}", name(next_operand()));
      return;
    case Item::Simple: {
      const Operand& operand = next_operand();
      append(out_, " {}({},{})", name(operand), operand.row, operand.column);
      return;
    }
    default:
      out_ += ' ';
      vector(next_operand(), is_destination(item));
      return;
  }
}

void InstructionPrinter::vector(const Operand& operand, bool destination) {
  static constexpr std::string_view modifiers[] = {"", "(-)", "(abs)", "(-abs)", "(~)"};
  out_ += modifiers[static_cast<std::size_t>(operand.modifier)];
  switch (operand.kind) {
    case OperandKind::Immediate:
      append(out_, "{:#x}:{}", operand.immediate, info(operand.type).name);
      return;
    case OperandKind::Address:
      append(out_, "{}({})<{}>", name(operand), operand.column, operand.region.width);
      return;
    case OperandKind::AddressOf:
      append(out_, "&{}", name(operand));
      if (operand.offset != 0) append(out_, "[{}]", operand.offset);
      return;
    case OperandKind::Predicate:
      out_ += name(operand);
      return;
    case OperandKind::State:
      append(out_, "{}({})", name(operand), operand.column);
      return;
    case OperandKind::Indirect:
      append(out_, "r[{}({}),{}]", name(operand), operand.column, operand.offset);
      break;
    default:
      append(out_, "{}({},{})", name(operand), operand.row, operand.column);
      break;
  }
  const Region& region = operand.region;
  if (destination)
    append(out_, "<{}>", region.horizontal);
  else if (region.vertical == Region::no_stride)
    append(out_, "<{},{}>", region.width, region.horizontal);
  else
    append(out_, "<{};{},{}>", region.vertical, region.width, region.horizontal);
  if (operand.kind == OperandKind::Indirect) append(out_, ":{}", info(operand.type).name);
}

void InstructionPrinter::raw(const Operand& operand, bool bare) {
  const Variable& variable = kernel_.variables[operand.variable];
  out_ += variable.name;
  if (bare && operand.column == 0) return;
  // The column of a raw operand is in bytes; that of a strided access's address in elements, which the text
  // gives in bytes too.
  const std::uint64_t size =
      operand.kind == OperandKind::General ? std::max<std::uint64_t>(info(variable.type).bytes, 1) : 1;
  append(out_, ".{}", operand.column * size);
}

void InstructionPrinter::label(const Operand& operand) {
  append_name(out_, kernel_.labels[operand.variable].name);
}

}  // namespace eum::visa
