#pragma once
// Emitter: building blocks shared by all kernels, for eight lanes at a time: constants, a frame of vector
// slots, addresses of texels, gathers, channels to and from numbers. The float operations match those of the
// scalar definition one for one. It must not know messages.
#include <xbyak/xbyak.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "memory/image/format.hpp"
#include "memory/image/state.hpp"

namespace eum::mem::image::kernels {

/// A 32-byte slot of the frame.
struct Slot {
  unsigned index = ~0u;
  bool has() const { return index != ~0u; }
};

/// A level as the emitted code sees it.
struct Level {
  std::array<std::uint32_t, 3> size{};
  std::uint32_t base = 0;      ///< byte offset of its first texel, for linear surfaces
  std::uint32_t x = 0, y = 0;  ///< added to coordinates, for tiled surfaces

  /// Each lane has its own level: the values are in slots, and the column's offset includes the base.
  bool varies = false;
  std::array<Slot, 3> size_slot{}, last_slot{}, number_slot{};  ///< n, n - 1, f32 of n
  Slot base_slot, x_slot, y_slot;
};

class Emitter : public Xbyak::CodeGenerator {
 public:
  using Ymm = Xbyak::Ymm;
  using Xmm = Xbyak::Xmm;
  using Address = Xbyak::Address;

  Emitter(std::byte* pages, std::size_t size, const SurfaceState& state, const FormatInfo& format);

 protected:
  Slot new_slot();
  Address at(Slot slot) const;
  /// Frees the slots from `mark` on.
  unsigned mark() const { return slots_; }
  void release(unsigned mark) { slots_ = mark; }

  /// A constant with the same value in all eight lanes, or one value per lane.
  Address splat(std::uint32_t value);
  Address splat(float value);
  Address vector(const std::array<std::uint32_t, 8>& value);
  void ones(const Ymm& y) { vpcmpeqd(y, y, y); }
  void zero(const Ymm& y) { vpxor(y, y, y); }

  /// Emits the prologue: sets up the frame and MXCSR's defaults; rdi is the call. Changing MXCSR takes longer
  /// than a small kernel runs: if the result does not depend on how denormals are treated, only the rounding
  /// mode must be right.
  void enter(bool denormals_matter);
  /// Restores what enter() changed, and emits the constants after the code.
  void leave();
  /// Sets to all ones the lanes of group `group` that are set in the 32 bits at `mask`.
  void lane_mask(const Ymm& to, const Address& mask, unsigned group);

  /// `level`, with the first texel of slice `first`.
  Level level_of(unsigned level, std::uint32_t first) const;
  /// The levels, out of `count`, whose numbers are in `index`; ymm0 to ymm2 are overwritten.
  Level levels_of(Slot index, unsigned first_level, unsigned count, std::uint32_t first);
  /// values[index]; `t` is overwritten.
  void look_up(const Ymm& to, const Ymm& index, const std::array<std::uint32_t, 16>& values, unsigned count,
               const Ymm& t);
  Address size_of(const Level& level, unsigned axis);
  Address last_of(const Level& level, unsigned axis);
  Address number_of(const Level& level, unsigned axis);
  /// Whether row_offset() adds something to row 0.
  bool moves_rows(const Level& level) const { return has_rows() && (level.varies || level.y != 0); }

  /// index * constant
  void multiply(const Ymm& y, std::uint32_t factor);
  /// Turns a column of texels into its part of the byte offset; `t` is overwritten.
  void column_offset(const Level& level, const Ymm& x, const Ymm& t);
  /// The distance in rows from one slice to the next; row_offset() takes such rows.
  std::uint32_t rows_per_slice() const;
  bool has_rows() const { return !flat_; }
  void row_offset(const Level& level, const Ymm& row, const Ymm& t);
  /// Where emit_texel_offset() expects the slice: ymm4 if the row is in ymm1, else ymm1.
  Ymm slice_register(bool rows) const { return rows ? ymm4 : ymm1; }
  /// Clears in ymm3 the lanes whose `coordinate`, as unsigned, exceeds `last`; ymm2 is overwritten.
  void keep_inside(const Ymm& coordinate, const Address& last);
  /// Computes in ymm0 the byte offsets of texels from column ymm0, row ymm1 if there are `rows`, and the
  /// slice in slice_register() if there are slices; ymm2 is overwritten.
  void emit_texel_offset(const Level& level, bool rows, bool sliced);

  /// Number of dwords per texel.
  unsigned planes() const { return (format_.bytes + 3u) / 4; }
  /// Dword `plane` of the texels at `offset` from `level.base`, for the lanes in `mask`; `offset`, `mask` and
  /// `t` are overwritten. Other lanes keep what is in `to`. Nothing beyond the surface, whose base is r8, is
  /// read.
  void gather(const Ymm& to, const Level& level, const Ymm& offset, const Ymm& mask, const Ymm& t,
              unsigned plane);
  /// Whether load_lanes() supports this texel size.
  bool is_wide() const { return format_.bytes == 8 || format_.bytes == 16; }
  /// Loads all dwords of the texels at `offset` from `level.base`, which must be inside the surface in all
  /// lanes, plane k into ymm k; ymm4 to ymm7 are overwritten. At least twice as fast as gathers.
  void load_lanes(const Level& level, Slot offset);
  /// Loads the 16 bytes of lanes `lane` (0 to 3) and `lane` + 4 into the halves of `to`.
  void load_pair(const Ymm& to, const Level& level, Slot offset, unsigned lane);
  /// Transposes four such pairs in ymm0 to ymm3 into planes; ymm4 to ymm7 are overwritten.
  void transpose();
  /// Extracts a channel of such a dword in the form a filter takes (FilterValue); `t` is overwritten.
  void decode(const Ymm& to, const Ymm& plane, const ChannelLayout& channel, const Ymm& t);
  /// Converts a filtered channel to what a shader gets.
  void divide(const Ymm& y, const ChannelLayout& channel);
  /// The bits of a channel, shifted to their place in the dword; `t` is overwritten.
  void encode(const Ymm& y, const ChannelLayout& channel, const Ymm& t);
  /// Converts f32 to f16 in the low halves.
  void to_half(const Ymm& y);

  const SurfaceState& state_;
  const FormatInfo& format_;
  std::uint64_t bytes_;  ///< of the surface

 private:
  /// Address of a lane's texel; rax is overwritten.
  Xbyak::RegExp texel_at(const Level& level, Slot offset, unsigned lane);

  static constexpr unsigned frame_slots = 128;

  std::uint32_t mode_mask_ = 0;  ///< bits of MXCSR that must be the defaults
  bool flat_;                    ///< no rows: linear 1D and buffers
  unsigned slots_ = 0;
  std::map<std::array<std::uint32_t, 8>, Xbyak::Label> constants_;
};

/// Whether Emitter can address the texels and decode their channels.
bool can_read(const SurfaceState& state, const FormatInfo& format);
/// Whether Emitter can encode the channels.
bool can_write(const FormatInfo& format);

}  // namespace eum::mem::image::kernels
