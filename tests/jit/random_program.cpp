#include "tests/jit/random_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "frontend/ir/builder.hpp"
#include "tests/jit/random_image.hpp"
#include "tests/jit/random_target.hpp"

namespace eum::jit::test {

using namespace ir;

namespace {

class Generator {
 public:
  Generator(std::uint64_t seed, const ProgramOptions& options)
      : random_(seed), options_(options), b_(function_) {
    function_.name = fmt::format("random{}", seed);
    function_.family = "gen9";
  }

  Function make() {
    constexpr unsigned simds[] = {8, 16, 32};
    constexpr unsigned files[] = {256, 512, 1024, 4096};
    function_.simd = simds[below(3)];
    function_.file_bytes = files[below(4)];
    if (chance(30)) function_.indirect_bytes = function_.file_bytes - 32 * (1 + below(4));
    function_.mask_variables = 1 + below(4);
    function_.flag_bits = chance(70) ? 64 : 32 * (1 + below(8));
    const unsigned blocks = options_.control ? 1 + below(options_.max_blocks) : 1;
    for (unsigned i = 0; i < blocks; ++i) {
      const BlockId id = function_.add_block(0x10 + 0x100 * i);
      function_.blocks[id].guest_instructions = 1 + below(6);
      function_.blocks[id].safepoint = chance(10);
    }
    for (BlockId id = 0; id < blocks; ++id) fill_block(id);
    return std::move(function_);
  }

