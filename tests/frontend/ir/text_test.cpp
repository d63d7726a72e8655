// Text form: printed functions parse to the same functions; errors say where and what; the verifier detects a
// violation of each rule.
#include <array>
#include <catch2/catch.hpp>
#include <set>

#include "frontend/ir/builder.hpp"
#include "frontend/ir/parser.hpp"
#include "frontend/ir/printer.hpp"
#include "frontend/ir/verifier.hpp"

using namespace eum;
using namespace eum::ir;

namespace {

/// One use of each op.
Function every_op() {
  Function f;
  f.name = "every op \"quoted\"\x01";
  f.family = "gen9";
  f.simd = 16;
  f.file_bytes = 4096;
  f.mask_variables = 3;
  f.park_ips = {0x80};
  f.indirect_bytes = 4000;
  f.flag_bits = 128;
  for (std::uint32_t ip : {0u, 0x40u, 0x80u, 0xc0u, 0x100u})
    f.blocks[f.add_block(ip)].guest_instructions = ip / 16;
  Builder b(f);
  b.set_guest_ip(0x8);
  const ValueId m = b.mask_get(2);
  const auto reg = [&](Type type) { return b.reg_read(type, 16, Region::packed(64 * (1 + unsigned(type)))); };
  for (std::size_t o = 0; o < op_count; ++o) {
    const Op op = static_cast<Op>(o);
    const auto takes_it = [&](Type type) { return takes(info(op).types, type); };
    const Type type = takes_it(Type::f32)                           ? Type::f32
                      : takes_it(Type::u32) || !takes_it(Type::u16) ? Type::u32
                                                                    : Type::u16;
    b.set_guest_ip(static_cast<std::uint32_t>(16 + o / 4));
    switch (info(op).shape) {
      case Shape::Lanewise1:
        b.lanewise(op, {reg(type)});
        break;
      case Shape::Lanewise2:
        b.lanewise(op, {reg(type), reg(type)});
        break;
      case Shape::Lanewise3:
        b.lanewise(op, {reg(type), reg(type), reg(type)});
        break;
      case Shape::Compare:
        b.compare(op, reg(type), reg(type));
        break;
      case Shape::Wide2:
        b.wide(op, {reg(type), reg(type)});
        break;
      case Shape::Wide4:
        b.wide(op, {reg(type), reg(type), reg(type), reg(type)});
        break;
      case Shape::RampTest:
        b.ramp(op, b.constant(Type::s32, 1, 7), b.constant(Type::s32, 1, 9), 16);
        break;
      case Shape::MaskGroup:
        b.mask_group(op, m, 4);
        break;
      case Shape::Callback: {
        const std::array operands{b.constant(Type::u64, 1, o), b.constant(Type::u64, 1, 0)};
        b.callback(std::uint64_t{1} << 32 | o, operands, 3);
        b.callback(0, {}, 0);
        break;
      }
      case Shape::Effect0:
        b.effect(op);
        break;
      case Shape::Spend:
        b.spend(op, 7, op == Op::spend ? m : reg(Type::u64));
        break;
      case Shape::Convert:
        b.convert(op, Type::s32, reg(Type::f32));
        break;
      default:
        break;
    }
  }
  b.set_guest_ip(0x40);
  b.constant(Type::f16, 4, 0x3c00);
  b.constant(Type::f64, 1, 0xbff8000000000000);
  b.constant(Type::m, 5, ~std::uint64_t{0});
  const std::array<std::uint64_t, 3> lanes{1, 0xffffffffffffffff, 3};
  b.vconst(Type::u64, 3, lanes);
  b.vconst(Type::s8, 3, lanes);
  b.lanewise(Op::not_, {m});
  const ValueId address = reg(Type::u32);
  const ValueId wide_address = reg(Type::u64);
  const ValueId scalar = b.slice(address, 3, 1);
  b.select(m, reg(Type::s16), reg(Type::s16));
  b.splat(scalar, 32);
  b.concat(address, scalar);
  b.concat(m, b.slice(m, 8, 8));
  b.join(address, address);
  b.recast(Type::u8, b.constant(Type::u32, 8, 0x1020304));
  b.mask_bits(Type::u16, m);
  b.bits_mask(scalar, 16);
  b.is_place(scalar);
  b.reg_read(Type::u16, 16, Region{130, 16, 8, 2}, m);
  b.reg_read(Type::u32, 16, Region{129, 0, 1, 0});
  b.reg_write(Region::strided(96, 2), reg(Type::u16), m);
  b.reg_scatter(reg(Type::u16), b.reg_gather(Type::u8, reg(Type::u16), m));
  b.flag_write(32, b.flag_read(16, 16), m);
  b.flag_write(5, b.flag_read(3, 61));
  b.mask_set(1, m);
  b.effect(Op::fpmode_set, scalar);
  MemoryAccess access = MemoryAccess::in_surface(17);
  access.components = 0b1011;
  access.cache = CacheHint::Invalidate;
  const ValueId first = b.load(Type::u32, access, address, m);
  const std::array values{first, first + 1, first + 2};
  access = MemoryAccess::in(MemSpace::A64);
  access.components = 0b1000000000000000000000000000000101;
  access.offset = 4096;
  b.store(access, wide_address, values);
  b.store(MemoryAccess::in(MemSpace::Scratch), address, std::array{reg(Type::u8)}, m);
  access = MemoryAccess::in(MemSpace::Slm);
  access.atomic = AtomicOp::cmpwr;
  b.atomic(Type::u32, access, address, std::array{first, first + 1}, true, m);
  access = MemoryAccess::in(MemSpace::A32);
  access.atomic = AtomicOp::inc;
  b.atomic(Type::u64, access, address, {}, false);
  b.block_store(MemoryAccess::in_surface(2), scalar,
                b.block_load(Type::u64, 16, MemoryAccess::in(MemSpace::A32), scalar));
  b.load(Type::u8, {}, address, no_value, scalar);
  access = MemoryAccess::in_surface(4);
  access.components = 0b10;
  access.part_bytes = 4;
  access.several = true;
  b.store(access, address, std::array{b.load(Type::u64, access, address)}, m);
  b.load(Type::u16, MemoryAccess::in(MemSpace::Bindless), address, m, scalar);
  access = MemoryAccess::in(MemSpace::States);
  access.components = 5;
  b.probe(Type::u64, access, address, no_value, scalar);
  ImageAccess image;
  image.surface = 9;
  image.sample = mem::image::SampleOp::sample_l_c;
  image.sampler = 2;
  const ValueId one = b.image(Op::sample, 16, image, std::array{address, address, address, address}, 1, m);
  image.scalars = sample_header_scalars;
  image.half = image.surface_is_operand = true;
  b.image(Op::sample, 16, image, std::array{scalar, scalar, scalar, address}, 4);
  image = {};
  image.coordinates = 2;
  image.components = 0b1001;
  b.image(Op::typed_read, 16, image, std::array{address, one}, 2, m);
  b.image(Op::typed_write, 16, image, std::array{address, one, one, one}, 0, m);
  image.atomic = AtomicOp::cmpwr;
  image.components = 0;
  b.image(Op::typed_atomic, 16, image, std::array{address, one, one, one}, 1);
  image.coordinates = 0;
  image.counter = image.bindless = image.surface_is_operand = true;
  b.image(Op::typed_atomic, 16, image, std::array{scalar, one, one}, 1);
  image.heap = mem::image::SurfaceHeap::States;
  b.image(Op::typed_atomic, 16, image, std::array{scalar, one, one}, 1);
  image = {};
  image.scalars = media_scalars;
  image.vertical_stride = 6;
  const ValueId row = b.image(Op::media_read, 8, image, std::array{scalar, scalar, scalar}, 2);
  b.image(Op::media_write, 8, image, std::array{scalar, scalar, scalar, row, row + 1}, 0);
  b.branch_any(m, 1, 2);
  b.set_block(1);
  b.jump_ip(b.constant(Type::u32, 1, 0x80));
  b.set_block(2);
  b.trap("no such \\ thing: \"x\"\n");
  b.set_block(3);
  b.wait(4);
  b.set_block(4);
  b.reg_write(Region::packed(0), b.constant(Type::u8, 32, 7));
  b.jump(3);
  f.blocks[f.add_block(0x200)].guest_instructions = 1;
  f.blocks[3].safepoint = true;
  b.set_block(5);
  b.exit();
  for (const Op op :
       {Op::illegal, Op::breakpoint, Op::software_exception, Op::external_halt, Op::register_message}) {
    b.set_block(f.add_block());
    b.trap("an instruction", op);
  }
  return f;
}

std::string parse_error(std::string_view text) {
  auto parsed = parse(text);
  return parsed ? "no error" : parsed.error().message;
}

const std::string head = "kernel @k simd 8 family gen9 file 128 slot 32 masks 2\nb0: ip 0x0 count 1\n";

std::string verify_error(std::string_view body) {
  auto parsed = parse(head + std::string(body));
  INFO(body);
  if (!parsed) return "does not parse: " + parsed.error().message;
  auto verified = verify(*parsed);
  return verified ? "no error" : verified.error().message;
}

}  // namespace

