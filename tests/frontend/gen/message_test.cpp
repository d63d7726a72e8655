// Decoding of descriptors to messages: each field of each form, and how undefined descriptors are reported.
#include <catch2/catch.hpp>

#include "frontend/gen/message.hpp"

namespace eum::gen::test {
namespace {

constexpr std::uint32_t dc0 = 0xa, dc1 = 0xc, dcro = 0x9, smpl = 2, gtwy = 3, ts = 7;

Message message(std::uint32_t ex_desc, std::uint32_t desc, bool split = false, Family family = Family::Gen9) {
  const Result<Message> m = decode_message(ex_desc, desc, split, family);
  if (!m) FAIL(m.error().message);
  return *m;
}

std::string rejected(std::uint32_t ex_desc, std::uint32_t desc, Family family = Family::Gen9) {
  const Result<Message> m = decode_message(ex_desc, desc, false, family);
  REQUIRE_FALSE(m);
  return m.error().message;
}

bool has(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts)
    if (text.find(part) == std::string::npos) {
      UNSCOPED_INFO(text << " lacks " << part);
      return false;
    }
  return true;
}

}  // namespace

TEST_CASE("untyped surface messages") {
  const Message read = message(dc1, 0x04805c03 | 0);
  CHECK(read.kind == MessageKind::untyped_surface_read);
  CHECK(read.access == Access::Read);
  CHECK(read.address == AddressModel::Surface);
  CHECK(read.bti == 3);
  CHECK(read.components == 0b0011);
  CHECK(read.elements() == 2);
  CHECK(read.simd == 16);
  CHECK(read.length == 2);
  CHECK(read.response_length == 8);
  CHECK_FALSE(read.header);
  CHECK(describe(read, Family::Gen9) == "hdc.dc1; untyped surface read with xy");

  const Message write = message(0x8c, 0x04025eff, true);
  CHECK(write.kind == MessageKind::untyped_surface_write);
  CHECK(write.address == AddressModel::Stateless);
  CHECK(write.components == 0b0001);
  CHECK(write.extended_length == 2);

  CHECK(message(dc1, 0x02106efe).address == AddressModel::Slm);
  CHECK(message(dc1, 0x02106efe).simd == 8);
  CHECK(message(dc1, 0x02106efc).address == AddressModel::Bindless);
  CHECK(message(dc1, 0x02106efc, false, Family::Gen8).address == AddressModel::Surface);
  CHECK(has(rejected(dc1, 0x02106f00),
            {"hdc.dc1", "untyped surface read", "all channels are disabled", "11:8"}));
  CHECK(message(dc1, 0x02104e00).simd == 2);
  CHECK(has(rejected(dc1, 0x02107e00), {"SIMD mode", "13:12"}));
  CHECK(has(rejected(dc1, 0x02107e00), {"SIMD mode", "13:12"}));
}

TEST_CASE("scattered messages") {
  const Message byte = message(dc0, 0x04210400 | 254);
  CHECK(byte.kind == MessageKind::byte_scattered_read);
  CHECK(byte.address == AddressModel::Slm);
  CHECK(byte.memory_bits == 16);
  CHECK(byte.register_bits == 32);
  CHECK(byte.simd == 8);
  CHECK(message(dc0, 0x04030900).memory_bits == 32);
  CHECK(message(dc0, 0x04030900).simd == 16);
  CHECK(message(dc0, 0x04030900).access == Access::Write);
  CHECK(has(rejected(dc0, 0x04210c00), {"data size", "11:10"}));
  CHECK(message(dc0, 0x0420cb01).kind == MessageKind::dword_scattered_read);

  const Message a64 = message(dc1, 0x080691ff | 0x400);
  CHECK(a64.kind == MessageKind::a64_dword_scattered_write);
  CHECK(a64.address == AddressModel::A64);
  CHECK(a64.element_count == 2);
  CHECK(a64.simd == 16);
  CHECK(message(dc1, 0x080692ff).memory_bits == 64);
  CHECK(message(dc1, 0x080694ff).kind == MessageKind::a64_byte_scattered_write);
  CHECK(message(dc1, 0x0c4410ff).kind == MessageKind::a64_byte_scattered_read);
  CHECK(has(rejected(dc1, 0x08069101), {"A64", "7:0"}));
}