 private:
  unsigned below(std::uint64_t n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class List>
  auto pick(const List& list) {
    return list[below(std::size(list))];
  }

  unsigned any_lanes() {
    constexpr unsigned counts[] = {1, 1, 2, 4, 8, 8, 16, 16, 32};
    if (chance(8)) return 1 + below(32);  // not necessarily a power of two
    return chance(50) ? function_.simd : pick(counts);
  }
  unsigned divisor_of(unsigned lanes) {
    for (;;)
      if (const unsigned divisor = 1 + below(lanes); lanes % divisor == 0) return divisor;
  }
  Type any_type(Types types) {
    for (;;) {
      const Type type = static_cast<Type>(below(type_count));
      if (takes(types, type)) return type;
    }
  }

  // Values.

  /// A value of this type and lane count made earlier in the block, or no_value.
  ValueId existing(Type type, unsigned lanes) {
    std::vector<ValueId> fits;
    for (ValueId value : usable_)
      if (b_.type_of(value) == type && b_.lanes_of(value) == lanes) fits.push_back(value);
    return fits.empty() ? no_value : fits[below(fits.size())];
  }
  ValueId keep(ValueId value) {
    usable_.push_back(value);
    return value;
  }

  ValueId value(Type type, unsigned lanes) {
    if (is_mask(type)) return mask(lanes);
    const ValueId old = existing(type, lanes);
    if (old != no_value && chance(65)) return old;
    if (depth_ > 3) return keep(b_.reg_read(type, lanes, read_region(type, lanes)));
    ++depth_;
    const ValueId made = keep(make_value(type, lanes));
    --depth_;
    return made;
  }
  ValueId make_value(Type type, unsigned lanes) {
    switch (below(10)) {
      case 0:
        return b_.constant(type, lanes, interesting_bits(random_));
      case 1: {
        std::array<std::uint64_t, max_lanes> lane_values;
        for (auto& lane : lane_values) lane = interesting_bits(random_);
        return b_.vconst(type, lanes, std::span(lane_values).first(lanes));
      }
      case 2:
        return b_.splat(value(type, 1), lanes);
      case 3:
        return b_.convert(Op::bitcast, type, value(same_size(type), lanes));
      case 4:
        if (lanes <= 16) {
          const unsigned wider = lanes << (1 + below(lanes <= 8 ? 2 : 1));
          return b_.slice(value(type, wider), lanes * below(wider / lanes), lanes);
        }
        break;
      case 5:
        if (lanes > 1) {
          const unsigned low = lanes % 2 == 0 ? lanes / 2 : 1 + below(lanes - 1);
          return b_.concat(value(type, low), value(type, lanes - low));
        }
        break;
      default:
        break;
    }
    return b_.reg_read(type, lanes, read_region(type, lanes));
  }
  Type same_size(Type type) {
    for (;;) {
      const Type other = any_type(Types::Arith);
      if (size_of(other) == size_of(type)) return other;
    }
  }

  ValueId mask(unsigned lanes) {
    const ValueId old = existing(Type::m, lanes);
    if (old != no_value && chance(60)) return old;
    if (depth_ > 3) return keep(b_.flag_read(lanes, flag_bit(lanes)));
    ++depth_;
    const ValueId made = keep(make_mask(lanes));
    --depth_;
    return made;
  }
  ValueId make_mask(unsigned lanes) {
    switch (below(8)) {
      case 0:
        return b_.constant(Type::m, lanes, mask_bits(lanes));
      case 1: {
        const Type type = any_type(Types::Arith);
        return b_.compare(pick(std::array{Op::cmp_eq, Op::cmp_ne, Op::cmp_lt, Op::cmp_ge}),
                          value(type, lanes), value(type, lanes));
      }
      case 2:
        return b_.flag_read(lanes, flag_bit(lanes));
      case 3:
        return b_.bits_mask(value(lanes > 16 ? Type::u32 : Type::u16, 1), lanes);
      case 4:
        if (lanes > 1) return b_.concat(mask(lanes / 2), mask(lanes - lanes / 2));
        return b_.lanewise(Op::not_, {mask(lanes)});
      case 5:
        return b_.lanewise(pick(std::array{Op::and_, Op::or_, Op::xor_, Op::andn}),
                           {mask(lanes), mask(lanes)});
      default:
        if (lanes > function_.simd) return b_.flag_read(lanes, flag_bit(lanes));
        return b_.slice(b_.mask_get(below(function_.mask_variables)), lanes * below(function_.simd / lanes),
                        lanes);
    }
  }
  std::uint64_t mask_bits(unsigned lanes) {
    return chance(40) ? ~std::uint64_t{0} : chance(30) ? 0 : chance(40) ? 1ull << below(lanes) : random_();
  }
  /// A lane mask, or none.
  ValueId lane_mask(unsigned lanes) { return chance(40) ? no_value : mask(lanes); }

  unsigned place(unsigned extent, unsigned alignment) {
    const unsigned last = function_.file_bytes - extent;
    // Near the start, so that regions overlap.
    const unsigned offset = below((chance(70) ? std::min(last, 160u) : last) + 1);
    if (chance(50)) alignment = std::max(alignment, 32u);
    return offset / alignment * alignment;
  }
  static unsigned extent(const Region& region, unsigned lanes, unsigned bytes) {
    unsigned end = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) end = std::max(end, region.byte_of(lane, bytes) + bytes);
    return end;
  }
  Region at_some_place(Region region, unsigned lanes, unsigned bytes) {
    const unsigned size = extent(region, lanes, bytes);
    if (size > function_.file_bytes) region = Region::packed(0);
    const unsigned alignment = chance(96) ? bytes : 1;
    region.offset = static_cast<std::uint16_t>(place(extent(region, lanes, bytes), alignment));
    return region;
  }
  Region read_region(Type type, unsigned lanes) {
    Region region = Region::packed(0);
    switch (below(8)) {
      case 0:
        region = Region::strided(0, 1u << below(3));
        break;
      case 1:
        region = Region::strided(0, 0);
        break;
      case 2: {  // rows of `width`, as <8;8,1>, <0;4,1>, <4;4,0>, <16;8,2>
        constexpr unsigned widths[] = {1, 2, 4, 8, 16};
        const unsigned width = std::min(pick(widths), lanes);
        region = {0, static_cast<std::uint8_t>(pick(std::array{0, 1, 2, 4, 8, 16})),
                  static_cast<std::uint8_t>(width), static_cast<std::uint8_t>(pick(std::array{0, 1, 1, 2}))};
        break;
      }
      default:
        break;
    }
    return at_some_place(region, lanes, size_of(type));
  }
  Region write_region(Type type, unsigned lanes) {
    const bool strided = chance(25);
    return at_some_place(Region::strided(0, strided ? 2u << below(2) : 1), lanes, size_of(type));
  }
  unsigned flag_bit(unsigned lanes) {
    const unsigned bits = function_.flag_bits;
    if (chance(10)) return below(bits - lanes + 1);
    return lanes * below(bits / lanes);
  }

  // Ops.