TEST_CASE("what is printed parses to the same function") {
  const Function f = every_op();
  const auto verified = verify(f);
  INFO((verified ? "" : verified.error().message));
  REQUIRE(verified);
  std::set<Op> used;
  for (const Block& block : f.blocks)
    for (const Inst& inst : block.insts) used.insert(inst.op);
  CHECK(used.size() == op_count);

  const std::string text = print(f);
  INFO(text);
  auto parsed = parse(text);
  INFO((parsed ? "" : parsed.error().message));
  REQUIRE(parsed);
  CHECK(difference(f, *parsed) == "");
  CHECK(print(*parsed) == text);
  CHECK(verify(*parsed));
}

TEST_CASE("the text form is the documented one") {
  const std::string text =
      "kernel @saxpy simd 16 family gen9 file 4096 slot 32 masks 2\n"
      "b0: ip 0x0 count 3\n"
      "  %0 = mask_get.mx16 mask0\n"
      "  %1 = reg_read.f32x16 r14<1;1,0>                       @0x8\n"
      "  %2 = constant.f32x16 0x40000000 ; 2\n"
      "  %3 = mul.f32x16 %1, %2\n"
      "  %4 = reg_read.u32x16 r16.3<8;8,1> ? %0\n"
      "  %5, %6 = load.u32x16 surface3[%4] {0, 2} ? %0\n"
      "  %7 = convert.s32.f32x16 %3\n"
      "  %8 = atomic.u32x16 add slm[%4], %5\n"
      "  %9, %10 = sample.u32x16 sample_lz surface1 sampler0, %4, %5 ? %0\n"
      "  typed_write.u32x16 surface3 coordinates 1 components 0x3, %4, %9, %10\n"
      "  reg_write.f32x16 reg[577]<1;1,0>, %3 ? %0\n"
      "  %11 = flag_read.mx16 f1.0\n"
      "  branch_any.mx16 %11, b0, b1\n"
      "b1: ip 0x20 count 1\n"
      "  exit\n";
  auto parsed = parse(text);
  INFO((parsed ? "" : parsed.error().message));
  REQUIRE(parsed);
  CHECK(print(*parsed) == text);
}

