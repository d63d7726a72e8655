// Lays out a kernel and the functions that it calls one after another.
#include "frontend/visa/lower/program.hpp"

#include <algorithm>
#include <utility>

#include "frontend/eu/handlers.hpp"
#include "frontend/visa/lower/translate.hpp"
#include "frontend/visa/printer.hpp"

namespace eum::visa {
namespace {

/// Limit of a kernel and its functions, far above what compilers emit.
constexpr std::size_t max_instructions = std::size_t{1} << 24;

bool is_call(Opcode opcode) {
  return opcode == Opcode::call || opcode == Opcode::fccall || opcode == Opcode::fcall;
}

const std::string* called_function(const Kernel& kernel, const Instruction& inst) {
  const Operand& callee = kernel.operands_of(inst)[0];
  return callee.kind == OperandKind::Function ? &kernel.strings[callee.variable] : nullptr;
}

}  // namespace

Result<std::unique_ptr<Program>> Program::make(const Module& module, std::size_t kernel, unsigned grf_bytes,
                                               const Symbols& symbols) {
  std::unique_ptr<Program> program(new Program(module, symbols));
  const Result<unsigned> simd = simd_size(module.kernels[kernel]);
  if (!simd) return error("kernel {}: {}", module.kernels[kernel].name, simd.error().message);
  program->simd_ = *simd;
  if (const Result<void> added = program->add_units(kernel); !added) return added.error();
  program->add_segments();
  program->place_joins();
  if (const Result<void> placed = program->lay_out(grf_bytes); !placed) return placed.error();
  if (const Result<void> checked = program->check_calls(); !checked) return checked.error();
  return program;
}

/// Adds the kernel, then each function of the module that any unit calls by name.
Result<void> Program::add_units(std::size_t kernel) {
  std::vector<const Kernel*> found{&module_.kernels[kernel]};
  std::size_t instructions = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    instructions += found[k]->instructions.size();
    if (instructions > max_instructions)
      return error("expected at most {} instructions in a kernel and its functions, found {} or more",
                   max_instructions, instructions);
    for (const Instruction& inst : found[k]->instructions) {
      if (inst.opcode != Opcode::fcall) continue;
      const std::string* name = called_function(*found[k], inst);
      const auto callee = std::find_if(
          module_.kernels.begin(), module_.kernels.end(),
          [&](const Kernel& other) { return other.is_function && name != nullptr && other.name == *name; });
      if (callee == module_.kernels.end())
        return error("{}:{}: expected a function of this file, found {}", inst.location.line,
                     inst.location.column, name != nullptr ? *name : std::string("no name"));
      if (std::find(found.begin(), found.end(), &*callee) == found.end()) found.push_back(&*callee);
    }
  }
  for (const Kernel* each : found) {
    Unit unit;
    unit.kernel = each;
    units_.push_back(std::move(unit));
  }
  return {};
}

void Program::add_segments() {
  for (std::uint32_t u = 0; u < units_.size(); ++u) {
    Unit& unit = units_[u];
    const std::vector<Instruction>& list = unit.kernel->instructions;
    unit.first_segment = static_cast<std::uint32_t>(segments_.size());
    const auto ip = [&] { return static_cast<std::uint32_t>(entries_.size()) * unit_bytes; };
    const auto number = [&] { return static_cast<std::uint32_t>(segments_.size() - 1); };
    const auto end_segment = [&](std::uint32_t last) {
      segments_.back().last = last;
      segments_.back().end_ip = ip();
      entries_.push_back({u, last, number(), true});
    };
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      if (i == 0 || list[i].opcode == Opcode::subroutine) {
        if (i != 0) end_segment(i);
        segments_.push_back({u, i, i, ip(), 0, 0});
      }
      unit.ips.push_back(ip());
      unit.segments.push_back(number());
      entries_.push_back({u, i, number(), false});
    }
    if (list.empty()) segments_.push_back({u, 0, 0, ip(), 0, 0});
    end_segment(static_cast<std::uint32_t>(list.size()));
  }
}