  void fill_block(BlockId id) {
    b_.set_block(id);
    ip_ = function_.blocks[id].guest_ip;
    b_.set_guest_ip(ip_);
    usable_.clear();
    const unsigned ops = 1 + below(options_.max_block_ops);
    for (unsigned i = 0; i < ops; ++i) {
      if (chance(60)) b_.set_guest_ip(ip_ += 8);
      append_op();
      if (chance(35)) write_back();
    }
    for (unsigned i = 0; i < 4; ++i) write_back();
    end_block(id);
  }

  /// Writes a recent value to a register or flag, where a comparison of states sees it.
  void write_back() {
    if (usable_.empty()) return;
    const ValueId value = usable_[usable_.size() - 1 - below(std::min<std::size_t>(usable_.size(), 6))];
    const Type type = b_.type_of(value);
    const unsigned lanes = b_.lanes_of(value);
    if (is_mask(type))
      b_.flag_write(flag_bit(lanes), value, lane_mask(lanes));
    else if (size_of(type) * lanes <= function_.file_bytes)
      b_.reg_write(write_region(type, lanes), value, lane_mask(lanes));
  }

  void append_op() {
    const Op op = static_cast<Op>(below(op_count));
    const OpInfo& row = info(op);
    const unsigned lanes = any_lanes();
    switch (row.shape) {
      case Shape::Constant:
      case Shape::PoolConst:
      case Shape::Splat:
      case Shape::Slice:
      case Shape::Concat:
      case Shape::RegRead:
        value(any_type(Types::Arith), lanes);
        return;
      case Shape::Convert: {
        const Type to = any_type(row.types);
        const Type from = op == Op::bitcast ? same_size(to) : any_type(row.types);
        keep(b_.convert(op, to, value(from, lanes)));
        return;
      }
      case Shape::Lanewise1:
        keep(b_.lanewise(op, {value(any_type(row.types), lanes)}));
        return;
      case Shape::Lanewise2: {
        const Type type = any_type(row.types);
        keep(b_.lanewise(op, {value(type, lanes), value(type, lanes)}));
        return;
      }
      case Shape::Lanewise3: {
        const Type type = any_type(row.types);
        keep(b_.lanewise(op, {value(type, lanes), value(type, lanes), value(type, lanes)}));
        return;
      }
      case Shape::Compare: {
        const Type type = any_type(row.types);
        keep(b_.compare(op, value(type, lanes), value(type, lanes)));
        return;
      }
      case Shape::Select: {
        const Type type = any_type(row.types);
        keep(b_.select(mask(lanes), value(type, lanes), value(type, lanes)));
        return;
      }
      case Shape::Wide2:
      case Shape::Wide4: {
        const Type type = any_type(row.types);
        const ValueId a = value(type, lanes), b = value(type, lanes), c = value(type, lanes),
                      d = value(type, lanes);
        const auto pair = row.shape == Shape::Wide2 ? b_.wide(op, {a, b}) : b_.wide(op, {a, b, c, d});
        keep(pair.first);
        keep(pair.second);
        return;
      }
      case Shape::Recast: {
        const Type to = any_type(row.types), from = any_type(Types::Int);
        const unsigned narrowest = std::min(size_of(to), size_of(from));
        const unsigned bytes = 32u << below(static_cast<unsigned>(std::bit_width(narrowest)));
        keep(b_.recast(to, value(from, bytes / size_of(from))));
        return;
      }
      case Shape::Join:
        keep(b_.join(value(Type::u32, lanes), value(Type::u32, lanes)));
        return;
      case Shape::MaskToInt: {
        const Type type = any_type(row.types);
        keep(b_.mask_bits(type, mask(std::min(lanes, 8 * size_of(type)))));
        return;
      }
      case Shape::IntToMask: {
        const Type from = any_type(Types::Int);
        const unsigned bits = std::min(lanes, 8 * size_of(from));
        keep(b_.bits_mask(value(from, 1), bits));
        return;
      }
      case Shape::RampTest: {
        // Mostly close to each other, sometimes where the sum wraps.
        const Type type = any_type(row.types);
        const ValueId first = value(type, 1);
        const ValueId near = b_.lanewise(Op::add, {first, b_.constant(type, 1, below(lanes + 8) - 4)});
        keep(b_.ramp(op, first, chance(70) ? near : value(type, 1), lanes));
        return;
      }
      case Shape::PlaceTest: {
        const std::uint32_t here =
            function_.blocks[below(static_cast<unsigned>(function_.blocks.size()))].guest_ip;
        keep(b_.is_place(chance(50) ? value(Type::u32, 1) : b_.constant(Type::u32, 1, here + below(2))));
        return;
      }
      case Shape::MaskGroup:
        keep(b_.mask_group(op, mask(lanes), divisor_of(lanes)));
        return;
      case Shape::RegWrite:
      case Shape::FlagWrite:
        write_back();
        return;
      case Shape::RegGather:
      case Shape::RegScatter:
        return append_indirect(op, any_type(row.types), lanes);
      case Shape::FlagRead:
      case Shape::MaskGet:
        mask(lanes);
        return;
      case Shape::MaskSet:
        return b_.mask_set(below(function_.mask_variables), mask(function_.simd));
      case Shape::Spend:
        return b_.spend(op, below(4), op == Op::spend ? mask(lanes) : value(Type::u64, lanes));
      case Shape::Effect0:
        return b_.effect(op);
      case Shape::Effect1:
        b_.effect(op, b_.constant(Type::u32, 1,
                                  below(4) << 4 | (chance(50)   ? 0x4c0u
                                                   : chance(96) ? 0u
                                                                : 0x40u)));
        return;
      case Shape::Load:
      case Shape::Store:
      case Shape::Atomic:
      case Shape::BlockLoad:
      case Shape::BlockStore:
        if (options_.memory) append_message(op);
        return;
      case Shape::ImageRead:
      case Shape::ImageWrite:
      case Shape::MediaRead:
      case Shape::MediaWrite:
        if (options_.memory) append_image(op);
        return;
      case Shape::Callback: {
        std::vector<ValueId> operands;
        for (unsigned count = below(12); count > 0; --count) operands.push_back(value(Type::u64, 1));
        const unsigned results = below(4);
        const ValueId first = b_.callback(random_(), operands, results);
        for (unsigned k = 0; k < results; ++k) keep(first + k);
        return;
      }
      case Shape::Jump:
      case Shape::Branch:
      case Shape::JumpIp:
      case Shape::Wait:
      case Shape::Exit:
      case Shape::Trap:
        return;
    }
  }

