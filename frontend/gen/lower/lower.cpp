// A GEN kernel as a program of the EU: decodes and translates instructions when lowering requests them.
#include "frontend/gen/lower/lower.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "frontend/gen/lower/translate.hpp"

namespace eum::gen {
namespace {

/// Limit of a kernel: far above what compilers emit, and low enough that offsets do not overflow.
constexpr std::size_t max_kernel_bytes = std::size_t{1} << 30;

class KernelProgram final : public eu::Program {
 public:
  KernelProgram(std::span<const std::byte> code, Family family) : code_(code), family_(family) {}

  std::uint32_t bytes() const override { return static_cast<std::uint32_t>(code_.size()); }
  Result<eu::Instruction> fetch(std::uint32_t ip) const override {
    const Result<Instruction> decoded = decode(code_, ip, family_);
    if (!decoded) return decoded.error();
    // Copying a constant is cheaper than initialising field by field.
    static constexpr eu::Instruction blank{};
    Result<eu::Instruction> translated{blank};
    if (!translate(*decoded, family_, *translated)) translated->lower = nullptr;
    return translated;
  }
  Result<eu::Instruction> with_descriptors(std::uint32_t ip,
                                           const std::array<std::uint32_t, 2>& values) const override {
    Result<Instruction> decoded = decode(code_, ip, family_);
    if (!decoded) return decoded.error();
    Descriptor* const descriptors[] = {&decoded->send.desc, &decoded->send.ex_desc};
    for (std::size_t k = 0; k < values.size(); ++k)
      if (descriptors[k]->is_register) *descriptors[k] = {.value = values[k]};
    eu::Instruction translated;
    if (const auto done = translate(*decoded, family_, translated); !done) return done.error();
    return translated;
  }
  std::string text(std::uint32_t ip) const override {
    const Result<Instruction> decoded = decode(code_, ip, family_);
    return decoded ? print(*decoded, family_) : decoded.error().message;
  }
  std::string refusal(std::uint32_t ip) const override {
    const Result<Instruction> decoded = decode(code_, ip, family_);
    if (!decoded) return decoded.error().message;
    eu::Instruction ignored;
    const Result<void> translated = translate(*decoded, family_, ignored);
    return fmt::format("unsupported: {} ({})", print(*decoded, family_),
                       translated ? "" : translated.error().message);
  }
  std::uint32_t step(std::uint32_t ip) const override {
    constexpr std::uint32_t longest = 16;
    return code_.size() - ip < 4 ? longest : static_cast<std::uint32_t>(length_at(code_, ip, family_));
  }

 private:
  std::span<const std::byte> code_;
  Family family_;
};

/// A program of one message.
class MessageProgram final : public eu::Program {
 public:
  MessageProgram(const KernelProgram& message, const eu::Instruction& translated)
      : message_(message), translated_(translated) {}

  std::uint32_t bytes() const override { return translated_.next + unit_bytes; }
  Result<eu::Instruction> fetch(std::uint32_t ip) const override {
    if (ip == 0) return translated_;
    return error("the message has been done");
  }
  std::string text(std::uint32_t ip) const override { return message_.text(ip); }
  std::string refusal(std::uint32_t ip) const override { return message_.refusal(ip); }
  std::uint32_t step(std::uint32_t) const override { return unit_bytes; }

 private:
  const KernelProgram& message_;
  const eu::Instruction& translated_;
};

}  // namespace

eu::Target target(Family family) {
  static constexpr std::array names{
#define GEN_FAMILY(name, text, iga64, ...) "gen" iga64,
#include "frontend/gen/families.def"
#undef GEN_FAMILY
  };
  const FamilyInfo& row = info(family);
  return {names[static_cast<std::size_t>(family)], row.grf_bytes, row.grf_count,
          static_cast<std::uint16_t>(row.flag_registers * eu::flag_register_bits)};
}

Result<ir::Function> lower_kernel(std::span<const std::byte> code, Family family, unsigned simd,
                                  std::string name, std::pmr::memory_resource* memory,
                                  const eu::LowerOptions& options) {
  if (code.size() > max_kernel_bytes)
    return error("kernel {}: expected at most {} bytes of code, found {}", name, max_kernel_bytes,
                 code.size());
  return eu::lower(KernelProgram(code, family), target(family), simd, std::move(name), options, memory);
}

Result<RegisterMessage> register_message(std::span<const std::byte> code, Family family, std::uint32_t ip) {
  const Result<eu::Instruction> message = KernelProgram(code, family).fetch(ip);
  if (!message) return message.error();
  if (!message->needs_descriptors())
    return error("expected a message with a descriptor in a register at byte {:#x}", ip);
  return RegisterMessage{message->descriptors, message->next - message->ip};
}

Result<ir::Function> lower_message(std::span<const std::byte> code, Family family, unsigned simd,
                                   std::uint32_t ip, const std::array<std::uint32_t, 2>& descriptors) {
  const KernelProgram message(code.subspan(std::min<std::size_t>(ip, code.size())), family);
  const Result<eu::Instruction> translated = message.with_descriptors(0, descriptors);
  if (!translated) return translated.error();
  eu::LowerOptions options;
  options.granularity = eu::Granularity::Message;
  return eu::lower(MessageProgram(message, *translated), target(family), simd,
                   fmt::format("message at byte {:#x}", ip), options);
}

}  // namespace eum::gen