/// Finds the instructions where channels reconverge. Channels that branch forward are parked at the label
/// until the others arrive, unless all active ones branch and none are parked on the way: that is a jump.
/// Channels that return early are parked at the end of the segment.
void Program::place_joins() {
  for (Unit& unit : units_) {
    const Kernel& kernel = *unit.kernel;
    const std::size_t count = kernel.instructions.size();
    unit.joins.assign(count, false);
    std::vector<bool> returns_early(segments_.size(), false);
    struct Uniform {
      std::uint32_t from, to;
    };
    std::vector<Uniform> uniform;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Instruction& inst = kernel.instructions[i];
      const Segment& segment = segments_[unit.segments[i]];
      if (inst.opcode == Opcode::goto_) {
        const std::uint32_t to = kernel.labels[kernel.operands_of(inst)[0].variable].instruction;
        const bool divides = inst.exec_size != 1 && inst.predicate.variable != no_variable;
        if (to > i && divides) unit.joins[to] = true;
        if (to > i && !divides) uniform.push_back({i, to});
        // Channels that leave the loop are parked after it.
        if (to <= i && divides && i + 1 < segment.last) unit.joins[i + 1] = true;
      } else if (inst.opcode == Opcode::ret || inst.opcode == Opcode::fret) {
        if (i + 1 != segment.last) returns_early[unit.segments[i]] = true;
      }
    }
    // A uniform branch that passes a join has to park too, which makes its label a join that others may pass.
    // Usually the first round finds none; in the last round all that remain park, which is always correct.
    constexpr unsigned rounds = 8;
    std::vector<std::uint32_t> joins_before(count + 1);
    for (unsigned round = 0; round < rounds && !uniform.empty(); ++round) {
      for (std::size_t i = 0; i < count; ++i) joins_before[i + 1] = joins_before[i] + (unit.joins[i] ? 1 : 0);
      const auto waits = std::partition(uniform.begin(), uniform.end(), [&](const Uniform& each) {
        return round + 1 < rounds && joins_before[each.to] == joins_before[each.from + 1];
      });
      if (waits == uniform.end()) break;
      for (auto each = waits; each != uniform.end(); ++each) unit.joins[each->to] = true;
      uniform.erase(waits, uniform.end());
    }
    unit.next_join.assign(count, no_ip);
    std::uint32_t next = no_ip;
    for (std::size_t i = count; i-- > 0;) {
      const std::uint32_t at = unit.segments[i];
      if (i + 1 == segments_[at].last) next = returns_early[at] ? segments_[at].end_ip : no_ip;
      unit.next_join[i] = next;
      if (unit.joins[i]) next = unit.ips[i];
    }
  }
}

Result<void> Program::lay_out(unsigned grf_bytes) {
  const Result<std::uint32_t> payload = payload_bytes(*units_.front().kernel, grf_bytes);
  if (!payload) return payload.error();
  RegisterFile file(grf_bytes, *payload);
  for (std::size_t s = 1; s < segments_.size(); ++s) segments_[s].return_slot = file.take(8);
  for (Unit& unit : units_) {
    const Layout* caller = &unit == &units_.front() ? nullptr : &units_.front().layout;
    Result<Layout> layout = Layout::make(*unit.kernel, file, caller);
    if (!layout) return layout.error();
    unit.layout = std::move(*layout);
    unit.surfaces = Surfaces(*unit.kernel);
  }
  const Result<eu::Target> target = file.target();
  if (!target) return target.error();
  for (Unit& unit : units_) unit.layout.set_target(*target);
  return {};
}

const Segment* Program::function(std::string_view name) const {
  for (const Unit& unit : units_)
    if (unit.kernel->is_function && unit.kernel->name == name) return &segments_[unit.first_segment];
  return nullptr;
}