  /// Half of the coordinates address texels of World's images.
  ValueId coordinate(unsigned lanes) {
    const ValueId any = value(Type::u32, lanes);
    if (chance(50)) return any;
    return b_.lanewise(Op::and_, {any, b_.constant(Type::u32, lanes, 15)});
  }

  void append_image(Op op) {
    const RandomImage drawn = random_image(op, random_);
    std::vector<ValueId> args;
    if (drawn.image.surface_is_operand) args.push_back(b_.constant(Type::u32, 1, drawn.image.surface));
    for (unsigned k = 0; k < drawn.image.scalars; ++k)
      args.push_back(b_.constant(Type::u32, 1, drawn.scalars[k]));
    for (unsigned k = 0; k < drawn.coordinates; ++k) args.push_back(coordinate(drawn.lanes));
    for (unsigned k = 0; k < drawn.values; ++k) args.push_back(value(Type::u32, drawn.lanes));
    const ValueId mask = shape_of(op).maskable() ? lane_mask(drawn.lanes) : no_value;
    const ValueId first = b_.image(op, drawn.lanes, drawn.image, args, drawn.results, mask);
    for (unsigned k = 0; k < drawn.results; ++k) keep(first + k);
  }

  void append_indirect(Op op, Type type, unsigned lanes) {
    // Mostly within the register file.
    const unsigned room = function_.indirect_end() - (chance(97) ? 8 : 0);
    ValueId addresses = value(Type::u16, lanes);
    addresses = b_.lanewise(Op::and_, {addresses, b_.constant(Type::u16, lanes, std::bit_floor(room) - 1)});
    if (chance(70))
      addresses = b_.lanewise(Op::and_, {addresses, b_.constant(Type::u16, lanes, 0x10000u - size_of(type))});
    if (lanes > 1 && chance(40)) {  // a run, as with a region behind a single address register
      std::array<std::uint64_t, max_lanes> steps;
      for (unsigned i = 0; i < lanes; ++i) steps[i] = std::uint64_t{i} * size_of(type);
      const ValueId first = b_.splat(b_.slice(addresses, 0, 1), lanes);
      addresses = b_.lanewise(Op::add, {first, b_.vconst(Type::u16, lanes, std::span(steps).first(lanes))});
    }
    const ValueId mask = lane_mask(lanes);
    if (op == Op::reg_scatter && lanes > 1 && chance(40)) {
      const unsigned bytes = size_of(type), source = below(function_.file_bytes / bytes - lanes + 1) * bytes;
      const OwnValues values = chance(70) ? OwnValues::Each : OwnValues::Same;
      const unsigned stride = values == OwnValues::Each ? 1 : 0;
      b_.reg_scatter(addresses, b_.reg_read(type, lanes, Region::strided(source, stride), mask), mask);
      return void(function_.blocks[b_.block()].insts.back().own = {source, 8, values, 0, chance(30)});
    }
    if (op == Op::reg_scatter) return b_.reg_scatter(addresses, value(type, lanes), mask);
    keep(defined(b_.reg_gather(type, addresses, mask), mask));
  }

