// Relocations. The loader has checked that each lies inside what it changes.
#include "runtime/relocate.hpp"

#include <cstring>
#include <span>

#include "frontend/visa/kernel.hpp"

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

Result<std::shared_ptr<const visa::Module>> relocated_text(const TextFile& file,
                                                           const SegmentAddresses& addresses) {
  if (file.relocations.empty()) return file.module;
  auto module = std::make_shared<visa::Module>(*file.module);
  for (const TextRelocation& r : file.relocations) {
    const auto& base = addresses[r.segment];
    if (!base) return error("the program's {} have no address, the text needs it", segment_name(r.segment));
    visa::Kernel& kernel = module->kernels[r.kernel];
    visa::Instruction& inst = kernel.instructions[r.instruction];
    // faddr NAME destination
    const visa::Operand destination = kernel.operands_of(inst)[1];
    visa::Operand address;
    address.kind = visa::OperandKind::Immediate;
    address.type = visa::Type::uq;
    address.immediate = *base + r.offset;
    inst.opcode = visa::Opcode::mov;
    inst.no_mask = true;
    inst.exec_size = 1;
    inst.first_operand = static_cast<std::uint32_t>(kernel.operands.size());
    inst.operand_count = 2;
    kernel.operands.insert(kernel.operands.end(), {destination, address});
  }
  return std::shared_ptr<const visa::Module>(std::move(module));
}

Result<std::vector<std::byte>> relocated_bytes(const SegmentData& segment,
                                               const SegmentAddresses& addresses) {
  std::vector<std::byte> bytes = segment.bytes;
  if (auto done = apply(segment.relocations, addresses, bytes); !done) return done.error();
  return bytes;
}

}  // namespace eum::rt