const Segment* Program::callee(const Unit& unit, const Instruction& inst) const {
  const Operand& operand = unit.kernel->operands_of(inst)[0];
  if (operand.kind == OperandKind::Function) return function(unit.kernel->strings[operand.variable]);
  if (operand.kind != OperandKind::Label) return nullptr;
  const std::uint32_t at = unit.kernel->labels[operand.variable].instruction;
  const Segment& segment = segments_[unit.segments[at]];
  // Nothing is executed between the beginning of a subroutine and its label.
  for (std::uint32_t i = segment.first; i < at; ++i)
    if (unit.kernel->instructions[i].opcode != Opcode::subroutine) return nullptr;
  return segment.return_slot != 0 ? &segment : nullptr;
}

/// Refuses recursion: each function has a single place for its return address and variables.
Result<void> Program::check_calls() const {
  enum class State : std::uint8_t { New, Open, Done };
  std::vector<State> state(segments_.size(), State::New);
  struct Visit {
    std::uint32_t segment;
    std::uint32_t next;  ///< the instruction to visit next
  };
  std::vector<Visit> path{{0, segments_.front().first}};
  state[0] = State::Open;
  while (!path.empty()) {
    Visit& visit = path.back();
    const Segment& segment = segments_[visit.segment];
    const Unit& unit = units_[segment.unit];
    if (visit.next == segment.last) {
      state[visit.segment] = State::Done;
      path.pop_back();
      continue;
    }
    const Instruction& inst = unit.kernel->instructions[visit.next++];
    if (!is_call(inst.opcode)) continue;
    const Segment* to = callee(unit, inst);
    if (to == nullptr)
      return error("{}:{}: expected a call of a function's first place, found {}", inst.location.line,
                   inst.location.column, print(*unit.kernel, inst));
    const auto index = static_cast<std::uint32_t>(to - segments_.data());
    if (state[index] == State::Open)
      return error("{}:{}: expected functions that do not call themselves, found {}", inst.location.line,
                   inst.location.column, print(*unit.kernel, inst));
    if (state[index] == State::Done) continue;
    state[index] = State::Open;
    path.push_back({index, to->first});
  }
  return {};
}

eu::Instruction Program::end_of(const Entry& entry, std::uint32_t ip) const {
  eu::Instruction result;
  result.ip = ip;
  result.next = ip + unit_bytes;
  const Segment& segment = segments_[entry.segment];
  if (segment.return_slot == 0) {
    result.lower = &eu::lower_exit;
    result.flow.kind = eu::FlowKind::stop;
    return result;
  }
  result.lower = &eu::lower_return;
  result.flow.kind = eu::FlowKind::return_;
  result.source_count = 1;
  result.src[0].kind = eu::OperandKind::Register;
  result.src[0].type = ir::Type::u32;
  result.src[0].offset = segment.return_slot;
  return result;
}

Result<eu::Instruction> Program::fetch(std::uint32_t ip) const {
  const Entry& entry = entries_[ip / unit_bytes];
  if (entry.end) return end_of(entry, ip);
  eu::Instruction result;
  if (!translate(*this, units_[entry.unit], entry.instruction, result)) result.lower = nullptr;
  return result;
}

std::string Program::text(std::uint32_t ip) const {
  const Entry& entry = entries_[ip / unit_bytes];
  const Unit& unit = units_[entry.unit];
  if (entry.end) return fmt::format("end of {}", unit.kernel->name);
  const Instruction& inst = unit.kernel->instructions[entry.instruction];
  return fmt::format("line {}: {}", inst.location.line, print(*unit.kernel, inst));
}

std::string Program::refusal(std::uint32_t ip) const {
  const Entry& entry = entries_[ip / unit_bytes];
  eu::Instruction ignored;
  const Result<void> translated = translate(*this, units_[entry.unit], entry.instruction, ignored);
  return fmt::format("unsupported: {} ({})", text(ip), translated ? "" : translated.error().message);
}

}  // namespace eum::visa