TEST_CASE("block messages") {
  const Message aligned = message(dc0, 0x02484401);
  CHECK(aligned.kind == MessageKind::oword_aligned_block_read);
  CHECK(aligned.header);
  CHECK(aligned.address_unit == 1);
  CHECK(aligned.element_count == 8);
  CHECK(aligned.memory_bits == 128);
  CHECK(aligned.simd == 1);
  const Message write = message(0x10a, 0x020a0401, true);
  CHECK(write.kind == MessageKind::oword_block_write);
  CHECK(write.address_unit == 16);
  CHECK(write.extended_length == 4);
  CHECK(message(dc0, 0x02180101).high_half);
  CHECK(describe(message(dc0, 0x02180101), Family::Gen9) == "hdc.dc0; oword block read x1H");
  CHECK(has(rejected(dc0, 0x02180501), {"number of owords", "10:8"}));

  const Message scratch = message(dc0, 0x022c2005);
  CHECK(scratch.kind == MessageKind::scratch_block_read);
  CHECK(scratch.address == AddressModel::Scratch);
  CHECK(scratch.offset == 160);
  CHECK(scratch.element_count == 4);
  CHECK(scratch.memory_bits == 256);
  CHECK(message(dc0, 0x022e1000).kind == MessageKind::scratch_block_write);

  const Message a64 = message(dc1, 0x024d0cff);
  CHECK(a64.kind == MessageKind::a64_oword_aligned_block_read);
  CHECK(a64.element_count == 8);
  CHECK(a64.address_unit == 1);
  const Message dual = message(dc1, 0x024512ff);
  CHECK(dual.kind == MessageKind::a64_dual_block_read);
  CHECK(dual.address == AddressModel::A64);
  CHECK(dual.element_count == 4);
  CHECK(dual.simd == 2);
  CHECK(message(dc1, 0x040550ff).kind == MessageKind::a64_dual_block_write);
  CHECK(has(rejected(dc1, 0x021511ff), {"number of owords", "9:8"}));
  CHECK(message(dcro, 0x02180200).kind == MessageKind::constant_block_read);
  CHECK(message(dc1, 0x02290008).kind == MessageKind::media_block_read);
}

TEST_CASE("atomics") {
  const Message add = message(dc1, 0x0420a700);
  CHECK(add.kind == MessageKind::untyped_atomic);
  CHECK(add.access == Access::Atomic);
  CHECK(add.atomic == mem::AtomicOp::add);
  CHECK(add.returns);
  CHECK(add.simd == 16);
  CHECK(message(dc1, 0x04009700).simd == 8);
  CHECK_FALSE(message(dc1, 0x04009700).returns);
  CHECK(message(dc1, 0x04009000).memory_bits == 64);
  const Message wide = message(dc1, 0x0404beff);
  CHECK(wide.kind == MessageKind::a64_untyped_atomic);
  CHECK(wide.memory_bits == 64);
  CHECK(wide.atomic == mem::AtomicOp::cmpwr);
  CHECK(describe(wide, Family::Gen9) == "hdc.dc1; untyped a64 atomic int64 integer compare and swap");
  const Message narrow = message(dc1, 0x0404aeff);
  CHECK(narrow.memory_bits == 32);
  const Message slots = message(dc1, 0x0414f7ff);
  CHECK(slots.kind == MessageKind::a64_untyped_atomic_4x2);
  CHECK(slots.address == AddressModel::A64);
  CHECK(slots.simd == 2);
  CHECK(slots.memory_bits == 64);
  CHECK(slots.returns);
  CHECK(message(dc1, 0x0414e7ff).memory_bits == 32);
  CHECK(message(dc1, 0x0417a1ff).kind == MessageKind::a64_float_atomic_4x2);
  CHECK(message(dc1, 0x0417a1ff).atomic == mem::AtomicOp::fmax);
  CHECK(has(rejected(dc1, 0x0414e701), {"A64", "7:0"}));
  const Message typed = message(dc1, 0x0401b700);
  CHECK(typed.kind == MessageKind::typed_atomic);
  CHECK(typed.high_slots);
  const Message max = message(dc1, 0x0406e100);
  CHECK(max.kind == MessageKind::untyped_float_atomic);
  CHECK(max.atomic == mem::AtomicOp::fmax);
  CHECK(has(rejected(dc1, 0x0406e000), {"atomic operation", "10:8"}));
  CHECK(has(rejected(dc1, 0x0406e100, Family::Gen8), {"message type 0x1b", "not defined on Gen8"}));
}