TEST_CASE("hand-written text: names, fractions, negative numbers, comments") {
  auto parsed = parse(
      "; a comment\n\nkernel @\"a b\" simd 8 family \"\" file 64 slot 32 masks 1 ; another\n"
      "b0: ip 4 count 0\n\n"
      "  %half = constant.f32x8 0.5\n %h = constant.f16x1 -1.5\n %d = constant.f64x2 1e300\n"
      "  %minus = constant.s16x8 -2\n %c = convert.s32x8 %half ; from is that of the operand\n"
      "  %lanes = vconst.f32x2 {1.5, -0.25}\n exit");
  INFO((parsed ? "" : parsed.error().message));
  REQUIRE(parsed);
  const auto& insts = parsed->blocks[0].insts;
  CHECK(insts[0].imm == 0x3f000000);
  CHECK(insts[1].imm == 0xbe00);
  CHECK(insts[2].imm == 0x7e37e43c8800759c);
  CHECK(insts[3].imm == 0xfffe);
  CHECK(insts[4].from == Type::f32);
  CHECK(parsed->pool[0][1] == 0xbe800000);
  CHECK(verify(*parsed));
}

TEST_CASE("difference sees each change") {
  const std::string body = "  %0 = constant.u32x8 0x1\n  %1 = add.u32x8 %0, %0\n  exit\n";
  const auto with = [&](std::string text) {
    auto parsed = parse(head + text);
    REQUIRE(parsed);
    return std::move(*parsed);
  };
  const Function f = with(body);
  CHECK(equal(f, with("  %7 = constant.u32x8 0x1\n  %3 = add.u32x8 %7, %7\n  exit\n")));
  CHECK_FALSE(equal(f, with("  %0 = constant.u32x8 0x2\n  %1 = add.u32x8 %0, %0\n  exit\n")));
  CHECK_FALSE(equal(f, with("  %0 = constant.u32x8 0x1\n  %1 = sub.u32x8 %0, %0\n  exit\n")));
  CHECK_FALSE(equal(f, with("  %0 = constant.u32x8 0x1\n  %1 = add.u32x8 %0, %0 @0x8\n  exit\n")));
  CHECK_FALSE(equal(f, with("  %0 = constant.u32x8 0x1\n  exit\n")));
  CHECK_FALSE(equal(with("  %0 = constant.u32x8 1\n %1 = constant.u32x8 2\n %2 = add.u32x8 %0, %1\n exit"),
                    with("  %0 = constant.u32x8 1\n %1 = constant.u32x8 2\n %2 = add.u32x8 %1, %0\n exit")));
}

