// The table of lane functions: one for each lanewise row of ops.def and type that it takes.
#include "frontend/ir/semantics/lane_function.hpp"

#include <cstring>
#include <utility>

#include "frontend/ir/semantics/convert.hpp"

namespace eum::ir {
namespace {

template <class T>
T lane_of(const void* lanes, unsigned i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(lanes) + i * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void set_lane(void* lanes, unsigned i, T value) {
  std::memcpy(static_cast<std::byte*>(lanes) + i * sizeof(T), &value, sizeof(T));
}
std::uint32_t lane_bits(unsigned lanes) { return lanes >= 32 ? ~0u : (1u << lanes) - 1; }

constexpr unsigned operand_count(Shape shape) { return info(shape).operands.count; }

/// Calls body(lane k of operand 0, lane k of operand 1, ...).
template <class T, std::size_t... k, class Body>
auto with_operands(const void* const* args, unsigned i, std::index_sequence<k...>, Body body) {
  return body(lane_of<T>(args[k], i)...);
}

template <Op op, Type type>
void eval_lanes(void* results, const void* const* args, unsigned lanes) {
  using T = Lane<type>;
  constexpr Shape shape = info(op).shape;
  constexpr auto operands = std::make_index_sequence<operand_count(shape)>();
  const auto lane = [&](unsigned i) {
    return with_operands<T>(args, i, operands, [](auto... values) { return eval_lane<op>(values...); });
  };
  if constexpr (shape == Shape::Compare) {
    std::uint32_t mask = 0;
    for (unsigned i = 0; i < lanes; ++i) mask |= std::uint32_t{lane(i)} << i;
    set_lane(results, 0, mask);
  } else if constexpr (shape == Shape::Wide2 || shape == Shape::Wide4) {
    for (unsigned i = 0; i < lanes; ++i) {
      const Two<T> two = lane(i);
      set_lane(results, i, two.first);
      set_lane(results, lanes + i, two.second);
    }
  } else {
    for (unsigned i = 0; i < lanes; ++i) set_lane<T>(results, i, lane(i));
  }
}

/// Bitwise ops on masks: on all lanes at once.
template <Op op>
void eval_mask(void* results, const void* const* args, unsigned lanes) {
  constexpr auto operands = std::make_index_sequence<operand_count(info(op).shape)>();
  const auto mask = with_operands<std::uint32_t>(args, 0, operands,
                                                 [](auto... values) { return eval_lane<op>(values...); });
  set_lane(results, 0, mask & lane_bits(lanes));
}

template <Type type>
void select_lanes(void* results, const void* const* args, unsigned lanes) {
  using T = Bits<Lane<type>>;
  const auto mask = lane_of<std::uint32_t>(args[0], 0);
  for (unsigned i = 0; i < lanes; ++i)
    set_lane(results, i, lane_of<T>(args[(mask >> i & 1) != 0 ? 1 : 2], i));
}

template <Op op, Type to, Type from>
void convert_lanes(void* results, const void* const* args, unsigned lanes) {
  // Through a copy, so that results may be the operand whatever the sizes.
  std::array<Lane<from>, max_lanes> values;
  std::memcpy(values.data(), args[0], lanes * sizeof(Lane<from>));
  for (unsigned i = 0; i < lanes; ++i)
    set_lane(results, i, Semantics<op>::template eval<Lane<to>, Lane<from>>(values[i]));
}

template <Op op, Type type>
constexpr LaneFunction lanewise_entry() {
  constexpr OpInfo row = info(op);
  if constexpr (!takes(row.types, type)) {
    return nullptr;
  } else if constexpr (row.shape == Shape::Select) {
    return &select_lanes<type>;
  } else if constexpr (!info(row.shape).lanewise() || row.shape == Shape::Convert) {
    return nullptr;
  } else if constexpr (is_mask(type)) {
    return &eval_mask<op>;
  } else {
    return &eval_lanes<op, type>;
  }
}

template <Op op, Type to, Type from>
constexpr LaneFunction convert_entry() {
  constexpr OpInfo row = info(op);
  if constexpr (row.shape != Shape::Convert || !takes(row.types, to) || !takes(row.types, from)) {
    return nullptr;
  } else if constexpr (op == Op::bitcast && size_of(to) != size_of(from)) {
    return nullptr;
  } else {
    return &convert_lanes<op, to, from>;
  }
}

using ByType = std::array<LaneFunction, type_count>;

template <Op op>
constexpr ByType lanewise_row() {
  return []<std::size_t... t>(std::index_sequence<t...>) {
    return ByType{lanewise_entry<op, static_cast<Type>(t)>()...};
  }
  (std::make_index_sequence<type_count>());
}
constexpr auto lanewise_table = []<std::size_t... o>(std::index_sequence<o...>) {
  return std::array<ByType, op_count>{lanewise_row<static_cast<Op>(o)>()...};
}
(std::make_index_sequence<op_count>());

template <Op op, Type to>
constexpr ByType convert_row() {
  return []<std::size_t... t>(std::index_sequence<t...>) {
    return ByType{convert_entry<op, to, static_cast<Type>(t)>()...};
  }
  (std::make_index_sequence<type_count>());
}
template <Op op>
constexpr auto convert_rows() {
  return []<std::size_t... t>(std::index_sequence<t...>) {
    return std::array<ByType, type_count>{convert_row<op, static_cast<Type>(t)>()...};
  }
  (std::make_index_sequence<type_count>());
}
constexpr auto convert_table = []<std::size_t... o>(std::index_sequence<o...>) {
  return std::array<std::array<ByType, type_count>, op_count>{convert_rows<static_cast<Op>(o)>()...};
}
(std::make_index_sequence<op_count>());

}  // namespace

LaneFunction lane_function(Op op, Type type, Type from) {
  const auto o = static_cast<std::size_t>(op), t = static_cast<std::size_t>(type);
  return info(op).shape == Shape::Convert ? convert_table[o][t][static_cast<std::size_t>(from)]
                                          : lanewise_table[o][t];
}

}  // namespace eum::ir
