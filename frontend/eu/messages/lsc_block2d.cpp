// LSC block2d messages: a rectangle of elements of a surface whose size and pitch the message gives (vISA
// document LSC_UNTYPED). Each row is one access, masked to the elements inside the surface. A region
// describes where the elements of a row go in registers, in every layout.
#include <algorithm>
#include <bit>
#include <vector>

#include "frontend/eu/messages/lsc_lowering.hpp"

namespace eum::eu {
namespace {

enum Argument : std::uint8_t { Base, Width, Height, Pitch, X, Y };

/// How elements are laid out in registers.
struct Shape {
  unsigned element;  ///< bytes
  unsigned width, height, blocks;
  bool transposed;
  unsigned together;  ///< elements of a column, transposed of a row, that share a dword
  unsigned pitch;     ///< elements from one row in registers to the next: a power of two
  unsigned block;     ///< elements that a block occupies, in whole registers

  Shape(const LscMessage& m, unsigned grf_bytes)
      : element(ir::size_of(m.memory)),
        width(m.width),
        height(m.height),
        blocks(m.blocks),
        transposed(m.transposed),
        together(m.vnni ? std::max(1u, 4 / element) : 1),
        pitch(std::bit_ceil(transposed ? height : width)) {
    const unsigned in_register = grf_bytes / element, rows = transposed ? width : height;
    block = (pitch * rows + in_register - 1) / in_register * in_register;
  }

  unsigned bytes() const { return blocks * block * element; }
  /// Region of elements `first` to first + lanes - 1 of row `y` of block `b`, from byte `offset` on.
  ir::Region row(unsigned offset, unsigned b, unsigned y, unsigned first) const {
    const auto narrow = [](unsigned n) { return static_cast<std::uint8_t>(n); };
    if (!transposed) {
      const unsigned at = b * block + y / together * together * pitch + y % together + first * together;
      return ir::Region::strided(offset + at * element, together);
    }
    // `first` is a multiple of `together`.
    const unsigned at = b * block + first * pitch + y * together;
    return {offset + at * element, narrow(together * pitch), narrow(together), 1};
  }
};

class Block2d {
 public:
  Block2d(LscLowering& t, const Shape& shape) : t_(t), b_(t.b), shape_(shape) {
    base_ = t.scalar(t.m.addresses[Base], ir::Type::u64);
    const auto limit = [&](Argument which) {
      const ir::ValueId less = t.scalar(t.m.addresses[which], ir::Type::u32);
      return b_.lanewise(ir::Op::add, {b_.convert(ir::Op::convert, ir::Type::u64, less), wide(1)});
    };
    // An element is in the surface only if it is entirely within a row.
    columns_ = b_.lanewise(ir::Op::shr,
                           {limit(Width), wide(static_cast<unsigned>(std::countr_zero(shape.element)))});
    pitch_ = limit(Pitch);
    const auto corner = [&](Argument which, std::int32_t offset) {
      ir::ValueId at = t.scalar(t.m.addresses[which], ir::Type::s32);
      if (offset != 0)
        at = b_.lanewise(ir::Op::add, {at, t.number(ir::Type::s32, static_cast<std::uint32_t>(offset))});
      return b_.convert(ir::Op::bitcast, ir::Type::u64, b_.convert(ir::Op::convert, ir::Type::s64, at));
    };
    x_ = corner(X, t.m.offset[0]);
    y_ = corner(Y, t.m.offset[1]);
    rows_ = inside(y_, 0, shape.height, limit(Height));
    if (const ir::ValueId mask = t.mask(); mask != ir::no_value)
      rows_ =
          b_.lanewise(ir::Op::and_, {rows_, b_.lanewise(ir::Op::neg, {b_.mask_bits(ir::Type::u32, mask)})});
  }

