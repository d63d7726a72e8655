#include "memory/image/kernels/typed_emitter.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "memory/image/layout.hpp"
#include "memory/surface.hpp"

namespace eum::mem::image::kernels {

namespace {

/// The coordinate that counts slices, or none.
constexpr unsigned none = ~0u;
unsigned slice_axis(const SurfaceState& state) {
  if (state.type == SurfaceType::SURFTYPE_3D || state.type == SurfaceType::SURFTYPE_CUBE) return 2;
  if (!state.array || state.type == SurfaceType::SURFTYPE_BUFFER) return none;
  return state.type == SurfaceType::SURFTYPE_1D ? 1 : 2;
}
bool has_rows(const SurfaceState& state) {
  return state.type == SurfaceType::SURFTYPE_2D || state.type == SurfaceType::SURFTYPE_3D ||
         state.type == SurfaceType::SURFTYPE_CUBE;
}

/// Number of slices that a message reaches, from Minimum Array Element on.
std::uint32_t reach(const SurfaceState& state) {
  const bool volume = state.type == SurfaceType::SURFTYPE_3D;
  const std::uint32_t slices = volume ? level_size(state, state.mip_lod)[2] : slice_count(state);
  if (state.min_array_element >= slices) return 0;
  return std::min(state.view_extent, slices - state.min_array_element);
}

}  // namespace

bool has_kernel(const TypedMessage& message, const SurfaceState& surface) {
  const FormatInfo* format = find_format(surface.format);
  if (format == nullptr || !can_read(surface, *format)) return false;
  if (message.kind != TypedMessage::Kind::Read && message.kind != TypedMessage::Kind::Write) return false;
  if (message.coordinates == 0 || message.coordinates > 4) return false;
  // The only lod that the message may give must be 0.
  if (message.coordinates == 4 && level_count(surface) != surface.mip_lod + 1u) return false;
  if (message.lanes != 8 && message.lanes != 16) return false;
  if (slice_axis(surface) != none && reach(surface) == 0) return false;
  if (surface.type != SurfaceType::SURFTYPE_3D && surface.type != SurfaceType::SURFTYPE_BUFFER &&
      surface.min_array_element >= slice_count(surface))
    return false;
  return message.kind == TypedMessage::Kind::Read ? format->readable : can_write(*format);
}

TypedEmitter::TypedEmitter(std::byte* pages, std::size_t size, const TypedMessage& message,
                           const SurfaceState& surface)
    : Emitter(pages, size, surface, *find_format(surface.format)), message_(message) {
  enter(false);  // integers, and numbers that are rounded to integers: denormals do not matter
  mov(rsi, ptr[rdi + offsetof(TypedCall, data)]);
  mov(rax, ptr[rdi + offsetof(TypedCall, surface)]);
  mov(r8, ptr[rax + offsetof(Surface, base)]);
  for (group_ = 0; group_ < message.lanes / 8u; ++group_) group();
  leave();
}

Xbyak::Address TypedEmitter::operand(unsigned k) const {
  return yword[rsi + std::size_t{4} * (k * message_.lanes + 8 * group_)];
}

void TypedEmitter::group() {
  const bool buffer = state_.type == SurfaceType::SURFTYPE_BUFFER;
  const Level level = level_of(buffer ? 0 : state_.mip_lod, buffer ? 0 : state_.min_array_element);
  place(level);
  if (message_.kind == TypedMessage::Kind::Read)
    read(level);
  else
    write(level);
}

void TypedEmitter::place(const Level& level) {
  lane_mask(ymm3, dword[rdi + offsetof(TypedCall, mask)], group_);
  const auto load = [&](const Ymm& to, unsigned axis, std::uint32_t size) {
    if (axis < message_.coordinates)
      vmovdqu(to, operand(axis));
    else
      zero(to);
    keep_inside(to, splat(size - 1));
  };
  load(ymm0, 0, level.size[0]);
  const bool rows = kernels::has_rows(state_);
  const unsigned axis = slice_axis(state_);
  if (rows) load(ymm1, 1, level.size[1]);
  if (axis != none) load(slice_register(rows), axis, reach(state_));
  if (message_.coordinates == 4) {
    zero(ymm2);
    vpcmpeqd(ymm2, ymm2, operand(3));
    vpand(ymm3, ymm3, ymm2);
  }
  emit_texel_offset(level, rows, axis != none);
}

void TypedEmitter::read(const Level& level) {
  const std::uint32_t one = format_.integer ? 1 : std::bit_cast<std::uint32_t>(1.0f);
  const unsigned before = mark();
  const Slot inside = new_slot(), offsets = new_slot();
  vmovdqa(at(inside), ymm3);
  if (is_wide()) vpand(ymm0, ymm0, ymm3);  // lanes outside read the first texel
  vmovdqa(at(offsets), ymm0);
  if (is_wide()) load_lanes(level, offsets);
  for (unsigned plane = 0; plane < planes(); ++plane) {
    bool gathered = is_wide();
    const Ymm texel(static_cast<int>(plane));
    for (unsigned c = 0; c < 4; ++c) {
      const ChannelLayout& channel = format_.channels[c];
      if ((message_.components >> c & 1) == 0 || channel.bits == 0 || channel.bit / 32u != plane) continue;
      if (!gathered) {
        zero(texel);
        vmovdqa(ymm8, at(offsets));
        vmovdqa(ymm9, at(inside));
        gather(texel, level, ymm8, ymm9, ymm14, plane);
        gathered = true;
      }
      const Ymm value(static_cast<int>(10 + c));
      decode(value, texel, channel, ymm8);
      divide(value, channel);
    }
  }
  unsigned k = 0;
  for (unsigned c = 0; c < 4; ++c) {
    if ((message_.components >> c & 1) == 0) continue;
    const Ymm value(static_cast<int>(10 + c));
    if (format_.channels[c].bits == 0) vmovaps(value, splat(c == 3 ? one : 0u));
    vandps(value, value, at(inside));
    vmovups(operand(k++), value);
  }
  release(before);
}

void TypedEmitter::write(const Level& level) {
  // The dwords of the texels in ymm8 to ymm11.
  const std::array<std::uint32_t, 4> all = channel_bits(format_, 15),
                                     given = channel_bits(format_, message_.components);
  const bool partial = all != given;
  for (unsigned plane = 0; plane < planes(); ++plane) {
    const Ymm texel(static_cast<int>(8 + plane));
    bool first = true;
    std::array<bool, 32> taken{};
    for (unsigned c = 0; c < 4; ++c) {
      const ChannelLayout& channel = format_.channels[c];
      if (channel.bits == 0 || channel.bit / 32u != plane || taken[channel.bit % 32]) continue;
      if ((message_.components >> c & 1) == 0) continue;
      taken[channel.bit % 32] = true;  // luminance and intensity take the first channel
      const unsigned k = static_cast<unsigned>(std::popcount(message_.components & ((1u << c) - 1)));
      const Ymm value = first ? texel : ymm5;
      vmovups(value, operand(message_.coordinates + k));
      encode(value, channel, ymm6);
      if (!first) vpor(texel, texel, value);
      first = false;
    }
    if (first) zero(texel);
    if (partial) keep_bits(texel, level, plane, given[plane]);
  }
  Xbyak::Label done;
  store_consecutive(level, done);
  store_lanes(level);
  L(done);
}

void TypedEmitter::keep_bits(const Ymm& texel, const Level& level, unsigned plane, std::uint32_t given) {
  const unsigned left = format_.bytes - 4 * plane;  // bytes left
  const std::uint32_t of_texel = left >= 4 ? ~0u : (1u << 8 * left) - 1;
  zero(ymm4);
  vmovdqa(ymm5, ymm0);
  vmovdqa(ymm6, ymm3);
  gather(ymm4, level, ymm5, ymm6, ymm7, plane);
  vpand(ymm4, ymm4, splat(of_texel & ~given));
  vpor(texel, texel, ymm4);
}

void TypedEmitter::store_consecutive(const Level& level, Xbyak::Label& done) {
  const unsigned bytes = format_.bytes;
  Xbyak::Label scattered;
  std::array<std::uint32_t, 8> steps;
  for (unsigned i = 0; i < 8; ++i) steps[i] = i * bytes;
  vpbroadcastd(ymm1, xmm0);
  vpaddd(ymm1, ymm1, vector(steps));
  vpcmpeqd(ymm1, ymm1, ymm0);
  vpand(ymm1, ymm1, ymm3);
  vmovmskps(eax, ymm1);
  cmp(eax, 0xff);
  jne(scattered, T_NEAR);
  vmovd(eax, xmm0);
  const auto to = [&](unsigned at) { return ptr[r8 + rax + std::size_t{level.base + at}]; };
  switch (bytes) {
    case 1:
    case 2: {
      vextracti128(xmm1, ymm8, 1);
      vpackusdw(xmm1, xmm8, xmm1);
      if (bytes == 1) vpackuswb(xmm1, xmm1, xmm1);
      if (bytes == 1)
        vmovq(to(0), xmm1);
      else
        vmovdqu(to(0), xmm1);
      break;
    }
    case 4:
      vmovdqu(to(0), ymm8);
      break;
    case 8:
      vpunpckldq(ymm1, ymm8, ymm9);  // 0 1 4 5
      vpunpckhdq(ymm2, ymm8, ymm9);  // 2 3 6 7
      vperm2i128(ymm4, ymm1, ymm2, 0x20);
      vperm2i128(ymm5, ymm1, ymm2, 0x31);
      vmovdqu(to(0), ymm4);
      vmovdqu(to(32), ymm5);
      break;
    default: {  // 16
      vpunpckldq(ymm1, ymm8, ymm9);
      vpunpckhdq(ymm2, ymm8, ymm9);
      vpunpckldq(ymm4, ymm10, ymm11);
      vpunpckhdq(ymm5, ymm10, ymm11);
      const std::array<Ymm, 4> pairs = {ymm12, ymm13, ymm14, ymm15};  // texels i and i + 4
      vpunpcklqdq(pairs[0], ymm1, ymm4);
      vpunpckhqdq(pairs[1], ymm1, ymm4);
      vpunpcklqdq(pairs[2], ymm2, ymm5);
      vpunpckhqdq(pairs[3], ymm2, ymm5);
      for (unsigned i = 0; i < 4; ++i) {
        vmovdqu(to(16 * i), Xmm(pairs[i].getIdx()));
        vextracti128(to(64 + 16 * i), pairs[i], 1);
      }
    }
  }
  jmp(done, T_NEAR);
  L(scattered);
}

void TypedEmitter::store_lanes(const Level& level) {
  const unsigned before = mark();
  const Slot offsets = new_slot();
  std::array<Slot, 4> texel;
  vmovdqa(at(offsets), ymm0);
  for (unsigned plane = 0; plane < planes(); ++plane) {
    texel[plane] = new_slot();
    vmovdqa(at(texel[plane]), Ymm(static_cast<int>(8 + plane)));
  }
  vmovmskps(edx, ymm3);
  for (unsigned lane = 0; lane < 8; ++lane) {  // in order: the last of several lanes at the same address wins
    Xbyak::Label next;
    test(edx, 1 << lane);
    jz(next);
    mov(eax, dword[rsp + std::size_t{32 * offsets.index + 4 * lane}]);
    for (unsigned plane = 0; plane < planes(); ++plane) {
      mov(ecx, dword[rsp + std::size_t{32 * texel[plane].index + 4 * lane}]);
      const auto to = r8 + rax + std::size_t{level.base + 4 * plane};
      if (format_.bytes == 1)
        mov(byte[to], cl);
      else if (format_.bytes == 2)
        mov(word[to], cx);
      else
        mov(dword[to], ecx);
    }
    L(next);
  }
  release(before);
}

}  // namespace eum::mem::image::kernels
