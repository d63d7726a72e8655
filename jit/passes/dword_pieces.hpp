#pragma once
// Dwords of the register file whose bytes or words a block writes one by one, as compilers build small
// vectors that are the same in all channels. A read of the whole would wait until all of them have left the
// store buffer.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "jit/passes/write_times.hpp"

namespace eum::jit {

class DwordPieces {
 public:
  struct Piece {
    ir::ValueId value = ir::no_value;
    unsigned byte = 0;  ///< of the dword
    unsigned bytes = 0;
  };

  explicit DwordPieces(const ir::Function& function)
      : dword_at_(function.file_bytes / WriteTimes::granule + 64) {}

  void begin_block() {
    first_ += dwords_.size();
    dwords_.clear();
  }
  /// A reg_write at time `now`, before `writes` notes it.
  void note(const ir::Function& function, const ir::Inst& write, const WriteTimes& writes,
            WriteTimes::Time now) {
    const Piece piece{function.arg(write, 0), write.region.offset % WriteTimes::granule,
                      ir::size_of(write.type)};
    if (write.lanes != 1 || write.mask != ir::no_value || piece.bytes >= WriteTimes::granule ||
        piece.byte % piece.bytes != 0)
      return;
    Dword* dword = find(write);
    if (!dword || !writes.is_kept(write, dword->time)) {
      if (!dword) {
        dwords_.emplace_back();
        dword_at_[write.region.offset / WriteTimes::granule] = first_ + dwords_.size();
        dword = &dwords_.back();
      }
      *dword = {};
    }
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
    const Dword* dword = read.region.offset % WriteTimes::granule == 0 ? find(read) : nullptr;
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
  Dword* find(const ir::Inst& access) {
    const std::size_t at = dword_at_[access.region.offset / WriteTimes::granule];
    return at > first_ ? &dwords_[at - first_ - 1] : nullptr;
  }

  std::vector<Dword> dwords_;          // of this block
  std::size_t first_ = 0;              // how many blocks before it had
  std::vector<std::size_t> dword_at_;  // by granule, from 1 on
  std::array<Piece, WriteTimes::granule> found_{};
};

}  // namespace eum::jit