TEST_CASE("parser errors say where, what was expected and what was found") {
  CHECK(parse_error("") == "1:1: expected 'kernel', found the end of the text");
  CHECK(parse_error("kernel @k simd x") == "1:16: expected a number up to 4294967295, found 'x'");
  CHECK(parse_error("kernel @k simd 8 family g file 0 slot 32 masks 1 extra") ==
        "1:50: expected the end of the line, found 'extra'");
  CHECK(parse_error(head + "  frob.u32x8 %0\n") == "3:3: expected an op, found 'frob.u32x8 %0'");
  CHECK(parse_error(head + "  %0 = add.q32x8 %0\n") ==
        "3:12: expected a type, x and a number of lanes, as f32x16, found 'q32x8 %0'");
  CHECK(parse_error(head + "  %0 = add.u32x33 %0\n") ==
        "3:12: expected 1 to 32 lanes after a type, found 'u32x33 %0'");
  CHECK(parse_error(head + "  %0 = not.u32x8 %1\n") ==
        "3:18: expected a value defined before in this block, found '%1'");
  CHECK(parse_error(head + "  %0 = constant.u32x8 zero\n") == "3:23: expected a value, found 'zero'");
  CHECK(parse_error(head + "  %0 = constant.u32x1 0\n  %0 = constant.u32x1 0\n") ==
        "4:24: expected a new name instead of %0, before this, found the end of the line");
  CHECK(parse_error(head + "  trap \"open\n") == "3:13: expected '\"', found the end of the line");
  CHECK(parse_error(head + "  jump c1\n") == "3:8: expected 'b' and a number up to 4294967294, found 'c1'");
  CHECK(parse_error(head + "  %0 = reg_read.u32x8 r2000000<1;1,0>\n") ==
        "3:23: expected 'r' and a number up to 65536, found 'r2000000<1;1,0>'");
  CHECK(parse_error(head + "  exit\nb2: ip 0 count 0\n") == "4:1: expected an op, found 'b2: ip 0 count 0'");
  CHECK(parse_error(head + "  %0 = constant.u32x1 99999999999999999999\n")
            .starts_with("3:23: expected a value"));
}

