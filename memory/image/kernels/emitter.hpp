#pragma once
// Emitter: what kernels of all kinds are made of. Eight lanes at a time: constants, a frame of vector slots,
// addresses of texels, gathers, channels to and from numbers. The float operations are those of the scalar
// definition, one for one. It must not know messages.
#include <xbyak/xbyak.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "memory/image/format.hpp"
#include "memory/image/state.hpp"

namespace eum::mem::image::kernels {

/// 32 bytes of the frame.
struct Slot {
  unsigned index = ~0u;
  bool has() const { return index != ~0u; }
};

/// A level as code sees it.
struct Level {
  std::array<std::uint32_t, 3> size{};
  std::uint32_t base = 0;      ///< bytes to its first texel, of linear surfaces
  std::uint32_t x = 0, y = 0;  ///< added to coordinates, of tiled ones

  /// Each lane has a level of its own: the same in slots, base as part of the column's offset.
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
  /// Slots from here on are free again.
  unsigned mark() const { return slots_; }
  void release(unsigned mark) { slots_ = mark; }

  /// Eight times the same, or a vector of its own.
  Address splat(std::uint32_t value);
  Address splat(float value);
  Address vector(const std::array<std::uint32_t, 8>& value);
  void ones(const Ymm& y) { vpcmpeqd(y, y, y); }
  void zero(const Ymm& y) { vpxor(y, y, y); }

  /// The frame, and MXCSR with its defaults; rdi is the call. To change MXCSR takes longer than a small
  /// kernel: where what is computed is the same whether denormals are kept or not, only the rounding mode
  /// must be right.
  void enter(bool denormals_matter);
  /// What enter() changed is as before, and the constants follow.
  void leave();
  /// All ones in the lanes of group `group` that the 32 bits at `mask` have.
  void lane_mask(const Ymm& to, const Address& mask, unsigned group);

  /// First texel of `level`, of slice `first`.
  Level level_of(unsigned level, std::uint32_t first) const;
  /// The levels whose numbers are in `index`, of `count`; ymm0 to ymm2 are overwritten.
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
  /// Column of texels to its part of the byte offset; `t` is overwritten.
  void column_offset(const Level& level, const Ymm& x, const Ymm& t);
  /// How many rows a slice is away from the next; rows are what row_offset takes.
  std::uint32_t rows_per_slice() const;
  bool has_rows() const { return !flat_; }
  void row_offset(const Level& level, const Ymm& row, const Ymm& t);
  /// Where emit_texel_offset() finds the slice: beside the row in ymm1, or without rows in its place.
  Ymm slice_register(bool rows) const { return rows ? ymm4 : ymm1; }
  /// Leaves in ymm3 only lanes whose `coordinate` is, unsigned, at most `last`; ymm2 is overwritten.
  void keep_inside(const Ymm& coordinate, const Address& last);
  /// Byte offsets, in ymm0, of texels of column ymm0, of row ymm1 if there are `rows`, and of the slice in
  /// slice_register() if there are slices; ymm2 is overwritten.
  void emit_texel_offset(const Level& level, bool rows, bool sliced);

  /// Dwords of a texel.
  unsigned planes() const { return (format_.bytes + 3u) / 4; }
  /// Dword `plane` of the texels at `offset` from `level.base`, of the lanes that `mask` has; both are
  /// overwritten, and `t`. `to` holds what other lanes get. Nothing beyond the surface is read: r8 is its
  /// base.
  void gather(const Ymm& to, const Level& level, const Ymm& offset, const Ymm& mask, const Ymm& t,
              unsigned plane);
  /// Whether load_lanes() can load such texels.
  bool is_wide() const { return format_.bytes == 8 || format_.bytes == 16; }
  /// All dwords of the texels at `offset` from `level.base`, which are inside the surface in all lanes, plane
  /// k in ymm k; ymm4 to ymm7 are overwritten. Half the time of gathers or less.
  void load_lanes(const Level& level, Slot offset);
  /// The 16 bytes of lanes `lane` and `lane` + 4, from 0 to 3, in the halves of `to`.
  void load_pair(const Ymm& to, const Level& level, Slot offset, unsigned lane);
  /// Such pairs in ymm0 to ymm3 become the planes; ymm4 to ymm7 are overwritten.
  void transpose();
  /// A channel of such a dword as a filter takes it (FilterValue); `t` is overwritten.
  void decode(const Ymm& to, const Ymm& plane, const ChannelLayout& channel, const Ymm& t);
  /// To what a shader gets.
  void divide(const Ymm& y, const ChannelLayout& channel);
  /// The bits of a channel, shifted to their place in the dword; `t` is overwritten.
  void encode(const Ymm& y, const ChannelLayout& channel, const Ymm& t);
  /// f32 to f16 in the low halves.
  void to_half(const Ymm& y);

  const SurfaceState& state_;
  const FormatInfo& format_;
  std::uint64_t bytes_;  ///< of the surface

 private:
  /// Where a lane's texel begins; rax is overwritten.
  Xbyak::RegExp texel_at(const Level& level, Slot offset, unsigned lane);

  static constexpr unsigned frame_slots = 128;

  std::uint32_t mode_mask_ = 0;  ///< bits of MXCSR that must be the defaults
  bool flat_;                    ///< no rows: linear 1D and buffers
  unsigned slots_ = 0;
  std::map<std::array<std::uint32_t, 8>, Xbyak::Label> constants_;
};

/// Whether Emitter can reach the texels and knows how their channels are read.
bool can_read(const SurfaceState& state, const FormatInfo& format);
/// And written.
bool can_write(const FormatInfo& format);

}  // namespace eum::mem::image::kernels
