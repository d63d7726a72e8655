#pragma once
// Values: where each value of the block that is being translated is. It knows places, not how they are
// accessed.
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/codegen/block_code.hpp"
#include "jit/codegen/target.hpp"

namespace eum::jit::codegen {

/// A register, or memory, or both with the same content.
struct Place {
  std::int8_t reg = -1;
  Location copy;

  bool somewhere() const { return reg >= 0 || copy; }
};

enum class ValueKind : std::uint8_t {
  Vector,  ///< lanes in as many vector registers as they take
  Scalar,  ///< one lane of an integer: in a general register, extended to 32 bits by its type's sign
  Mask,    ///< one bit per lane in a general register, or lanes of some width in vector registers
};

struct Value {
  ValueKind kind = ValueKind::Vector;
  std::uint8_t chunks = 0;  ///< vector registers that it may take
  /// Bytes of a lane of a mask's first vector form, which has all chunks unless the mask has bits; 0 = no
  /// form.
  std::uint8_t mask_width = 0;
  /// Sum of the widths of a mask's vector forms of which only the sign of each lane is valid.
  std::uint8_t signs_only = 0;
  /// A bit for each chunk of those forms whose lanes have since been made whole, in its only place.
  std::uint32_t made_whole = 0;
  /// Sum of the widths of a mask's vector forms that were made from its bits.
  std::uint8_t of_bits = 0;
  bool is_constant = false;
  /// A mask has lanes in vectors despite mask registers.
  bool in_vectors = false;
  std::uint32_t first_place = 0;  ///< of chunks
  std::uint32_t next_use = never;
  Place general;  ///< of a scalar, or of a mask's bits
  /// For a part of another mask: that mask, and the lane from which the part begins.
  ir::ValueId part_of = ir::no_value;
  std::uint8_t first_lane = 0;
  std::uint64_t constant = 0;
};

class Values {
 public:
  Values(const ir::Function& function, unsigned vector_bytes)
      : function_(function),
        vector_bytes_(vector_bytes),
        vector_shift_(std::countr_zero(vector_bytes)),
        values_(function.values.size()) {}

  void begin_block(const BlockCode& code) {
    std::uint32_t places = 0;
    for (const CodeInst& inst : code.insts())
      for (unsigned k = 0; k < inst.result_count; ++k) {
        add(inst.result + k, inst.first_use[k], places);
        places += values_[inst.result + k].chunks;
      }
    places_.assign(places, {});
  }
  Value& operator[](ir::ValueId id) { return values_[id]; }
  const Value& operator[](ir::ValueId id) const { return values_[id]; }
  Place& place(ir::ValueId id, unsigned chunk) { return places_[values_[id].first_place + chunk]; }
  const Place& place(ir::ValueId id, unsigned chunk) const {
    return places_[values_[id].first_place + chunk];
  }
  /// The places of all its chunks.
  std::span<Place> places(ir::ValueId id) {
    return std::span(places_).subspan(values_[id].first_place, values_[id].chunks);
  }
  /// The place of a chunk of a mask's form with lanes of `width` bytes: places of the first form come before
  /// those of the others.
  unsigned mask_chunk(ir::ValueId mask, unsigned width, unsigned chunk) const {
    if (values_[mask].mask_width == width) return chunk;
    unsigned first = chunks_of_mask(mask, 8);
    for (unsigned wider = 8; wider > width; wider /= 2) first += chunks_of_mask(mask, wider);
    return first + chunk;
  }
  const ir::ValueInfo& info(ir::ValueId id) const { return function_.values[id]; }
  /// Bytes of a vector value from `chunk` on; for a mask's lanes a whole register.
  unsigned bytes_from(ir::ValueId id, unsigned chunk) const {
    const ir::ValueInfo& v = info(id);
    return ir::is_mask(v.type) ? vector_bytes_ : v.lanes * ir::size_of(v.type) - chunk * vector_bytes_;
  }

 private:
  void add(ir::ValueId id, std::uint32_t first_use, std::uint32_t first_place) {
    const ir::ValueInfo& v = info(id);
    Value& value = values_[id] = {};
    value.next_use = first_use;
    value.first_place = first_place;
    if (ir::is_mask(v.type)) {
      value.kind = ValueKind::Mask;
      unsigned chunks = chunks_of_mask(id, 8);
      for (const unsigned width : {8u, 4u, 2u, 1u}) chunks += chunks_of_mask(id, width);
      value.chunks = static_cast<std::uint8_t>(chunks);
    } else if (v.lanes == 1 && ir::is_int(v.type)) {
      value.kind = ValueKind::Scalar;
    } else {
      value.chunks = static_cast<std::uint8_t>(vectors_of(v.lanes * ir::size_of(v.type)));
    }
  }

  unsigned chunks_of_mask(ir::ValueId mask, unsigned width) const {
    return vectors_of(info(mask).lanes * width);
  }
  unsigned vectors_of(unsigned bytes) const { return (bytes + vector_bytes_ - 1) >> vector_shift_; }

  const ir::Function& function_;
  unsigned vector_bytes_;  // a power of two
  int vector_shift_;
  std::vector<Value> values_;
  std::vector<Place> places_;
};

}  // namespace eum::jit::codegen