  /// The value with the undefined lanes outside `mask` replaced.
  ValueId defined(ValueId value, ValueId mask) {
    if (mask == no_value) return value;
    return b_.select(mask, value, b_.constant(b_.type_of(value), b_.lanes_of(value), 0x5a5a5a5a5a5a5a5a));
  }

  using Target = RandomTarget;
  Target any_target() {
    Target target = random_target(random_);
    if (chance(10)) target.mem.offset = below(chance(90) ? 64 : ~0u);
    return target;
  }
  /// The surface operand, or no_value where the access itself names the surface.
  ValueId surface_operand(const Target& target) {
    if (info(target.mem.space).surface == SurfaceBy::Place)
      return b_.constant(Type::u32, 1, chance(97) ? World::buffer_state : below(256));
    if (info(target.mem.space).surface == SurfaceBy::Base)
      return b_.constant(Type::u64, 1, World::region - (chance(10) ? below(64) : 0));
    if (target.mem.space != MemSpace::Surface || chance(75)) return no_value;
    const unsigned index = chance(90) ? target.mem.surface : below(300);
    return chance(50)
               ? b_.constant(Type::u32, 1, index)
               : b_.lanewise(Op::xor_, {b_.constant(Type::u32, 1, index ^ 1), b_.constant(Type::u32, 1, 1)});
  }

  /// Consecutive or uniform addresses whose last byte lies near the end of the target.
  ValueId around_end(const Target& target, unsigned lanes, unsigned element) {
    const Type type = info(target.mem.space).address;
    const bool same = chance(20);
    const std::uint64_t run = same ? element : std::uint64_t{lanes} * element;
    const std::uint64_t end = target.base + target.bytes - std::min(target.mem.offset, target.bytes);
    const std::uint64_t start = end - run - below(5 * element) + (chance(25) ? below(4 * element) : 0);
    std::array<std::uint64_t, max_lanes> places;
    for (unsigned lane = 0; lane < max_lanes; ++lane) places[lane] = start + (same ? 0 : lane * element);
    return b_.vconst(type, lanes, std::span(places).first(lanes));
  }

  /// Addresses for elements `element` bytes apart, where each access spans at most `span` bytes.
  ValueId addresses(const Target& target, unsigned lanes, unsigned element, unsigned span) {
    const Type type = info(target.mem.space).address;
    if (chance(25)) return around_end(target, lanes, element);
    const bool stray = chance(3);
    const unsigned room = std::bit_floor(target.bytes - std::min(target.bytes - 1, span));
    const auto constant = [&](std::uint64_t v) { return b_.constant(type, lanes, v); };
    ValueId offsets;
    if (chance(40)) {  // scattered
      offsets = value(type, lanes);
    } else {  // uniform, or with a constant stride from an unknown start
      offsets = b_.splat(value(type, 1), lanes);
      if (chance(75)) {
        std::array<std::uint64_t, max_lanes> steps;
        const std::uint64_t step =
            chance(70) ? element : pick(std::array<unsigned, 4>{1, 2 * element, 16, 4});
        for (unsigned lane = 0; lane < max_lanes; ++lane) steps[lane] = lane * step;
        // The start is bounded before the stride is added, which preserves the stride.
        if (!stray) offsets = b_.lanewise(Op::and_, {offsets, constant(room / 2 - 1)});
        offsets = b_.lanewise(Op::add, {offsets, b_.vconst(type, lanes, std::span(steps).first(lanes))});
      }
    }
    if (!stray) offsets = b_.lanewise(Op::and_, {offsets, constant(room - 1)});
    if (chance(70)) offsets = b_.lanewise(Op::and_, {offsets, constant(~std::uint64_t{element - 1})});
    return target.base == 0 ? offsets : b_.lanewise(Op::add, {offsets, constant(target.base)});
  }

