#pragma once
// What one lane of a loop's values is in several consecutive turns: a vector with a lane for each turn, or a
// number and how much it increases from turn to turn. Several values, such as x y z w of a float4, are one
// vector if the same is computed of each: theirs of the first turn, then those of the next.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/ir/builder.hpp"
#include "jit/analysis/counted_loop.hpp"
#include "jit/analysis/liveness.hpp"

namespace eum::jit {

class TurnValues {
 public:
  /// Of the loop that consists of one block, in which nothing changes what is read but `counters`.
  TurnValues(ir::Function& function, ir::BlockId loop, std::span<const CountedLoop::Counter> counters,
             unsigned turns);

  /// Appends what computes lane `lane` of the values to the builder's block, and returns a vector of
  /// `turns` x values.size() lanes. Nothing: the ops cannot be done like that.
  std::optional<ir::ValueId> in_turns(ir::Builder& to, std::span<const ir::ValueId> values, unsigned lane);
  /// A value of one lane that increases by the same number in each turn.
  struct Linear {
    ir::ValueId first;  ///< in the first turn
    std::uint32_t step;
  };
  /// As in_turns(); nothing: it increases in another way.
  std::optional<Linear> linear(ir::Builder& to, ir::ValueId value, unsigned lane);
  /// Stores what in_turns() has returned for the data of a store, from the address of the first turn on.
  /// False: it cannot be stored at once.
  bool store_row(ir::Builder& to, const ir::Inst& store, ir::ValueId address, ir::ValueId data);
  /// The value in the first turn, with all its lanes.
  std::optional<ir::ValueId> first_turn(ir::Builder& to, ir::ValueId value);
  /// Begins a block: what has been computed is not known in it.
  void begin_block();
  /// What has been computed of single lanes will not be needed any more.
  void end_lane() {
    own_.clear();
    own_sets_.clear();
  }

  /// Adjacent elements that are loaded at once, in all turns: their addresses must not wrap around.
  struct Row {
    ir::ValueId address;  ///< in the loop
    unsigned bytes;       ///< from turn to turn
    bool operator==(const Row&) const = default;
  };
  std::span<const Row> loaded_rows() const { return rows_; }

 private:
  /// Exactly one of `first` and `vector` is given.
  struct Value {
    ir::ValueId first = ir::no_value;
    std::uint32_t step = 0;
    ir::ValueId vector = ir::no_value;
    std::optional<std::uint32_t> constant = {};  ///< of 32 bits, the same in all turns
    bool is_linear() const { return vector == ir::no_value; }
    bool is_alike() const { return is_linear() && step == 0; }
  };
  using Values = std::map<std::pair<ir::ValueId, unsigned>, Value>;
  /// One of each component.
  using Set = std::vector<ir::ValueId>;
  /// `parts`: elements of a dword, if the lane is one of dwords that have been recast.
  struct SetKey {
    Set values;
    unsigned lane, parts;
    bool operator<(const SetKey& other) const {
      return std::tie(values, lane, parts) < std::tie(other.values, other.lane, other.parts);
    }
  };
  using Sets = std::map<SetKey, ir::ValueId>;

  const ir::Inst* definition(ir::ValueId value) const;
  const Value* find(ir::ValueId value, unsigned lane);
  std::optional<Value> make(const ir::Inst& inst, ir::ValueId value, unsigned lane);
  std::optional<Value> read(const ir::Inst& inst, unsigned lane);
  std::optional<Value> linear_result(const ir::Inst& inst, std::span<const Value> operands);
  std::optional<Value> compute(const ir::Inst& inst, unsigned result, unsigned lane);
  struct Parts {
    ir::Type type;
    unsigned lanes;
  };
  std::optional<Parts> parts_of(ir::MemoryAccess& access, ir::Type type, unsigned elements) const;
  std::optional<ir::ValueId> set(const Set& values, unsigned lane, unsigned parts = 1);
  std::optional<ir::ValueId> make_set(const SetKey& key);
  std::optional<ir::ValueId> equal_set(const SetKey& key, unsigned lanes);
  std::optional<ir::ValueId> constants(std::span<const ir::Inst* const> by, unsigned parts);
  std::optional<ir::ValueId> load_set(const ir::Inst& load, const Set& values, unsigned lane);
  std::optional<ir::ValueId> load_block(const ir::Inst& load, ir::MemoryAccess access, ir::ValueId first,
                                        unsigned elements);
  bool may_load_apart(const ir::Inst& load, const Value& address);
  bool is_looked_up(ir::ValueId value);
  std::optional<Value> load_row(const ir::Inst& load, unsigned component, const Value& address);
  ir::ValueId as_vector(const Value& value);
  bool varies(ir::ValueId value);
  ir::ValueId append_first(const ir::Inst& inst, std::span<const Value> operands);
  ir::ValueId append(ir::Inst inst, unsigned lanes, std::span<const ir::ValueId> args);

  ir::Function& function_;
  ir::BlockId loop_;
  std::span<const CountedLoop::Counter> counters_;
  std::vector<SlotRange> written_;  ///< bytes of the register file that are no counters
  std::vector<Row> rows_;
  std::unordered_map<ir::ValueId, std::uint32_t> definitions_;
  std::unordered_map<ir::ValueId, bool> varies_;     ///< from lane to lane
  std::unordered_map<ir::ValueId, bool> looked_up_;  ///< what is_looked_up() has returned
  ir::Builder* to_ = nullptr;
  unsigned turns_;
  unsigned depth_ = 0;
  Values own_, shared_;  ///< of one lane; of all
  Sets own_sets_, shared_sets_;
  std::map<std::pair<ir::ValueId, std::uint32_t>, ir::ValueId> spread_;
  std::unordered_map<ir::ValueId, ir::ValueId> first_turns_;
};

}  // namespace eum::jit
