// Probes a kernel of one instruction, without encoding it.
#include "frontend/gen/isa/probe.hpp"

#include <algorithm>

#include "frontend/eu/handlers.hpp"
#include "frontend/eu/lower.hpp"
#include "frontend/gen/lower/lower.hpp"
#include "frontend/gen/lower/translate.hpp"

namespace eum::gen {
namespace {

class OneInstruction final : public eu::Program {
 public:
  OneInstruction(const eu::Instruction& instruction, std::string refusal)
      : instruction_(instruction), refusal_(std::move(refusal)) {}

  std::uint32_t bytes() const override { return 2 * size; }
  Result<eu::Instruction> fetch(std::uint32_t ip) const override {
    if (ip == 0) return instruction_;
    eu::Instruction end;
    end.lower = &eu::lower_exit;
    end.flow.kind = eu::FlowKind::stop;
    end.ip = ip;
    end.next = ip + size;
    return end;
  }
  std::string text(std::uint32_t) const override { return {}; }
  std::string refusal(std::uint32_t) const override { return refusal_; }
  std::uint32_t step(std::uint32_t) const override { return size; }

 private:
  static constexpr std::uint32_t size = 16;
  eu::Instruction instruction_;
  std::string refusal_;
};

Execution execution_of(ir::Backend backend) {
  switch (backend) {
    case ir::Backend::Native:
      return Execution::Native;
    case ir::Backend::Table:
      return Execution::Helper;
    case ir::Backend::Expand:
      return Execution::Expanded;
  }
  return Execution::Unsupported;
}

/// How trap texts of unsupported forms begin; the text of the instruction, which follows, is empty here.
constexpr std::string_view fault = "unsupported: ";

}  // namespace

Probed probe(const Instruction& instruction, Family family) {
  eu::Instruction translated;
  std::string refusal;
  if (const auto done = translate(instruction, family, translated); !done) {
    translated.lower = nullptr;
    refusal = std::string(fault) + done.error().message;
  }
  const auto function =
      eu::lower(OneInstruction(translated, std::move(refusal)), target(family), 16, "one instruction");
  if (!function) return {Execution::Unsupported, function.error().message};
  Probed found;
  for (const ir::Block& block : function->blocks)
    for (const ir::Inst& inst : block.insts) {
      if (inst.guest_ip != instruction.offset) continue;
      found.execution = std::max(found.execution, execution_of(ir::info(inst.op).backend));
      if (inst.op != ir::Op::trap) continue;
      // A fault may be the instruction's meaning (illegal); only traps with this prefix are unsupported
      // forms.
      const std::string& text = function->strings[static_cast<std::size_t>(inst.imm)];
      if (!text.starts_with(fault)) continue;
      std::string_view reason = std::string_view(text).substr(fault.size());
      if (reason.starts_with(" (") && reason.ends_with(')')) {
        reason.remove_prefix(2);
        reason.remove_suffix(1);
      }
      return {Execution::Unsupported, std::string(reason)};
    }
  return found;
}

}  // namespace eum::gen