TEST_CASE("fences, barrier, end of thread, sampler, typed surfaces") {
  const Message fence = message(dc0, 0x0219e000);
  CHECK(fence.kind == MessageKind::memory_fence);
  CHECK(fence.commit);
  CHECK(fence.address == AddressModel::None);
  CHECK(message(dc0, 0x0209c0fe).address == AddressModel::Slm);
  CHECK(has(rejected(dc0, 0x0219e001), {"fence", "7:0"}));
  CHECK(message(gtwy, 0x02000004).kind == MessageKind::barrier);
  CHECK(message(ts | 0x20, 0x02000010).kind == MessageKind::end_of_thread);
  CHECK(message(ts | 0x20, 0x02000010).eot);
  const Message sample = message(smpl, 0x0a4b8302);
  CHECK(sample.kind == MessageKind::sample);
  CHECK(sample.sample == SampleOp::sample_lz);
  CHECK(sample.sampler == 3);
  CHECK(sample.bti == 2);
  CHECK(sample.simd == 8);
  CHECK(has(rejected(smpl, 0x0a4b8302, Family::Gen8), {"sampler message", "16:12"}));
  const Message typed = message(dc1, 0x0a036002);
  CHECK(typed.kind == MessageKind::typed_surface_write);
  CHECK(typed.high_slots);
  CHECK(typed.components == 0xf);
  CHECK(typed.simd == 8);
}

TEST_CASE("messages of two slots") {
  CHECK(message(dc1, 0x0411e701).kind == MessageKind::typed_atomic_4x2);
  CHECK(message(dc1, 0x0411e701).simd == 2);
  CHECK(message(dc1, 0x02114001).simd == 2);
  CHECK(message(dc1, 0x0410ee00).returns);
  CHECK(message(dc1, 0x0410ee00).atomic == mem::AtomicOp::cmpwr);
  const Message dual = message(dc0, 0x02408200);
  CHECK(dual.kind == MessageKind::oword_dual_block_read);
  CHECK(dual.element_count == 4);
  CHECK(dual.simd == 2);
  CHECK(message(dc0, 0x060a8000).access == Access::Write);
  const Message sample = message(smpl, 0x06182301);
  CHECK(sample.simd == 2);
  CHECK(describe(sample, Family::Gen9) == "sampler; simd4x2 sample override LOD using sampler index 3");
}

TEST_CASE("what is not defined or not supported says so") {
  CHECK(has(rejected(6, 0), {"hdc.urb", "not supported"}));
  CHECK(has(rejected(1, 0x1234), {"0x1", "not defined", "0x1234"}));
  CHECK(has(rejected(dc1, 0x0a << 14 | 5u << 14), {"hdc.dc1", "0x"}));
  CHECK(has(rejected(dc0, 0x6u << 14), {"message type 0x6", "18:14"}));
  CHECK(has(rejected(dc1, 0), {"transpose read", "not supported"}));
  CHECK(has(rejected(smpl, 0x02102001), {"SIMD8D", "18:17"}));
  CHECK(has(rejected(dc0, 0x02108100), {"number of owords", "9:8"}));
  CHECK(has(rejected(ts, 1), {"spawner", "bits 2:0"}));
  CHECK(has(rejected(gtwy, 3), {"get timestamp", "not supported"}));
}