  /// Calls visit(block, row, first element, lanes, addresses, mask) for each piece of a row.
  template <class Visit>
  void for_each_piece(Visit visit) {
    for (unsigned block = 0; block < shape_.blocks; ++block)
      for (unsigned first = 0; first < shape_.width; first += ir::max_lanes) {
        const unsigned lanes = std::min(shape_.width - first, ir::max_lanes);
        const unsigned left = block * shape_.width + first;
        const ir::ValueId columns = inside(x_, left, lanes, columns_);
        const ir::ValueId x = b_.lanewise(ir::Op::add, {x_, wide(left)});
        const ir::ValueId start =
            b_.lanewise(ir::Op::add, {base_, b_.lanewise(ir::Op::mul, {x, wide(shape_.element)})});
        const ir::ValueId distances = t_.steps(ir::Type::u64, lanes, shape_.element);
        for (unsigned row = 0; row < shape_.height; ++row) {
          const ir::ValueId y = b_.lanewise(ir::Op::add, {y_, wide(row)});
          const ir::ValueId at = b_.lanewise(ir::Op::add, {start, b_.lanewise(ir::Op::mul, {y, pitch_})});
          const ir::ValueId where = b_.lanewise(ir::Op::add, {b_.splat(at, lanes), distances});
          visit(block, row, first, lanes, where, both(columns, row, lanes));
        }
      }
  }

 private:
  ir::ValueId wide(std::uint64_t value) { return b_.constant(ir::Type::u64, 1, value); }
  /// Bit i: whether start + first + i, which may be negative, is at least 0 and below `limit`.
  ir::ValueId inside(ir::ValueId start, unsigned first, unsigned count, ir::ValueId limit) {
    const ir::ValueId places =
        b_.lanewise(ir::Op::add, {b_.splat(start, count), t_.steps(ir::Type::u64, count, 1, first)});
    return b_.mask_bits(ir::Type::u32, b_.compare(ir::Op::cmp_lt, places, b_.splat(limit, count)));
  }
  /// A mask of `columns` if row `row` is in the surface, else an empty one.
  ir::ValueId both(ir::ValueId columns, unsigned row, unsigned lanes) {
    const auto number = [&](std::uint32_t n) { return b_.constant(ir::Type::u32, 1, n); };
    const ir::ValueId bit =
        b_.lanewise(ir::Op::and_, {b_.lanewise(ir::Op::shr, {rows_, number(row)}), number(1)});
    return b_.bits_mask(b_.lanewise(ir::Op::and_, {columns, b_.lanewise(ir::Op::neg, {bit})}), lanes);
  }

  LscLowering& t_;
  ir::Builder& b_;
  const Shape& shape_;
  ir::ValueId base_, columns_, pitch_, x_, y_, rows_;
};

/// Clears all registers of the block.
void clear(LscLowering& t, unsigned offset, unsigned bytes, ir::ValueId mask) {
  const auto write = [&](ir::Type type, unsigned done, unsigned lanes) {
    t.b.reg_write(ir::Region::packed(offset + done), t.b.constant(type, lanes, 0), t.spread(mask, lanes));
  };
  unsigned done = 0;
  for (; bytes - done >= 4; done += 4 * std::min((bytes - done) / 4, ir::max_lanes))
    write(ir::Type::u32, done, std::min((bytes - done) / 4, ir::max_lanes));
  if (done != bytes) write(ir::Type::u8, done, bytes - done);
}

}  // namespace

void lower_lsc_block2d(LscLowering& t) {
  const LscMessage& m = t.m;
  ir::Builder& b = t.b;
  const bool store = m.operation == LscOperation::StoreBlock2d;
  const Operand& data = store ? m.data[0] : m.dst;
  const Shape shape(m, t.l.target().grf_bytes);
  const unsigned bytes = std::min(shape.bytes(), m.room);
  if ((!store && !m.returns()) || !t.fits(data, bytes)) return;
  Block2d block(t, shape);
  const ir::MemoryAccess access = ir::MemoryAccess::in(ir::MemSpace::A64);
  if (store) {
    block.for_each_piece(
        [&](unsigned index, unsigned row, unsigned first, unsigned lanes, ir::ValueId where, ir::ValueId on) {
          const std::array value{b.reg_read(m.memory, lanes, shape.row(data.offset, index, row, first))};
          b.store(access, where, value, on);
        });
    return;
  }
  struct Piece {
    ir::Region region;
    ir::ValueId value;
  };
  std::vector<Piece> loaded;
  block.for_each_piece(
      [&](unsigned index, unsigned row, unsigned first, unsigned, ir::ValueId where, ir::ValueId on) {
        loaded.push_back({shape.row(data.offset, index, row, first), b.load(m.memory, access, where, on)});
      });
  const ir::ValueId mask = t.mask();
  clear(t, data.offset, bytes, mask);
  for (const Piece& piece : loaded)
    b.reg_write(piece.region, piece.value, t.spread(mask, b.lanes_of(piece.value)));
}

}  // namespace eum::eu
