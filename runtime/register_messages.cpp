// Each message becomes a function that the reference engine runs: host code for a single instruction would
// gain almost nothing, and the reference engine needs no executable memory.
#include "runtime/register_messages.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "frontend/gen/lower/lower.hpp"
#include "memory/base/aligned_bytes.hpp"
#include "memory/base/within_host.hpp"

namespace eum::rt {
namespace {

using Descriptors = std::array<std::uint32_t, 2>;

/// A message translated for particular values of its descriptors.
struct Message {
  std::unique_ptr<jit::Executable> executable;  ///< null: the message is refused
  std::string refusal;
  std::vector<std::string> traps;
};

class RegisterMessages final : public jit::Executable {
 public:
  RegisterMessages(std::unique_ptr<jit::Executable> code, const ir::Function& function,
                   const KernelCode& kernel)
      : Executable(function),
        code_(std::move(code)),
        bytes_(kernel.bytes.begin(), kernel.bytes.end()),
        family_(kernel.family),
        simd_(kernel.simd),
        engine_(jit::make_reference_engine()) {}

  using Executable::run;
  jit::Status run(jit::ThreadState& state, jit::FpScope& scope) const override {
    for (;;) {
      const jit::Status status = code_->run(state, scope);
      if (status != jit::Status::Faulted || state.fault.kind != jit::FaultKind::RegisterMessage)
        return status;
      const std::uint32_t ip = state.fault.guest_ip;
      const auto after =
          within_host("a message", [&]() -> Result<jit::Status> { return send(state, scope); });
      if (!after) {
        state.fault = {.kind = jit::FaultKind::Refused,
                       .guest_ip = ip,
                       .reason = "the host has no memory for the message"};
        return jit::Status::Faulted;
      }
      if (*after != jit::Status::Paused) return *after;
      if (state.budget <= 0) return jit::Status::Paused;
    }
  }
  std::size_t code_bytes() const override { return code_->code_bytes(); }
  std::size_t metadata_bytes() const override {
    return Executable::metadata_bytes() + code_->metadata_bytes() + bytes_.size();
  }
  std::string listing() const override { return code_->listing(); }
  jit::HostMap host_map() const override { return code_->host_map(); }

 private:
  using Key = std::pair<std::uint32_t, Descriptors>;  // byte offset, values
  static constexpr std::size_t most_messages = 1024;

  /// Returns Paused if the thread is after the message.
  jit::Status send(jit::ThreadState& state, jit::FpScope& scope) const {
    const std::uint32_t ip = state.fault.guest_ip;
    const auto form = gen::register_message(bytes_, family_, ip);
    if (!form) return jit::Status::Faulted;
    jit::ThreadImage image = code_->save(state, jit::Status::Faulted);
    Descriptors values{};
    const std::uint32_t address = gen::target(family_).offset(eu::StateRegister::Address);
    for (std::size_t k = 0; k < values.size(); ++k)
      if (form->dwords[k] >= 0)
        std::memcpy(&values[k],
                    image.registers.data() + address + 4 * static_cast<std::uint32_t>(form->dwords[k]), 4);
    const std::shared_ptr<const Message> message = translated({ip, values});
    if (message->executable == nullptr) return refused(state, ip, message->refusal);

    const jit::Executable& code = *message->executable;
    mem::AlignedBytes memory;
    if (auto got = memory.reserve(code.layout().size); !got) return refused(state, ip, got.error().message);
    std::memset(memory.data(), 0, code.layout().size);
    auto& own = *new (memory.data()) jit::ThreadState;
    own.environment = state.environment;
    // Parked channels take no part in a message.
    const auto parked = std::exchange(image.parked, {});
    image.ip = 0;
    if (!code.restore(image, own)) return jit::Status::Faulted;
    own.budget = 1;
    const jit::Status status = code.run(own, scope);
    if (status == jit::Status::Faulted) {
      const jit::Fault fault = own.fault;
      if (jit::has_text(fault.kind)) return refused(state, ip, message->traps[fault.address]);
      state.fault = fault;
      state.fault.guest_ip = ip;
      return status;
    }
    if (status == jit::Status::Exited) return status;
    image = code.save(own, status);
    image.parked = parked;
    image.ip = ip + form->bytes;
    return code_->restore(image, state) ? status : jit::Status::Faulted;
  }

  jit::Status refused(jit::ThreadState& state, std::uint32_t ip, const std::string& reason) const {
    const std::lock_guard lock(mutex_);
    state.fault = {.kind = jit::FaultKind::Refused,
                   .guest_ip = ip,
                   .reason = refusals_.insert(single_spaced(reason)).first->c_str()};
    return jit::Status::Faulted;
  }

  std::shared_ptr<const Message> translated(const Key& key) const {
    const std::lock_guard lock(mutex_);
    if (const auto at = messages_.find(key); at != messages_.end()) return at->second;
    if (messages_.size() == most_messages) messages_.clear();
    const auto message = std::make_shared<Message>(translate(key));
    messages_.emplace(key, message);
    return message;
  }
  Message translate(const Key& key) const {
    const auto& [ip, descriptors] = key;
    auto function = gen::lower_message(bytes_, family_, simd_, ip, descriptors);
    if (!function) return {nullptr, function.error().message, {}};
    auto executable = engine_->compile(*function, {.safepoints = jit::Safepoints::Messages});
    if (!executable) return {nullptr, executable.error().message, {}};
    return {std::move(*executable), {}, {function->strings.begin(), function->strings.end()}};
  }

  std::unique_ptr<jit::Executable> code_;
  std::vector<std::byte> bytes_;
  gen::Family family_;
  unsigned simd_;
  std::unique_ptr<jit::Engine> engine_;
  mutable std::mutex mutex_;
  mutable std::map<Key, std::shared_ptr<const Message>> messages_;
  mutable std::set<std::string> refusals_;  // texts that faults refer to
};

}  // namespace

bool has_register_messages(const ir::Function& function) {
  return std::ranges::any_of(function.blocks, [](const ir::Block& block) {
    return block.insts.back().op == ir::Op::register_message;
  });
}

std::unique_ptr<jit::Executable> with_register_messages(std::unique_ptr<jit::Executable> code,
                                                        const ir::Function& function,
                                                        const KernelCode& kernel) {
  return std::make_unique<RegisterMessages>(std::move(code), function, kernel);
}

}  // namespace eum::rt