TEST_CASE(
    "Gen7 has untyped messages in the data cache and typed ones in the render cache, Gen7.5 in port 1") {
  constexpr Family ivb = Family::Gen7, hsw = Family::Gen7_5;
  constexpr unsigned rc = 5;
  // Descriptors of the Gen7 vectors.
  const Message read = message(dc0, 0x04215e01, false, ivb);
  CHECK(describe(read, ivb) == "hdc.dc0; untyped surface read with x");
  CHECK((read.simd == 16 && read.components == 1 && read.bti == 1 && read.response_length == 2));
  const Message atomic = message(dc0, 0x0211b601, false, ivb);
  CHECK((atomic.atomic == mem::AtomicOp::dec && atomic.returns && atomic.simd == 8));
  CHECK(message(dc0, 0x04036e01, false, ivb).access == Access::Write);
  for (const bool high : {false, true}) {
    const Message typed = message(rc, high ? 0x06196e01 : 0x06194e01, false, ivb);
    CHECK((typed.kind == MessageKind::rc_typed_surface_read && typed.high_slots == high && typed.simd == 8));
    CHECK((typed.header && typed.components == 1));
    const Message add = message(rc, high ? 0x08099701 : 0x08098701, false, ivb);
    CHECK((add.kind == MessageKind::rc_typed_atomic && add.high_slots == high && !add.returns));
  }
  CHECK(has(rejected(dc0, 0x04215e01, hsw), {"message type 0x5", "not defined on Gen7.5"}));
  CHECK(has(rejected(rc, 0x06194e01, hsw), {"message type 0x5", "not defined on Gen7.5"}));
  CHECK(has(rejected(dc1, 0x02106e01, ivb), {"message type 0x1", "not defined on Gen7"}));
  CHECK(message(dc1, 0x02106e01, false, hsw).kind == MessageKind::untyped_surface_read);
  CHECK(message(dc1, 0x02106e01, false, Family::Gen11).kind == MessageKind::untyped_surface_read);
  for (const Family family : {ivb, hsw}) {
    CHECK(has(rejected(rc, 0x88031400, family), {"render target write", "not supported"}));
    CHECK(has(rejected(dc1, 0x0c0d0000 | 0x11u << 14, family), {"not defined on"}));  // A64
    CHECK(message(2, 0x02104001, false, family).simd == 2);                           // no header
    CHECK(message(3, 0x02008004, false, family).kind == MessageKind::barrier);
    CHECK(message(4, 0x02284001, false, family).address_unit == 1);
    CHECK(message(dc0, 0x021880ff, false, family).address == AddressModel::Stateless);
  }
}

TEST_CASE("a scratch message of Gen7 counts registers, one of Gen8 their logarithm") {
  for (const unsigned code : {0u, 1u, 2u, 3u}) {
    const std::uint32_t desc = 0x02180000 | 2u << 17 | code << 12;
    CHECK(message(dc0, desc, false, Family::Gen8).element_count == 1u << code);
    if (code == 2)
      CHECK(has(rejected(dc0, desc, Family::Gen7), {"number of registers", "13:12"}));
    else
      CHECK(message(dc0, desc, false, Family::Gen7_5).element_count == code + 1);
  }
}

TEST_CASE("every descriptor of every shared function is a message or an error") {
  std::size_t messages = 0;
  for (Family family : {Family::Gen7, Family::Gen7_5, Family::Gen8, Family::Gen9, Family::Gen11})
    for (std::uint32_t sfid = 0; sfid < 16; ++sfid)
      for (std::uint32_t high = 0; high < 1u << 11; ++high)
        for (std::uint32_t bti : {0x00u, 0x03u, 0xfdu, 0xfeu, 0xffu}) {
          const Result<Message> m = decode_message(sfid, high << 8 | bti, false, family);
          if (!m) continue;
          ++messages;
          if (describe(*m, family).empty() || m->simd == 0 || m->element_count == 0)
            FAIL("descriptor " << (high << 8 | bti));
        }
  CHECK(messages > 5000);
}

}  // namespace eum::gen::test