TEST_CASE("the verifier names the rule that is broken") {
  const auto broken = [](std::string_view body, std::string_view rule) {
    const std::string message = verify_error(body);
    INFO(body << "\n" << message);
    CHECK(message.find(rule) != std::string::npos);
  };
  broken("  exit\n", "no error");
  auto beyond =
      parse("kernel @k simd 8 family gen9 file 64 slot 32 indirect 65 masks 1\nb0: ip 0 count 0\n  exit\n");
  REQUIRE(beyond);
  CHECK(verify(*beyond).error().message ==
        "expected register addresses within the register file of 64 bytes, found 65");
  broken("", "expected a terminator, found an empty block");
  broken("  fence\n", "expected a terminator at the end");
  broken("  exit\n  exit\n", "a terminator before the end");
  broken("  jump b1\n", "expected a block below b1, found b1");
  broken("  trap \"x\"\n", "no error");
  broken("  %0 = constant.u32x8 0\n  %1 = sqrt.u32x8 %0\n  exit\n", "sqrt does not take the type u32");
  broken("  %0 = constant.u32x8 0\n  %1 = add.u32x4 %0, %0\n  exit\n",
         "expected operand of u32x4, found %0 of u32x8");
  broken("  %0 = constant.u32x8 0\n  %1 = add.f32x8 %0, %0\n  exit\n", "expected operand of f32x8");
  broken("  %0 = constant.u32x8 0\n  %1 = bitcast.u64x8 %0\n  exit\n", "types of the same size");
  broken("  %0 = constant.u32x8 0\n  %1 = slice.u32x4 %0, 5\n  exit\n",
         "expected lanes 5 to 8 in an operand of 8");
  broken("  %0 = constant.u32x8 0\n  %1 = concat.u32x15 %0, %0\n  exit\n", "found operands of 8 and 8");
  broken("  %0 = constant.mx16 0\n  %1 = mask_bits.u8x1 %0\n  exit\n", "a mask of at most 8 lanes");
  broken("  %0 = constant.u8x1 0\n  %1 = bits_mask.mx9 %0\n  exit\n", "a mask of at most 8 lanes for u8");
  broken("  %0 = constant.mx8 0\n  %1 = group_any.mx8 %0, 3\n  exit\n", "groups that divide 8 lanes");
  broken("  %0 = constant.mx8 0\n  %1 = group_any.mx8 %0, 0\n  exit\n", "groups that divide 8 lanes");
  broken("  %0 = reg_read.u32x8 r3.1<1;1,0>\n  exit\n", "beyond the register file of 128 bytes");
  broken("  %0 = reg_read.u32x8 r0<1;0,0>\n  exit\n", "a region width of at least 1");
  broken("  %0 = reg_read.u32x8 r0<0;1,0>\n  exit\n", "no error");
  broken("  %0 = constant.u32x8 0\n  reg_write.u32x8 r0<0;1,0>, %0\n  exit\n",
         "lanes 0 and 1 of the written region overlap");
  broken("  %0 = constant.mx4 0\n  %1 = reg_read.u32x8 r0<1;1,0> ? %0\n  exit\n", "expected mask of mx8");
  broken("  %0 = constant.mx8 0\n  %1 = constant.u32x8 0 ? %0\n  exit\n", "expected no mask");
  broken("  %0 = flag_read.mx8 flag[57]\n  exit\n", "expected flag bits below 64");
  broken("  %0 = mask_get.mx8 mask2\n  exit\n", "expected a mask variable below 2");
  broken("  %0 = mask_get.mx4 mask0\n  exit\n", "expected 8 lanes, found 4");
  broken("  %0 = constant.mx8 0\n  spend.mx8 0x80000000, %0\n  exit\n",
         "expected at most 2147483647 guest instructions, found 2147483648");
  broken("  %0 = constant.u32x8 0\n  %1 = load.u32x8 a64[%0]\n  exit\n",
         "expected operand of u64x8, found %0 of u32x8");
  broken("  %0 = constant.u32x8 0\n  %1 = load.f32x8 a32[%0]\n  exit\n", "load does not take the type f32");
  broken("  %0 = constant.u32x8 0\n  %1 = atomic.u8x8 inc a32[%0]\n  exit\n", "elements of 2, 4 or 8 bytes");
  broken("  %0 = constant.u32x8 0\n  %1 = load.u32x8 bindless[%0]\n  exit\n", "expected '['");
  broken("  %0 = constant.u32x1 0\n  %1 = block_load.u32x8 a32[%0] {1}\n  exit\n", "expected one component");
  broken("  %0 = constant.u32x8 0\n  %1 = load.u32x8 slm[%0] by 4\n  exit\n", "expected parts");
  broken("  %0 = constant.u32x8 0\n  %1 = load.u32x8 slm[%0 + 4] several\n  exit\n", "expected several");
  broken("  %0 = constant.u64x8 0\n  %1 = load.u32x8 a64[%0] several\n  exit\n", "expected several");
  broken("  %0 = constant.u32x8 0\n  %1 = probe.u64x8 slm[%0] by 4\n  exit\n", "expected parts");
  broken("  %0 = constant.u32x1 0\n  %1 = block_load.u64x8 slm[%0] by 4\n  exit\n", "expected parts");
  broken("  %0 = constant.u64x1 0\n  jump_ip.u64x1 %0\n", "does not take the type u64");
  broken("  %0 = constant.u32x8 0\n  %1 = load.u32x8 slm[%0] {0, 64}\n  exit\n", "a number up to 63");
  broken("  %0 = constant.u32x8 0\n  sample.u32x8 sample_lz surface0 sampler0, %0, %0, %0, %0, %0\n  exit\n",
         "expected 0 to 4 parameters, found 5");
  broken("  %0 = constant.u32x8 0\n  sample.u32x8 sharpen surface0 sampler0, %0\n  exit\n",
         "an operation of the sampler");
  broken(
      "  %0 = constant.u32x8 0\n  %1 = typed_read.u32x8 surface0 coordinates 1 components 0x3, %0\n  exit\n",
      "expected 2 results, found 1");
  broken("  %0 = constant.u32x8 0\n  typed_write.u32x8 surface0 coordinates 0 components 0x1, %0\n  exit\n",
         "expected coordinates, found none");
  broken("  %0 = constant.u32x8 0\n  %1 = typed_atomic.u32x8 add surface0 coordinates 1, %0\n  exit\n",
         "expected 2 coordinates and sources, found 1");
  broken("  %0 = constant.u32x8 0\n  %1 = typed_atomic.u32x8 add surface0 counter, %0, %0\n  exit\n",
         "expected 1 coordinates and sources, found 2");
  broken("  %0 = constant.u32x8 0\n  %1 = typed_read.u32x8 surface0 counter components 0x1, %0\n  exit\n",
         "coordinates");
  broken("  %0 = constant.u32x1 0\n  %1 = media_read.u32x8 surface0, %0, %0\n  exit\n", "expected ','");
  broken("  %0 = constant.u32x1 0\n  media_write.u32x8 surface0, %0, %0, %0\n  exit\n",
         "expected 1 to 31 registers to write, found 0");
  broken("  %0 = constant.u32x2 0\n  jump_ip.u32x2 %0\n", "expected 1 lane");

  Function f = every_op();
  f.blocks[0].insts[1].result = f.blocks[0].insts[0].result;
  REQUIRE_FALSE(verify(f));
  f = every_op();
  f.simd = 33;
  CHECK(verify(f).error().message == "expected simd of 1 to 32, found 33");
  f = every_op();
  f.blocks[1].insts[0].imm = 0;
  f.args(f.blocks[1].insts[1])[0] = 0;  // a value of another block
  CHECK(verify(f).error().message.find("is not defined before in this block") != std::string::npos);
}
