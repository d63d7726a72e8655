#pragma once
// What one lane of a loop's values is in several consecutive turns: a vector with a lane for each turn, or a
// number and how much it increases from turn to turn. Several values, such as x y z w of a float4, are one
// vector if the same is computed of each: theirs of the first turn, then those of the next.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/ir/builder.hpp"
#include "jit/analysis/counted_loop.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/passes/turn_sums.hpp"

namespace eum::jit {

class TurnValues {
 public:
  /// Of the loop that consists of one block, in which nothing changes what is read but `counters` and the
  /// loop's own writes. What computes the values is appended to the builder's block.
  TurnValues(ir::Builder& to, ir::BlockId loop, std::span<const CountedLoop::Counter> counters,
             unsigned turns);

  /// Lane `lane` of the values in all turns: `turns` x values.size() lanes. Nothing: the ops cannot be done
  /// like that.
  std::optional<ir::ValueId> in_turns(std::span<const ir::ValueId> values, unsigned lane);
  /// A value of one lane that increases by the same number in each turn. Nothing: it does not.
  std::optional<TurnSum> sum(ir::ValueId value, unsigned lane);
  /// Stores what in_turns() has returned for the data of stores that write adjacent elements in each turn,
  /// from `place` on in the first; each turn's go before or behind those of the turn before. `store`: the one
  /// of the lowest. `mask`: the turns in which one of a single element a turn does. False: it cannot be
  /// stored at once.
  bool store_row(const ir::Inst& store, const TurnSum& place, ir::ValueId data,
                 ir::ValueId mask = ir::no_value);
  /// Appends writes of the registers from which a turn takes what the turn before has left.
  void write_left();
  /// The value in the first turn, with all its lanes.
  std::optional<ir::ValueId> first_turn(ir::ValueId value);
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
  static constexpr unsigned recast_bytes = 32;

  /// A `sum`, if it is of 32 bits and no `vector`; else one of `first`, the same in all turns, and `vector`.
  struct Value {
    ir::Type type;
    std::optional<TurnSum> sum = {};
    ir::ValueId first = ir::no_value;
    ir::ValueId vector = ir::no_value;
    bool is_alike() const { return vector == ir::no_value && (!sum || sum->step == 0); }
  };
  /// Of a value's lane.
  using Key = std::pair<ir::ValueId, unsigned>;
  using Values = std::map<Key, Value>;
  /// One of each component.
  using Set = std::vector<ir::ValueId>;
  /// `parts`: elements of a dword, if the lane is one of dwords that have been recast.
  struct SetKey {
    Set values;
    unsigned lane, parts;
    bool is_of_one() const { return std::ranges::count(values, values[0]) == std::ssize(values); }
    bool operator<(const SetKey& other) const {
      return std::tie(values, lane, parts) < std::tie(other.values, other.lane, other.parts);
    }
  };
  using Sets = std::map<SetKey, ir::ValueId>;
  struct Write {
    std::uint32_t index;  ///< in the loop
    SlotRange bytes;      ///< of the register file
  };

  const ir::Inst* definition(ir::ValueId value) const;
  const Value* find(ir::ValueId value, unsigned lane);
  std::optional<Value> make(const ir::Inst& inst, ir::ValueId value, unsigned lane);
  std::optional<Value> read(const ir::Inst& inst, std::uint32_t index, unsigned lane);
  std::optional<Value> counter(const ir::Inst& read, SlotRange bytes);
  std::optional<Value> written(const Write& write, ir::Type type, SlotRange bytes);
  std::optional<Value> from_turn_before(const ir::Inst& one, const Value& value);
  std::optional<Value> part(const ir::Inst& inst, unsigned operand, unsigned lane);
  std::optional<Value> compute(const ir::Inst& inst, unsigned result, unsigned lane);
  Value alike(ir::Type type, ir::ValueId first, bool is_own);
  Value cast(const Value& value, ir::Type type);
  ir::ValueId first_of(const Value& value);
  ir::ValueId as_vector(const Value& value);
  ir::ValueId spread(ir::ValueId first, std::span<const std::uint32_t> steps);
  struct Parts {
    ir::Type type;
    unsigned lanes;
  };
  std::optional<Parts> parts_of(ir::MemoryAccess& access, ir::Type type, unsigned elements) const;
  unsigned lanes_of(const SetKey& key) const {
    return static_cast<unsigned>(turns_ * key.values.size() * key.parts);
  }
  std::optional<ir::ValueId> set(const Set& values, unsigned lane, unsigned parts = 1);
  std::optional<ir::ValueId> make_set(const SetKey& key);
  std::optional<ir::ValueId> set_of(std::span<const ir::Inst* const> by, const SetKey& key);
  std::optional<ir::ValueId> equal_set(const SetKey& key);
  std::optional<ir::ValueId> set_of_sums(const SetKey& key);
  std::optional<ir::ValueId> constants(std::span<const ir::Inst* const> by, unsigned parts);
  std::optional<ir::ValueId> load_set(std::span<const ir::Inst* const> by, const SetKey& key);
  std::optional<ir::ValueId> load_block(const ir::Inst& load, ir::MemoryAccess access, const TurnSum& place,
                                        unsigned elements);
  bool may_load_apart(const ir::Inst& load, const Value& address);
  bool is_looked_up(ir::ValueId value);
  bool may_be_sum(ir::ValueId value, unsigned depth = 0) const;
  std::optional<Value> load_row(const ir::Inst& load, unsigned component, const Value& address);
  bool varies(ir::ValueId value);
  ir::ValueId append(ir::Inst inst, unsigned lanes, std::span<const ir::ValueId> args);

  ir::Builder& to_;
  ir::Function& function_;
  ir::BlockId loop_;
  std::span<const CountedLoop::Counter> counters_;
  std::vector<Write> writes_;  ///< to registers that are no counters
  std::vector<Row> rows_;
  std::unordered_map<ir::ValueId, std::uint32_t> definitions_;
  std::unordered_map<ir::ValueId, bool> varies_;     ///< from lane to lane
  std::unordered_map<ir::ValueId, bool> looked_up_;  ///< what is_looked_up() has returned
  TurnSums sums_;
  unsigned turns_;
  unsigned depth_ = 0;
  std::set<Key> pending_;  ///< being made, or not possible
  Values own_, shared_;    ///< of one lane; of all
  Sets own_sets_, shared_sets_;
  std::map<std::uint32_t, ir::ValueId> left_;  ///< in registers when the turns end, by their places
  std::map<std::pair<ir::ValueId, std::vector<std::uint32_t>>, ir::ValueId> spread_;
  std::unordered_map<ir::ValueId, ir::ValueId> first_turns_;
};

}  // namespace eum::jit