  void append_message(Op op) {
    const Shape shape = info(op).shape;
    Target target = any_target();
    const bool atomic = shape == Shape::Atomic;
    const Type type = atomic ? pick(std::array{Type::u16, Type::u32, Type::s64}) : any_type(Types::Int);
    const unsigned lanes = any_lanes(), element = size_of(type);
    const ValueId mask = lane_mask(lanes);
    switch (shape) {
      case Shape::Load: {
        choose_components(random_, op, type, target.mem);
        const ValueId address = addresses(target, lanes, element, 4 * element);
        const ValueId surface = surface_operand(target);
        const ValueId first = op == Op::probe ? b_.probe(type, target.mem, address, mask, surface)
                                              : b_.load(type, target.mem, address, mask, surface);
        for (unsigned k = 0; k < target.mem.component_count(); ++k) keep(first + k);
        return;
      }
      case Shape::Store: {
        choose_components(random_, op, type, target.mem);
        std::vector<ValueId> values;
        for (unsigned k = target.mem.component_count(); k > 0; --k) values.push_back(value(type, lanes));
        const ValueId address = addresses(target, lanes, element, 4 * element);
        return b_.store(target.mem, address, values, mask, surface_operand(target));
      }
      case Shape::Atomic: {
        target.mem.atomic = static_cast<AtomicOp>(below(mem::atomic_table.size()));
        std::vector<ValueId> sources;
        for (unsigned k = mem::info(target.mem.atomic).operands; k > 0; --k)
          sources.push_back(value(type, lanes));
        ValueId at = addresses(target, lanes, element, element);
        if (chance(97))
          at = b_.lanewise(Op::and_, {at, b_.constant(b_.type_of(at), lanes, ~std::uint64_t{element - 1})});
        const bool returns = chance(60);
        const ValueId old = b_.atomic(type, target.mem, at, sources, returns, mask, surface_operand(target));
        if (returns) keep(old);
        return;
      }
      default: {
        const ValueId address = addresses(target, 1, element, lanes * element),
                      surface = surface_operand(target);
        if (shape != Shape::BlockLoad)
          return b_.block_store(target.mem, address, value(type, lanes), surface);
        keep(b_.block_load(type, lanes, target.mem, address, surface));
        return;
      }
    }
  }

  void end_block(BlockId id) {
    const auto blocks = static_cast<unsigned>(function_.blocks.size());
    const auto ahead = [&] { return id + 1 + below(blocks - id - 1); };
    if (id + 1 == blocks || chance(5)) {
      if (chance(88)) return b_.exit();
      if (chance(50))
        return b_.trap("a trap",
                       pick(std::array{Op::trap, Op::illegal, Op::breakpoint, Op::software_exception,
                                       Op::external_halt, Op::register_message}));
      return b_.jump_ip(value(Type::u32, 1));
    }
    switch (below(10)) {
      case 0:
        return b_.jump(below(blocks));
      case 1:
        return b_.wait(ahead());
      case 2: {
        const std::uint32_t here = function_.blocks[ahead()].guest_ip,
                            there = function_.blocks[below(blocks)].guest_ip;
        return b_.jump_ip(
            b_.select(mask(1), b_.constant(Type::u32, 1, here), b_.constant(Type::u32, 1, there)));
      }
      case 3:
      case 4:
        return b_.jump(ahead());
      default: {
        const unsigned lanes = any_lanes();
        const ValueId condition = mask(lanes);
        BlockId taken = below(blocks), other = ahead();
        if (chance(50)) std::swap(taken, other);
        return b_.branch_any(condition, taken, other);
      }
    }
  }

  Random random_;
  ProgramOptions options_;
  Function function_;
  Builder b_;
  std::vector<ValueId> usable_;  // values of the block that later ops may take
  unsigned depth_ = 0;
  std::uint32_t ip_ = 0;
};

}  // namespace

Function random_program(std::uint64_t seed, const ProgramOptions& options) {
  return Generator(seed, options).make();
}

}  // namespace eum::jit::test
