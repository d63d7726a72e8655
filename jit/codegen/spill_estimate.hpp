#pragma once
// SpillEstimate: how many vectors are moved between registers and memory if instructions are emitted in some
// order. It knows less than the allocator, but the order need not be emitted to ask for it.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/codegen/block_code.hpp"
#include "jit/codegen/target.hpp"

namespace eum::jit::codegen {

class SpillEstimate {
 public:
  SpillEstimate(const ir::Function& function, const Target& target);

  /// From now on of another block, of which nothing is known.
  void begin_block() { ++block_; }
  /// These instructions of the block come behind those to be ordered.
  void note_uses(std::span<const CodeInst> insts);
  /// The instructions to be ordered.
  void begin(std::span<const CodeInst> insts);
  /// Moves in this order of them, with an allocator that evicts what is used last.
  unsigned moves(std::span<const std::uint32_t> order);
  /// Vectors of a value; none for scalars and masks.
  unsigned vectors_of(ir::ValueId value) const { return vectors_[value]; }

 private:
  static constexpr std::uint32_t none = ~0u;
  /// What one register holds. Values that consist of the same ones, such as slices, share them.
  struct Piece {
    std::uint32_t first_use = 0, uses = 0;  ///< in uses_
    std::uint32_t next = 0;                 ///< among them
    std::uint32_t used_at = none;           ///< the last place
    bool used_behind = false;
    bool is_read = false;  ///< from the register file
  };
  /// The pieces of a value, in pieces_of_values_.
  struct Pieces {
    std::uint32_t run = 0, first = 0, count = 0;
  };
  /// A piece in a register.
  struct Held {
    std::uint32_t piece, next_use;
    bool in_memory;  ///< as well
  };

  void define(const CodeInst& inst);
  bool shares(const CodeInst& inst);
  unsigned mask_vectors(const CodeInst& inst) const;
  void add(ir::ValueId value, unsigned count, bool is_read = false);
  void take(ir::ValueId value, ir::ValueId of, std::size_t first, std::size_t count);
  std::span<const std::uint32_t> pieces_of(ir::ValueId value) const;
  void find_uses(std::span<const std::uint32_t> order);
  void step(const CodeInst& inst, std::uint32_t at);
  void use(std::uint32_t piece, std::uint32_t at);
  void hold(std::uint32_t piece, std::uint32_t at, bool in_memory);
  std::uint32_t next_use(std::uint32_t piece, std::uint32_t at);

  const ir::Function& function_;
  const Target target_;
  std::vector<std::uint8_t> vectors_;       // of each value
  std::uint32_t block_ = 0, run_ = 0;       // counters
  std::vector<std::uint32_t> used_behind_;  // of each value: the block in which it is used behind the run
  std::vector<Pieces> values_;
  std::vector<std::uint32_t> pieces_of_values_;
  std::vector<Piece> pieces_;
  std::span<const CodeInst> insts_;
  std::vector<std::uint8_t> is_free_;  // of each instruction: it only gives pieces another name
  std::vector<std::uint32_t> uses_;    // of the pieces: places in the order
  std::vector<Held> held_;
  std::uint32_t end_ = 0;
  unsigned moves_ = 0;
};

}  // namespace eum::jit::codegen
