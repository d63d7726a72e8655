#pragma once
// Elements of the register file whose bytes or words a block writes one by one: dwords of one channel, as
// compilers build small vectors that are the same in all channels, and words or dwords of several channels,
// as they put pixels together. A read of the whole would wait until all pieces have left the store buffer.
#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "jit/analysis/granule_table.hpp"

namespace eum::jit {

class ElementPieces {
 public:
  struct Piece {
    ir::ValueId value = ir::no_value;
    unsigned byte = 0;  ///< of the element
    unsigned bytes = 0;
  };

  explicit ElementPieces(const ir::Function& function) : elements_(function) {}

  void begin_block() { elements_.begin_block(); }
  /// A reg_write at time `now`, before `writes` notes it.
  void note(const ir::Function& function, const ir::Inst& write, const WriteTimes& writes,
            WriteTimes::Time now) {
    const Shape shape = shape_of(write);
    const unsigned bytes = ir::size_of(write.type), byte = write.region.offset - shape.begin;
    if (shape.bytes == 0 || bytes >= shape.bytes || byte % bytes != 0) return;
    Elements* known = elements_.find(write);
    if (!known || known->shape != shape || !writes.is_kept(write, known->time)) {
      known = &elements_.add(write);
      known->shape = shape;
    }
    known->time = now;
    // An earlier piece of which part is overwritten is lost.
    for (Piece& old : known->pieces)
      if (old.value != ir::no_value && old.byte < byte + bytes && byte < old.byte + old.bytes) old = {};
    known->pieces[byte] = {function.arg(write, 0), byte, bytes};
  }
  /// The pieces of the elements that `read` reads; none if they are not all known.
  std::span<const Piece> of(const ir::Inst& read, const WriteTimes& writes) {
    const unsigned bytes = ir::size_of(read.type);
    if (read.lanes > 1 && read.region.stride(read.lanes) != 1) return {};
    const Elements* known = elements_.find(read);
    const Shape shape{read.region.offset, bytes, read.lanes, read.mask};
    if (!known || known->shape != shape || !writes.is_kept(read, known->time)) return {};
    unsigned count = 0, byte = 0;
    for (const Piece& piece : known->pieces) {
      if (piece.value == ir::no_value) continue;
      if (piece.byte != byte) return {};
      byte += piece.bytes;
      found_[count++] = piece;
    }
    return byte == bytes ? std::span(found_).first(count) : std::span<const Piece>();
  }
  /// The piece of a dword of one channel that `read` reads alone.
  ir::ValueId one(const ir::Inst& read, const WriteTimes& writes) {
    const Elements* known = elements_.find(read);
    if (!known || known->shape.lanes != 1 || read.lanes != 1 || !writes.is_kept(read, known->time))
      return ir::no_value;
    const unsigned byte = read.region.offset - known->shape.begin;
    const Piece& piece = known->pieces[byte];
    return piece.bytes == ir::size_of(read.type) ? piece.value : ir::no_value;
  }

 private:
  static constexpr unsigned largest = WriteTimes::granule;
  /// Adjacent elements, of which pieces are written.
  struct Shape {
    unsigned begin = 0;  ///< byte of the register file
    unsigned bytes = 0;  ///< of an element; 0: none
    unsigned lanes = 0;
    ir::ValueId mask = ir::no_value;
    bool operator==(const Shape&) const = default;
  };
  struct Elements {
    Shape shape;
    WriteTimes::Time time = 0;  ///< of the last piece
    std::array<Piece, largest> pieces{};
  };

  static Shape shape_of(const ir::Inst& write) {
    const int stride = write.region.stride(write.lanes);
    if (write.lanes == 1 && write.mask != ir::no_value) return {};
    if (write.lanes > 1 && (write.lanes < 8 || stride < 2)) return {};
    const unsigned bytes =
        write.lanes == 1 ? largest : static_cast<unsigned>(stride) * ir::size_of(write.type);
    if (bytes > largest || !std::has_single_bit(bytes)) return {};
    return {write.region.offset - write.region.offset % bytes, bytes, write.lanes, write.mask};
  }

  GranuleTable<Elements> elements_;
  std::array<Piece, largest> found_{};
};

}  // namespace eum::jit
