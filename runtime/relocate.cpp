// Applies relocations. The loader has checked that each lies inside the bytes that it changes.
#include "runtime/relocate.hpp"

#include <cstring>
#include <span>

namespace eum::rt {
namespace {

Result<void> apply(std::span<const Relocation> relocations, const SegmentAddresses& addresses,
                   std::vector<std::byte>& bytes) {
  for (const Relocation& r : relocations) {
    const auto& base = addresses[r.segment];
    if (!base)
      return error("the program's {} have no address, a relocation needs it", segment_name(r.segment));
    std::uint64_t value = *base + r.addend;
    if (r.kind == Relocation::Kind::AddressHigh32) value >>= 32;
    const std::size_t size = r.kind == Relocation::Kind::Address64 ? 8 : 4;
    std::memcpy(bytes.data() + r.offset, &value, size);
  }
  return {};
}

}  // namespace

Result<std::vector<std::byte>> relocated_code(const Kernel& kernel, const SegmentAddresses& addresses) {
  std::vector<std::byte> code = kernel.code;
  if (auto done = apply(kernel.relocations, addresses, code); !done) {
    return error("kernel {}: {}", kernel.name, done.error().message);
  }
  return code;
}

visa::Symbols symbol_addresses(const Program& program, const SegmentAddresses& addresses) {
  visa::Symbols symbols;
  for (const Symbol& symbol : program.symbols)
    if (const auto& base = addresses[symbol.segment]) symbols.emplace(symbol.name, *base + symbol.offset);
  return symbols;
}

Result<std::vector<std::byte>> relocated_bytes(const SegmentData& segment,
                                               const SegmentAddresses& addresses) {
  std::vector<std::byte> bytes = segment.bytes;
  if (auto done = apply(segment.relocations, addresses, bytes); !done) return done.error();
  return bytes;
}

}  // namespace eum::rt
