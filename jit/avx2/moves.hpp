#pragma once
// The moves that the allocator needs, as AVX2 instructions.
#include "jit/avx2/assembler.hpp"
#include "jit/avx2/frame.hpp"
#include "jit/codegen/constant_pool.hpp"

namespace eum::jit::avx2 {

class Moves final : public codegen::Moves {
 public:
  Moves(Assembler& a, codegen::ConstantPool& pool, const StateLayout& layout, const codegen::Target& target)
      : a_(a),
        pool_(pool),
        layout_(layout),
        has_mask_registers_(target.mask_registers != 0),
        spreads_whole_lanes_(target.vector_registers > 16) {}

  x86::Mem memory(codegen::Location location, unsigned bytes) const;
  x86::Mem constant(const codegen::ConstantPool::Entry& entry) {
    return memory(codegen::Location::pool(pool_.add(entry)), 32);
  }

  void load_vector(unsigned reg, codegen::Location from, unsigned bytes) override;
  void store_vector(codegen::Location to, unsigned reg, unsigned bytes) override;
  void move_vector(unsigned to, unsigned from) override;
  void take_first_lane(unsigned to, unsigned from, unsigned bytes) override;
  void load_general(unsigned reg, codegen::Location from, ir::Type type) override;
  void store_whole(codegen::Location to, unsigned reg) override;
  void load_whole(unsigned reg, codegen::Location from) override;
  void move_general(unsigned to, unsigned from) override;
  void set_general(unsigned reg, std::uint64_t constant) override;
  void pack_lanes(unsigned bits, unsigned lanes, unsigned width) override;
  void pack_mask(unsigned bits, unsigned lanes, unsigned width, unsigned vector_scratch) override;
  bool packing_needs_vector(unsigned width) const override { return width == 2 && !has_mask_registers_; }
  void join_bits(unsigned bits, unsigned part, unsigned by) override;
  void keep_bits(unsigned bits, std::uint32_t mask) override;
  void spread_mask(unsigned lanes, unsigned bits, unsigned width, unsigned chunk,
                   unsigned general_scratch) override;
  void spread_mask_pair(unsigned first, unsigned second, unsigned bits, unsigned width) override;
  void spread_signs(unsigned first, unsigned second, unsigned bits, unsigned width, unsigned chunk) override;
  void complete_signs(unsigned lanes, unsigned width) override;
  bool spreads_whole_lanes() const override { return spreads_whole_lanes_; }
  void narrow_lanes(unsigned to, unsigned first, unsigned second, unsigned width) override;
  void widen_lanes(unsigned to, unsigned from, unsigned part) override;
  void spread_execution(unsigned first, unsigned second, unsigned width, unsigned chunk) override;
  bool spreading_needs_general(unsigned width, unsigned chunk) const override {
    return width <= 2 && chunk > 0;
  }
  void load_mask(unsigned mask, unsigned bits, unsigned first) override;
  bool pack_mask_pair(unsigned bits, unsigned low, unsigned high, unsigned lanes) override;
  void mask_to_lanes(unsigned vector, unsigned mask, unsigned width) override;

 private:
  static codegen::ConstantPool::Entry lane_bits(unsigned width, unsigned first);
  void broadcast_bits(x86::Ymm to, x86::Gp from, unsigned width);
  void test_lane_bits(x86::Ymm to, x86::Ymm from, const x86::Mem& mask, unsigned width);

  Assembler& a_;
  codegen::ConstantPool& pool_;
  const StateLayout layout_;
  bool has_mask_registers_;
  bool spreads_whole_lanes_;  ///< selections in registers 16 to 31 take whole ones
};

/// Loads the scalar at `from` in the form that scalars of the type have in registers: 8 and 16 bits extended
/// to 32 by the type's sign.
void load_scalar(x86::Assembler& a, x86::Gp to, x86::Mem from, ir::Type type);

}  // namespace eum::jit::avx2
