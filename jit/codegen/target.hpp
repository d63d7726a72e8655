#pragma once
// What code generation has to know of a host, its registers, and the moves that the host emits for it.
#include <cstdint>

#include "frontend/ir/types.hpp"

namespace eum::jit::codegen {

struct Target {
  /// Bytes of a vector register; the register file is cached in slots of this size.
  unsigned vector_bytes = 32;
  unsigned vector_registers = 16;
  /// Bit r: vector register r is one of those in which lanes of masks are best, as all instructions reach it.
  std::uint32_t lane_registers = 0xffff;
  /// Bit r: general register r may be allocated.
  std::uint32_t general_registers = 0;
  /// Bit r: mask register r may be allocated. 0: there are none, and masks are bits in a general register or
  /// lanes of vectors.
  std::uint32_t mask_registers = 0;

  unsigned lanes_per_vector(unsigned element_bytes) const { return vector_bytes / element_bytes; }
};

/// A place in memory that translated code can name.
struct Location {
  enum class Where : std::uint8_t {
    Nowhere,
    Frame,         ///< byte of the host stack frame
    RegisterFile,  ///< byte of the guest's register file in the thread's state
    Pool,          ///< byte of the constant pool
    Header,        ///< byte of the header of the group with which a thread begins; it never changes
    Surfaces,      ///< byte of the launch's table of surfaces, which never changes
  } where = Where::Nowhere;
  std::int32_t offset = 0;

  /// Holds guest registers: scalars can be read there directly.
  bool has_registers() const { return where == Where::RegisterFile || where == Where::Header; }
  explicit operator bool() const { return where != Where::Nowhere; }
  bool operator==(const Location&) const = default;
  Location plus(std::int32_t bytes) const { return {where, offset + bytes}; }

  static Location frame(std::int32_t offset) { return {Where::Frame, offset}; }
  static Location file(unsigned offset) { return {Where::RegisterFile, static_cast<std::int32_t>(offset)}; }
  static Location pool(std::int32_t offset) { return {Where::Pool, offset}; }
  static Location header(unsigned offset) { return {Where::Header, static_cast<std::int32_t>(offset)}; }
  static Location surfaces(unsigned offset) { return {Where::Surfaces, static_cast<std::int32_t>(offset)}; }
};

/// The moves that allocation needs between registers and memory; a host emits them. Registers are numbers of
/// their class.
class Moves {
 public:
  virtual ~Moves() = default;

  /// At least `bytes` of a vector; what the register holds above them is undefined.
  virtual void load_vector(unsigned reg, Location from, unsigned bytes) = 0;
  /// Exactly `bytes`, a power of two.
  virtual void store_vector(Location to, unsigned reg, unsigned bytes) = 0;
  virtual void move_vector(unsigned to, unsigned from) = 0;
  /// Lane 0, of 4 or 8 bytes, to a general register.
  virtual void take_first_lane(unsigned to, unsigned from, unsigned bytes) = 0;

  /// A scalar or a mask's bits of `type`, extended to the form that scalars of the type have in registers.
  virtual void load_general(unsigned reg, Location from, ir::Type type) = 0;
  /// All 8 bytes; what load_whole reads back.
  virtual void store_whole(Location to, unsigned reg) = 0;
  virtual void load_whole(unsigned reg, Location from) = 0;
  virtual void move_general(unsigned to, unsigned from) = 0;
  virtual void set_general(unsigned reg, std::uint64_t constant) = 0;

  // Masks: lanes of `width` bytes in vector registers, all ones or all zeros, and one bit per lane in a
  // general register. `chunk` counts vectors from the mask's first lane. Scratch registers are passed where
  // the host asks for them. With mask registers, `lanes` is one of those, which has a bit for each lane of
  // the chunk.

  /// One bit for each lane of a vector.
  virtual void pack_mask(unsigned bits, unsigned lanes, unsigned width, unsigned vector_scratch) = 0;
  virtual bool packing_needs_vector(unsigned width) const = 0;
  /// bits |= part << by, and bits &= mask.
  virtual void join_bits(unsigned bits, unsigned part, unsigned by) = 0;
  virtual void keep_bits(unsigned bits, std::uint32_t mask) = 0;
  virtual void spread_mask(unsigned lanes, unsigned bits, unsigned width, unsigned chunk,
                           unsigned general_scratch) = 0;
  /// The lanes of chunks 0 and 1 from the same bits.
  virtual void spread_mask_pair(unsigned first, unsigned second, unsigned bits, unsigned width) = 0;
  /// The same for lanes of 4 or 8 bytes of which only the sign is valid; `second`, if it is another register,
  /// gets the next chunk. complete_signs() makes such lanes whole.
  virtual void spread_signs(unsigned first, unsigned second, unsigned bits, unsigned width,
                            unsigned chunk) = 0;
  virtual void complete_signs(unsigned lanes, unsigned width) = 0;
  /// Whether spread_signs() and spread_execution() give whole lanes.
  virtual bool spreads_whole_lanes() const = 0;
  /// Lanes of `width` bytes from two vectors with whole lanes of twice as many.
  virtual void narrow_lanes(unsigned to, unsigned first, unsigned second, unsigned width) = 0;
  /// `to` = lanes of 8 bytes from part `part` of lanes of 4.
  virtual void widen_lanes(unsigned to, unsigned from, unsigned part) = 0;
  /// spread_signs() for the execution mask.
  virtual void spread_execution(unsigned first, unsigned second, unsigned width, unsigned chunk) = 0;
  virtual bool spreading_needs_general(unsigned width, unsigned chunk) const = 0;

  // With mask registers. Their bits above the lanes of a chunk are undefined.
  /// The bits from `first` on.
  virtual void load_mask(unsigned mask, unsigned bits, unsigned first) = 0;
  /// bits = those of the mask `low`, then those of `high`, with `lanes` each. False: the host cannot do it.
  virtual bool pack_mask_pair(unsigned bits, unsigned low, unsigned high, unsigned lanes) = 0;
  /// One bit for each lane of 4 or 8 bytes of a vector, as without mask registers.
  virtual void pack_lanes(unsigned bits, unsigned lanes, unsigned width) = 0;
  /// Lanes of `width` bytes in a vector register.
  virtual void mask_to_lanes(unsigned vector, unsigned mask, unsigned width) = 0;
};

}  // namespace eum::jit::codegen
