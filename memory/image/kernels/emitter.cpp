#include "memory/image/kernels/emitter.hpp"

#include <algorithm>
#include <bit>

#include "memory/image/channel.hpp"
#include "memory/image/float_mode.hpp"
#include "memory/image/layout.hpp"
#include "memory/image/texel_fetch.hpp"

namespace eum::mem::image::kernels {

namespace {

std::uint32_t max_of(unsigned bits) { return channel::max_of(bits); }

}  // namespace

Emitter::Emitter(std::byte* pages, std::size_t size, const SurfaceState& state, const FormatInfo& format)
    : CodeGenerator(size, pages),
      state_(state),
      format_(format),
      bytes_(surface_bytes(state)),
      flat_(state.type == SurfaceType::SURFTYPE_BUFFER ||
            (state.type == SurfaceType::SURFTYPE_1D && state.tiling == TileMode::LINEAR)) {}

Slot Emitter::new_slot() {
  if (slots_ == frame_slots) throw Xbyak::Error(Xbyak::ERR_INTERNAL);
  return {slots_++};
}

Xbyak::Address Emitter::at(Slot slot) const { return yword[rsp + std::size_t{32} * slot.index]; }

Xbyak::Address Emitter::splat(std::uint32_t value) {
  std::array<std::uint32_t, 8> all;
  all.fill(value);
  return vector(all);
}
Xbyak::Address Emitter::splat(float value) { return splat(std::bit_cast<std::uint32_t>(value)); }

Xbyak::Address Emitter::vector(const std::array<std::uint32_t, 8>& value) {
  return yword[rip + constants_[value]];
}

void Emitter::enter(bool denormals_matter) {
  constexpr std::uint32_t raised = 0x3f, daz = 0x40, ftz = 0x8000;
  mode_mask_ = 0xffff & ~(raised | (denormals_matter ? 0 : daz | ftz));
  push(rbp);
  mov(rbp, rsp);
  sub(rsp, 32 * frame_slots + 32);
  and_(rsp, ~31u);
  Xbyak::Label as_is;
  stmxcsr(ptr[rbp - 8]);
  mov(eax, dword[rbp - 8]);
  and_(eax, mode_mask_);
  cmp(eax, default_mxcsr);
  je(as_is);
  ldmxcsr(splat(std::uint32_t{default_mxcsr}));
  L(as_is);
}

void Emitter::leave() {
  Xbyak::Label as_is;
  mov(eax, dword[rbp - 8]);
  and_(eax, mode_mask_);
  cmp(eax, default_mxcsr);
  je(as_is);
  ldmxcsr(ptr[rbp - 8]);
  L(as_is);
  vzeroupper();
  mov(rsp, rbp);
  pop(rbp);
  ret();
  align(32);
  for (auto& [value, label] : constants_) {
    L(label);
    for (const std::uint32_t v : value) dd(v);
  }
}

void Emitter::lane_mask(const Ymm& to, const Address& mask, unsigned group) {
  std::array<std::uint32_t, 8> lanes;
  for (unsigned i = 0; i < 8; ++i) lanes[i] = 1u << (8 * group + i);
  vpbroadcastd(to, mask);
  vpand(to, to, vector(lanes));
  vpcmpeqd(to, to, vector(lanes));
}

Level Emitter::level_of(unsigned level, std::uint32_t first) const {
  Level result;
  result.size = level_size(state_, level);
  if (state_.tiling == TileMode::LINEAR) {
    result.base = static_cast<std::uint32_t>(texel_offset(state_, level, 0, 0, first));
  } else {
    const LevelPlace place = level_place(state_, level, first);
    result.x = place.x;
    result.y = place.y;
  }
  return result;
}

void Emitter::look_up(const Ymm& to, const Ymm& index, const std::array<std::uint32_t, 16>& values,
                      unsigned count, const Ymm& t) {
  std::array<std::uint32_t, 8> half;
  std::copy_n(values.begin(), 8, half.begin());
  vpermd(to, index, vector(half));
  if (count <= 8) return;
  std::copy_n(values.begin() + 8, 8, half.begin());
  const Ymm upper = ymm3;
  vpermd(upper, index, vector(half));
  vpslld(t, index, 28);  // bit 3
  vblendvps(to, to, upper, t);
}

Level Emitter::levels_of(Slot index, unsigned first_level, unsigned count, std::uint32_t first) {
  Level result;
  result.varies = true;
  std::array<std::array<std::uint32_t, 16>, 3> sizes{};
  std::array<std::uint32_t, 16> bases{}, xs{}, ys{};
  for (unsigned i = 0; i < count; ++i) {
    const Level level = level_of(first_level + i, first);
    for (unsigned k = 0; k < 3; ++k) sizes[k][i] = level.size[k];
    bases[i] = level.base;
    xs[i] = level.x;
    ys[i] = level.y;
  }
  const auto store = [&](Slot& slot, const Ymm& y) {
    slot = new_slot();
    vmovdqa(at(slot), y);
  };
  vmovdqa(ymm0, at(index));
  for (unsigned k = 0; k < 3; ++k) {
    look_up(ymm1, ymm0, sizes[k], count, ymm2);
    store(result.size_slot[k], ymm1);
    vcvtdq2ps(ymm2, ymm1);
    store(result.number_slot[k], ymm2);
    ones(ymm2);
    vpaddd(ymm1, ymm1, ymm2);
    store(result.last_slot[k], ymm1);
  }
  if (state_.tiling == TileMode::LINEAR) {
    look_up(ymm1, ymm0, bases, count, ymm2);
    store(result.base_slot, ymm1);
  } else {
    look_up(ymm1, ymm0, xs, count, ymm2);
    store(result.x_slot, ymm1);
    look_up(ymm1, ymm0, ys, count, ymm2);
    store(result.y_slot, ymm1);
  }
  return result;
}

Xbyak::Address Emitter::size_of(const Level& level, unsigned axis) {
  return level.varies ? at(level.size_slot[axis]) : splat(level.size[axis]);
}
Xbyak::Address Emitter::last_of(const Level& level, unsigned axis) {
  return level.varies ? at(level.last_slot[axis]) : splat(level.size[axis] - 1);
}
Xbyak::Address Emitter::number_of(const Level& level, unsigned axis) {
  return level.varies ? at(level.number_slot[axis]) : splat(static_cast<float>(level.size[axis]));
}

void Emitter::multiply(const Ymm& y, std::uint32_t factor) {
  if (factor == 0)
    zero(y);
  else if (factor != 1 && std::has_single_bit(factor))
    vpslld(y, y, static_cast<std::uint8_t>(std::countr_zero(factor)));
  else if (factor != 1)
    vpmulld(y, y, splat(factor));
}

void Emitter::column_offset(const Level& level, const Ymm& x, const Ymm& t) {
  if (level.x_slot.has()) vpaddd(x, x, at(level.x_slot));
  if (level.x != 0) vpaddd(x, x, splat(level.x));
  multiply(x, format_.bytes);
  if (level.base_slot.has()) vpaddd(x, x, at(level.base_slot));
  if (state_.tiling == TileMode::LINEAR) return;
  // A row of an X tile has 512 bytes and tiles are 4096 apart; columns of Y tiles have 16 bytes and are 512
  // apart.
  const bool x_major = state_.tiling == TileMode::XMAJOR;
  vpand(t, x, splat(x_major ? 511u : 15u));
  vpsubd(x, x, t);
  vpslld(x, x, x_major ? 3 : 5);
  vpaddd(x, x, t);
}

std::uint32_t Emitter::rows_per_slice() const { return flat_ ? 1 : state_.qpitch; }

void Emitter::keep_inside(const Ymm& coordinate, const Address& last) {
  vpminud(ymm2, coordinate, last);
  vpcmpeqd(ymm2, ymm2, coordinate);
  vpand(ymm3, ymm3, ymm2);
}

void Emitter::emit_texel_offset(const Level& level, bool rows, bool sliced) {
  if (sliced) {
    multiply(slice_register(rows), rows_per_slice());
    if (rows) vpaddd(ymm1, ymm1, slice_register(rows));
  } else if (!rows && moves_rows(level)) {
    zero(ymm1);
  }
  column_offset(level, ymm0, ymm2);
  if (!rows && !sliced && !moves_rows(level)) return;
  row_offset(level, ymm1, ymm2);
  vpaddd(ymm0, ymm0, ymm1);
}

void Emitter::row_offset(const Level& level, const Ymm& row, const Ymm& t) {
  if (flat_) {  // slices
    multiply(row, state_.qpitch * format_.bytes);
    return;
  }
  if (level.y_slot.has()) vpaddd(row, row, at(level.y_slot));
  if (level.y != 0) vpaddd(row, row, splat(level.y));
  if (state_.tiling == TileMode::LINEAR) {
    multiply(row, state_.pitch);
    return;
  }
  // Within a tile rows are 512 (X) or 16 (Y) bytes apart; rows of tiles, 8 or 32 rows high, are as many
  // pitches apart.
  const bool x_major = state_.tiling == TileMode::XMAJOR;
  vpand(t, row, splat(x_major ? 7u : 31u));
  vpsubd(row, row, t);
  multiply(row, state_.pitch);
  vpslld(t, t, x_major ? 9 : 4);
  vpaddd(row, row, t);
}

void Emitter::gather(const Ymm& to, const Level& level, const Ymm& offset, const Ymm& mask, const Ymm& t,
                     unsigned plane) {
  const std::uint32_t from = level.base + 4 * plane;
  if (format_.bytes >= 4 * plane + 4) {
    vpgatherdd(to, ptr[r8 + offset + std::size_t{from}], mask);
    return;
  }
  // Less than a dword is left: gather a dword that ends no later than the surface, and shift it.
  if (from != 0) vpaddd(offset, offset, splat(from));
  vpminsd(t, offset, splat(static_cast<std::uint32_t>(bytes_ - 4)));
  vpsubd(offset, offset, t);
  vpslld(offset, offset, 3);
  vpgatherdd(to, ptr[r8 + t], mask);
  vpsrlvd(to, to, offset);
}

void Emitter::load_lanes(const Level& level, Slot offset) {
  if (format_.bytes == 8) {
    const auto pair = [&](const Xmm& to, unsigned lane) {
      vmovsd(to, ptr[texel_at(level, offset, lane)]);
      vmovhps(to, to, ptr[texel_at(level, offset, lane + 1)]);
    };
    for (unsigned half = 0; half < 2; ++half) {  // lanes 0, 1, 4, 5 and 2, 3, 6, 7
      const int to = static_cast<int>(4 + 2 * half);
      pair(Xmm(to), 2 * half);
      pair(Xmm(to + 1), 2 * half + 4);
      vinsertf128(Ymm(to), Ymm(to), Xmm(to + 1), 1);
    }
    vshufps(ymm0, ymm4, ymm6, 0b10001000);
    vshufps(ymm1, ymm4, ymm6, 0b11011101);
    return;
  }
  for (unsigned lane = 0; lane < 4; ++lane) load_pair(Ymm(static_cast<int>(lane)), level, offset, lane);
  transpose();
}

Xbyak::RegExp Emitter::texel_at(const Level& level, Slot offset, unsigned lane) {
  mov(eax, dword[rsp + std::size_t{32 * offset.index + 4 * lane}]);
  return r8 + rax + std::size_t{level.base};
}

void Emitter::load_pair(const Ymm& to, const Level& level, Slot offset, unsigned lane) {
  vmovups(Xmm(to.getIdx()), ptr[texel_at(level, offset, lane)]);
  vinsertf128(to, to, ptr[texel_at(level, offset, lane + 4)], 1);
}

void Emitter::transpose() {
  vunpcklps(ymm4, ymm0, ymm1);
  vunpckhps(ymm5, ymm0, ymm1);
  vunpcklps(ymm6, ymm2, ymm3);
  vunpckhps(ymm7, ymm2, ymm3);
  vunpcklpd(ymm0, ymm4, ymm6);
  vunpckhpd(ymm1, ymm4, ymm6);
  vunpcklpd(ymm2, ymm5, ymm7);
  vunpckhpd(ymm3, ymm5, ymm7);
}

void Emitter::decode(const Ymm& to, const Ymm& plane, const ChannelLayout& channel, const Ymm& t) {
  const unsigned bit = channel.bit % 32, bits = channel.bits;
  const auto shift = [](unsigned n) { return static_cast<std::uint8_t>(n); };
  if (channel.kind == ChannelKind::SNORM || channel.kind == ChannelKind::SINT) {
    if (bits == 32) {
      vmovdqa(to, plane);
      return;
    }
    if (bit + bits != 32) vpslld(to, plane, shift(32 - bit - bits));
    vpsrad(to, bit + bits != 32 ? to : plane, shift(32 - bits));
  } else if (bits == 32) {
    vmovdqa(to, plane);
  } else if (bit + bits == 32) {
    vpsrld(to, plane, shift(bit));
  } else if (bit == 0) {
    vpand(to, plane, splat(max_of(bits)));
  } else {
    vpsrld(to, plane, shift(bit));
    vpand(to, to, splat(max_of(bits)));
  }
  switch (channel.kind) {
    case ChannelKind::SNORM:
      vpmaxsd(to, to, splat(~max_of(bits - 1) + 1));
      [[fallthrough]];
    case ChannelKind::UNORM:
      vcvtdq2ps(to, to);
      if (bits > 16)
        vdivps(to, to,
               splat(static_cast<float>(max_of(channel.kind == ChannelKind::SNORM ? bits - 1 : bits))));
      break;
    case ChannelKind::SRGB:
      mov(rax, reinterpret_cast<std::uintptr_t>(channel::srgb_values<8>.data()));
      ones(t);
      vmovdqa(ymm15, to);
      vgatherdps(to, ptr[rax + ymm15 * 4], t);
      break;
    case ChannelKind::FLOAT:
      if (bits == 32) break;
      if (bits < 16) vpslld(to, to, shift(15 - bits));  // 5 bits of exponent, no sign: aligned to f16
      vpackusdw(to, to, to);
      vpermq(to, to, 0b1000);
      vcvtph2ps(to, Xmm(to.getIdx()));
      break;
    default:
      break;
  }
}

void Emitter::divide(const Ymm& y, const ChannelLayout& channel) {
  const float divisor = filter_divisor(channel);
  if (divisor != 1) vdivps(y, y, splat(divisor));
}

void Emitter::to_half(const Ymm& y) {
  vcvtps2ph(Xmm(y.getIdx()), y, 0);
  vpmovzxwd(y, Xmm(y.getIdx()));
}

void Emitter::encode(const Ymm& y, const ChannelLayout& channel, const Ymm& t) {
  const unsigned bit = channel.bit % 32, bits = channel.bits;
  // Adding a power of two rounds the exact product to an integer, once, with ties to even.
  constexpr float integer_unit = 8388608, signed_unit = 12582912;
  switch (channel.kind) {
    case ChannelKind::UNORM:
      zero(t);
      vmaxps(y, y, t);  // a NaN is 0
      vminps(y, y, splat(1.0f));
      vmovaps(t, splat(static_cast<float>(max_of(bits))));
      vfmadd213ps(y, t, splat(integer_unit));
      vpand(y, y, splat(max_of(bits)));
      break;
    case ChannelKind::SNORM:
      vcmpps(t, y, y, 7);  // ordered
      vandps(y, y, t);
      vmaxps(y, y, splat(-1.0f));
      vminps(y, y, splat(1.0f));
      vmovaps(t, splat(static_cast<float>(max_of(bits - 1))));
      vfmadd213ps(y, t, splat(signed_unit));
      vpand(y, y, splat(max_of(bits)));
      break;
    case ChannelKind::UINT:
      if (bits < 32) vpminud(y, y, splat(max_of(bits)));
      break;
    case ChannelKind::SINT:
      if (bits < 32) {
        vpminsd(y, y, splat(max_of(bits - 1)));
        vpmaxsd(y, y, splat(~max_of(bits - 1)));
        vpand(y, y, splat(max_of(bits)));
      }
      break;
    case ChannelKind::FLOAT:
      if (bits == 16) to_half(y);
      break;
    default:
      throw Xbyak::Error(Xbyak::ERR_INTERNAL);
  }
  if (bit != 0) vpslld(y, y, static_cast<std::uint8_t>(bit));
}

bool can_read(const SurfaceState& state, const FormatInfo& format) {
  switch (state.type) {
    case SurfaceType::SURFTYPE_1D:
    case SurfaceType::SURFTYPE_2D:
    case SurfaceType::SURFTYPE_3D:
    case SurfaceType::SURFTYPE_CUBE:
    case SurfaceType::SURFTYPE_BUFFER:
      break;
    default:
      return false;
  }
  if (!check(state) || state.vertical_line_stride || state.tiling == TileMode::WMAJOR) return false;
  const std::uint64_t bytes = surface_bytes(state);
  if (bytes < 4 || bytes >= std::uint64_t{1} << 31) return false;
  if (format.block_width != 1 || format.block_height != 1) return false;
  return std::all_of(format.channels.begin(), format.channels.end(), [](const ChannelLayout& c) {
    if (c.bits == 0) return true;
    if (c.bit / 32 != (c.bit + c.bits - 1) / 32) return false;
    if (c.kind == ChannelKind::UNORM || c.kind == ChannelKind::SNORM) return c.bits <= 24;
    if (c.kind == ChannelKind::SRGB) return c.bits == 8;
    return c.kind == ChannelKind::UINT || c.kind == ChannelKind::SINT || c.kind == ChannelKind::FLOAT;
  });
}

bool can_write(const FormatInfo& format) {
  return format.writable && std::has_single_bit(format.bytes) &&
         std::all_of(format.channels.begin(), format.channels.end(), [](const ChannelLayout& c) {
           if (c.bits == 0) return true;
           if (c.kind == ChannelKind::UNORM || c.kind == ChannelKind::SNORM) return c.bits <= 16;
           if (c.kind == ChannelKind::FLOAT) return c.bits >= 16;
           return c.kind == ChannelKind::UINT || c.kind == ChannelKind::SINT;
         });
}

}  // namespace eum::mem::image::kernels
