// Assigns offsets to variables, and converts operands to offsets.
#include "frontend/visa/lower/layout.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <string_view>
#include <utility>

#include "frontend/visa/lower/lifetimes.hpp"
#include "frontend/visa/variable.hpp"

namespace eum::visa {
namespace {

constexpr std::uint32_t no_place = ~std::uint32_t{0};
/// Bytes of an element of a surface or sampler variable.
constexpr unsigned state_bytes = 4;
/// Register addresses have 16 bits.
constexpr std::uint32_t addressable = 1u << 16;

/// What a predefined variable denotes.
struct Special {
  std::string_view name;
  enum class Kind : std::uint8_t { Payload, State, ExecutionMask, Shared } kind;
  std::uint32_t offset = 0;  ///< Payload: bytes
  eu::StateRegister reg = eu::StateRegister::State;
};

// Dwords of r0: Broadwell PRM, volume 7, "Thread Payload" of the GPGPU walker.
constexpr std::array special_table{
    Special{"%r0", Special::Kind::Payload, 0},
    Special{"%group_id_x", Special::Kind::Payload, 4},
    Special{"%group_id_y", Special::Kind::Payload, 24},
    Special{"%group_id_z", Special::Kind::Payload, 28},
    Special{"%sr0", Special::Kind::State, 0, eu::StateRegister::State},
    Special{"%cr0", Special::Kind::State, 0, eu::StateRegister::Control},
    Special{"%tsc", Special::Kind::State, 0, eu::StateRegister::Timestamp},
    Special{"%ce0", Special::Kind::ExecutionMask},
    Special{"%arg", Special::Kind::Shared},
    Special{"%retval", Special::Kind::Shared},
    Special{"%sp", Special::Kind::Shared},
    Special{"%fp", Special::Kind::Shared},
};

const Special* special(const Variable& variable) {
  if (!variable.predefined) return nullptr;
  for (const Special& row : special_table)
    if (row.name == variable.name) return &row;
  return nullptr;
}

std::uint64_t storage_bytes(const Variable& variable) {
  const bool state = variable.kind == VariableKind::Surface || variable.kind == VariableKind::Sampler;
  if (state) return std::uint64_t{variable.elements} * state_bytes;
  if (variable.kind == VariableKind::Address) return std::uint64_t{variable.elements} * eu::address_bytes;
  return variable.bytes();
}

}  // namespace

Result<std::uint32_t> payload_bytes(const Kernel& kernel, unsigned grf_bytes) {
  // Registers per thread: 128 hold the payload of any dispatch.
  constexpr std::uint64_t registers = 128;
  std::uint64_t end = grf_bytes;
  for (const Input& input : kernel.inputs) {
    const std::uint64_t size = input.size != 0 ? input.size : kernel.variables[input.variable].bytes();
    const std::uint64_t last = input.offset + size;
    if (last > registers * grf_bytes)
      return error("{}:{}: expected inputs in the first {} registers of {} bytes, found {} at byte {} to {}",
                   input.location.line, input.location.column, registers, grf_bytes,
                   kernel.variables[input.variable].name, input.offset, last);
    end = std::max(end, last);
  }
  return static_cast<std::uint32_t>(end);
}

Result<Layout> Layout::make(const Kernel& kernel, RegisterFile& file, const Layout* caller) {
  Layout layout;
  layout.grf_bytes_ = file.grf_bytes();
  std::vector<std::uint32_t>& places = layout.places_;
  places.assign(kernel.variables.size(), no_place);
  for (VariableId id = 0; id < kernel.variables.size(); ++id) {
    const Special* row = special(kernel.variables[id]);
    if (row == nullptr) continue;
    if (row->kind == Special::Kind::Payload) places[id] = row->offset;
    if (row->kind == Special::Kind::Shared)
      places[id] = caller != nullptr ? caller->places_[id] : file.take(kernel.variables[id].bytes());
  }
  for (const Input& input : kernel.inputs) {
    const Kernel::Place place = kernel.place(input.variable);
    if (place.offset > input.offset)
      return error(
          "{}:{}: expected an input at byte {} or above, where the variable that holds {} begins, found {}",
          input.location.line, input.location.column, place.offset, kernel.variables[input.variable].name,
          input.offset);
    places[place.root] = static_cast<std::uint32_t>(input.offset - place.offset);
  }
  const std::vector<Lifetime> lives = lifetimes(kernel);
  for (VariableId id = 0; id < kernel.variables.size(); ++id) {
    const Variable& variable = kernel.variables[id];
    const bool used = lives[id].use != Lifetime::Use::None;
    const bool read_by_mov = id == visa::id(PredefinedVariable::hw_id);
    const bool has_place = special(variable) != nullptr || read_by_mov;
    if (used && variable.predefined && variable.kind == VariableKind::General && !has_place)
      return error("expected predefined variables that a thread group's kernel has, found {}", variable.name);
  }
  std::vector<VariableId> order;
  for (VariableId id = 0; id < kernel.variables.size(); ++id)
    if (lives[id].use != Lifetime::Use::None && places[id] == no_place) order.push_back(id);
  // Variables whose address is taken come first, because addresses are short; they do not share their
  // storage.
  const auto addressed = std::stable_partition(
      order.begin(), order.end(), [&](VariableId id) { return lives[id].use == Lifetime::Use::Addressed; });
  for (auto id = order.begin(); id != addressed; ++id) {
    const Variable& variable = kernel.variables[*id];
    places[*id] = file.take(storage_bytes(variable));
    if (places[*id] + storage_bytes(variable) > addressable)
      return error(
          "{}:{}: expected variables whose address is taken in the first {} bytes of the registers, found {} "
          "at "
          "byte {}",
          variable.location.line, variable.location.column, addressable, variable.name, places[*id]);
  }
  std::stable_sort(addressed, order.end(),
                   [&](VariableId a, VariableId b) { return lives[a].first < lives[b].first; });
  using Ending = std::pair<std::uint32_t, VariableId>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> living;
  for (auto id = addressed; id != order.end(); ++id) {
    for (; !living.empty() && living.top().first < lives[*id].first; living.pop()) {
      const VariableId ended = living.top().second;
      const Variable& variable = kernel.variables[ended];
      variable.kind == VariableKind::Predicate ? file.give_back_flag(places[ended])
                                               : file.give_back(places[ended], storage_bytes(variable));
    }
    const Variable& variable = kernel.variables[*id];
    places[*id] =
        variable.kind == VariableKind::Predicate ? file.take_flag() : file.take(storage_bytes(variable));
    living.push({lives[*id].last, *id});
  }
  // Aliases are within their roots.
  for (VariableId id = 0; id < kernel.variables.size(); ++id) {
    if (kernel.variables[id].alias == no_variable) continue;
    const Kernel::Place place = kernel.place(id);
    if (places[place.root] != no_place)
      places[id] = places[place.root] + static_cast<std::uint32_t>(place.offset);
  }
  return layout;
}

eu::Operand Layout::general(const Kernel& kernel, const Operand& op) const {
  const Kernel::Place place = kernel.place(op.variable);
  const Variable& variable = kernel.variables[op.variable];
  const unsigned bytes = info(variable.type).bytes;
  const std::uint32_t distance = op.row * grf_bytes_ + op.column * bytes;
  eu::Operand result;
  result.kind = eu::OperandKind::Register;
  const Special* row = special(kernel.variables[place.root]);
  if (row != nullptr && row->kind == Special::Kind::ExecutionMask) {
    result.kind = eu::OperandKind::ExecutionMask;
  } else if (row != nullptr && row->kind == Special::Kind::State) {
    const auto at = static_cast<std::uint32_t>(place.offset) + distance;
    // The dispatcher puts sr0.0, where the thread runs, into r0.0, which text does not read directly.
    result.offset = row->reg == eu::StateRegister::State && at == 0 ? 0 : target_.offset(row->reg) + at;
  } else {
    result.offset = places_[op.variable] + distance;
  }
  return result;
}

eu::Operand Layout::operand(const Kernel& kernel, const Operand& op) const {
  eu::Operand result;
  const ir::Type type = op.kind == OperandKind::Indirect || op.kind == OperandKind::Immediate ||
                                op.kind == OperandKind::Null || op.kind == OperandKind::None
                            ? info(op.type).ir
                        : op.kind == OperandKind::General || op.kind == OperandKind::Raw
                            ? info(kernel.variables[op.variable].type).ir
                            : ir::Type::u16;
  const bool each_row = op.region.vertical == Region::no_stride;
  const eu::Region region{each_row ? eu::Region::vxh : op.region.vertical, op.region.width,
                          op.region.horizontal};
  switch (op.kind) {
    case OperandKind::General:
      result = general(kernel, op);
      break;
    case OperandKind::Indirect:
      result.kind = eu::OperandKind::Indirect;
      result.offset = offset(op.variable) + eu::address_bytes * op.column;
      result.address_offset = static_cast<std::int16_t>(op.offset);
      break;
    case OperandKind::Immediate:
      result.kind = eu::OperandKind::Immediate;
      result.immediate = op.immediate;
      result.packed = op.type == Type::v    ? eu::PackedVector::Signed
                      : op.type == Type::uv ? eu::PackedVector::Unsigned
                      : op.type == Type::vf ? eu::PackedVector::Float
                                            : eu::PackedVector::None;
      result.by_channel = true;
      break;
    case OperandKind::Address:
      result.kind = eu::OperandKind::Register;
      result.offset = offset(op.variable) + eu::address_bytes * op.column;
      break;
    case OperandKind::AddressOf:
      result.kind = eu::OperandKind::Immediate;
      result.immediate = (offset(op.variable) + static_cast<std::uint32_t>(op.offset)) & 0xffff;
      break;
    case OperandKind::State:
      result.kind = eu::OperandKind::Register;
      result.offset = offset(op.variable) + state_bytes * op.column;
      break;
    case OperandKind::Predicate:
      result.kind = eu::OperandKind::Flag;
      result.offset = flag(op.variable);
      break;
    case OperandKind::Raw:
      return raw(kernel, op, type);
    case OperandKind::Null:
      result.kind = eu::OperandKind::Null;
      break;
    default:
      break;
  }
  result.type = op.kind == OperandKind::State ? ir::Type::u32 : type;
  // Elements of an address variable are read in sequence; a destination has one element per channel.
  result.region =
      op.kind == OperandKind::Address ? eu::Region{0, std::max<std::uint8_t>(op.region.width, 1), 1} : region;
  using enum SourceModifier;
  result.modifier = op.modifier == Neg || op.modifier == Not ? eu::SourceModifier::Neg
                    : op.modifier == Abs                     ? eu::SourceModifier::Abs
                    : op.modifier == NegAbs                  ? eu::SourceModifier::NegAbs
                                                             : eu::SourceModifier::None;
  return result;
}

eu::Operand Layout::raw(const Kernel&, const Operand& op, ir::Type type) const {
  eu::Operand result;
  result.type = type;
  if (op.kind == OperandKind::None) return result;
  result.kind = op.kind == OperandKind::Null ? eu::OperandKind::Null : eu::OperandKind::Register;
  if (op.kind != OperandKind::Null) result.offset = raw_offset(op);
  result.region = {1, 1, 1};
  return result;
}

}  // namespace eum::visa
