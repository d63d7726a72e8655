#pragma once
// What translated code keeps where: the host stack frame, the fixed registers, the constant pool.
#include <asmjit/x86.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "jit/engine.hpp"

namespace eum::jit {

namespace x86 = asmjit::x86;

/// Something that the translation relies on does not hold: a bug of ours, whatever the guest's code is.
struct EngineBug : std::logic_error {
  using std::logic_error::logic_error;
};

/// rbx points to the ThreadState, r15 to the binding table, rsp to the frame; everything else is allocated.
inline const x86::Gp state_reg = x86::rbx;
inline const x86::Gp surfaces_reg = x86::r15;

/// Offsets from rsp. Operand areas hold packed lanes for calls of C++ functions.
struct Frame {
  static constexpr int operand_bytes = 256;                  // 32 lanes of 8 bytes
  static constexpr int operands = 0;                         // 4 operands
  static constexpr int data = operands + 4 * operand_bytes;  // 4 components of a message, or 2 results
  static constexpr int saved_ymm = data + 4 * operand_bytes;
  static constexpr int saved_gp = saved_ymm + 16 * 32;
  static constexpr int host_rsp = saved_gp + 16 * 8;
  static constexpr int spills = host_rsp + 32;
};

/// 32-byte constants behind the code, each kept once.
class ConstantPool {
 public:
  using Entry = std::array<std::uint8_t, 32>;

  explicit ConstantPool(asmjit::Label label) : label_(label) {}

  x86::Mem add(const Entry& entry) { return x86::ptr(label_, index_of(entry), 32); }
  /// `bits` of `bytes` (1, 2, 4, 8) width in every lane.
  x86::Mem splat(std::uint64_t bits, unsigned bytes) { return add(splat_entry(bits, bytes)); }
  static Entry splat_entry(std::uint64_t bits, unsigned bytes) {
    Entry entry;
    for (unsigned i = 0; i < 32; i += bytes) std::memcpy(entry.data() + i, &bits, bytes);
    return entry;
  }
  std::int32_t index_of(const Entry& entry) {
    const auto [known, added] = offsets_.try_emplace(entry, static_cast<std::int32_t>(entries_.size() * 32));
    if (added) entries_.push_back(entry);
    return known->second;
  }
  x86::Mem at(std::int32_t offset) const { return x86::ptr(label_, offset, 32); }
  void emit(x86::Assembler& a) const {
    a.align(asmjit::AlignMode::kData, 32);
    a.bind(label_);
    if (!entries_.empty()) a.embed(entries_.data(), entries_.size() * sizeof(Entry));
  }

 private:
  struct Hash {
    std::size_t operator()(const Entry& entry) const {
      return std::hash<std::string_view>()({reinterpret_cast<const char*>(entry.data()), entry.size()});
    }
  };
  asmjit::Label label_;
  std::vector<Entry> entries_;
  std::unordered_map<Entry, std::int32_t, Hash> offsets_;
};

}  // namespace eum::jit
