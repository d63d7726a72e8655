#pragma once
// Dwords of the register file whose bytes or words a block writes one by one, as compilers build small
// vectors that are the same in all channels. A read of the whole would wait until all of them have left the
// store buffer.
#include <algorithm>
#include <array>
#include <span>

#include "jit/passes/granule_table.hpp"

namespace eum::jit {

class DwordPieces {
 public:
  struct Piece {
    ir::ValueId value = ir::no_value;
    unsigned byte = 0;  ///< of the dword
    unsigned bytes = 0;
  };

  explicit DwordPieces(const ir::Function& function) : dwords_(function) {}

  void begin_block() { dwords_.begin_block(); }
  /// A reg_write at time `now`, before `writes` notes it.
  void note(const ir::Function& function, const ir::Inst& write, const WriteTimes& writes,
            WriteTimes::Time now) {
    const Piece piece{function.arg(write, 0), write.region.offset % WriteTimes::granule,
                      ir::size_of(write.type)};
    if (write.lanes != 1 || write.mask != ir::no_value || piece.bytes >= WriteTimes::granule ||
        piece.byte % piece.bytes != 0)
      return;
    Dword* dword = dwords_.find(write);
    if (!dword || !writes.is_kept(write, dword->time)) dword = &dwords_.add(write);
    dword->time = now;
    // An earlier piece of which part is overwritten is lost.
    for (Piece& old : dword->pieces)
      if (old.value != ir::no_value && old.byte < piece.byte + piece.bytes &&
          piece.byte < old.byte + old.bytes)
        old = {};
    dword->pieces[piece.byte] = piece;
  }
  /// The pieces of the dword that `read`, which reads one, reads; none if they are not all known.
  std::span<const Piece> of(const ir::Inst& read, const WriteTimes& writes) {
    const Dword* dword = read.region.offset % WriteTimes::granule == 0 ? dwords_.find(read) : nullptr;
    if (!dword || !writes.is_kept(read, dword->time)) return {};
    unsigned count = 0, byte = 0;
    for (const Piece& piece : dword->pieces) {
      if (piece.value == ir::no_value) continue;
      if (piece.byte != byte) return {};
      byte += piece.bytes;
      found_[count++] = piece;
    }
    return byte == WriteTimes::granule ? std::span(found_).first(count) : std::span<const Piece>();
  }

 private:
  struct Dword {
    WriteTimes::Time time = 0;  ///< of the last piece
    std::array<Piece, WriteTimes::granule> pieces{};
  };

  GranuleTable<Dword> dwords_;
  std::array<Piece, WriteTimes::granule> found_{};
};

}  // namespace eum::jit
