// Elements that lie side by side in each lane's part of a buffer, as in
//   for (int j = 0; j < 4; j++) to[4 * i + j] = 2 * from[4 * i + j];
// Unless pointers are declared `restrict`, compilers emit a load and a store for each of them, in turns: what
// is stored might be what is loaded next. A launch knows whether its buffers share memory. If they do not, a
// lane's elements are all loaded where the first of them is, and stored where the last one is. Bytes and
// words are moved as dwords: so compilers move vectors of them, and later passes take those for vectors.
// Pixels of two or three bytes, one behind the other, are stored as they are.
#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "jit/analysis/lane_sums.hpp"
#include "jit/analysis/surface_order.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

constexpr unsigned dword = 4;           // bytes
constexpr std::size_t most_joined = 4;  // dwords

/// One element of each lane.
struct Access {
  std::uint32_t index = 0;   ///< in the block
  std::uint32_t offset = 0;  ///< bytes, from its group's terms
  std::uint32_t place = 0;   ///< where it will be done
};

/// Loads or stores of a surface whose addresses are constants apart, the same in each lane.
struct Group {
  LaneSum::Term varying, uniform;  ///< of the addresses
  ValueId mask = no_value;
  Type type{};  ///< of the elements
  std::uint8_t lanes = 0;
  std::uint8_t surface = 0;
  std::vector<Access> accesses;

  bool is_like(const Group& other) const {
    return varying == other.varying && uniform == other.uniform && mask == other.mask && type == other.type &&
           lanes == other.lanes && surface == other.surface;
  }
};

/// An instruction in place of several.
struct Whole {
  std::uint32_t place = 0;              ///< of the one that it replaces
  std::vector<std::uint32_t> elements;  ///< the indices of all, in the order of memory
};

/// The bytes from the first of these elements to the end of the last one.
class Extent {
 public:
  void add(std::uint32_t offset, Type type) {
    if (!origin_) origin_ = offset;
    const std::int64_t begin = static_cast<std::int32_t>(offset - *origin_);
    begin_ = std::min(begin_, begin);
    end_ = std::max(end_, begin + size_of(type));
  }
  std::int64_t bytes() const { return end_ - begin_; }

 private:
  std::optional<std::uint32_t> origin_;
  std::int64_t begin_ = 0, end_ = 0;
};

/// The stores to one surface since anything else has accessed it. All of them may become later, up to the
/// last one: two store to the same bytes only if their offsets are equal, as addresses are `unit` bytes or a
/// multiple apart but for the offset.
struct Stores {
  std::uint8_t surface = 0;
  unsigned element = 0;  ///< bytes
  LaneSum::Term uniform;
  std::uint32_t unit = 0;
  Extent extent;
  std::vector<Group> groups;
};

/// Finds what to join in a block.
class ElementFinder {
 public:
  explicit ElementFinder(const Function& function) : function_(function), sums_(function) {}

  std::vector<Whole> run(const Block& block) {
    wholes_.clear();
    sums_.begin_block();
    for (std::uint32_t i = 0; i < block.insts.size(); ++i) {
      const Inst& inst = block.insts[i];
      settle(inst);
      if (inst.op == Op::load || inst.op == Op::store) add(inst, i);
      sums_.note(inst);
    }
    end_all();
    return std::move(wholes_);
  }

 private:
  /// Ends what cannot go on behind this instruction. Another access of the surface does not end loads or
  /// stores of its own kind here.
  void settle(const Inst& inst) {
    const SurfaceOrder order = SurfaceOrder::of(function_, inst);
    if (order.is_barrier) end_all();
    if (order.may_leave) end_stores();
    if (order.writes) end_loads(*order.writes);
    if (order.reads) end_stores(*order.reads);
  }

  void add(const Inst& inst, std::uint32_t index) {
    const MemoryAccess& access = function_.access(inst);
    if (!access.is_fixed_surface()) return;
    const LaneSum address = sums_.of(function_.arg(inst, access.address_operand()));
    const bool is_one = inst.lanes >= least_lanes && size_of(inst.type) <= dword && access.components == 1 &&
                        access.offset == 0 && access.part_bytes == 0 && !address.varying.is_zero();
    if (!is_one) {
      if (inst.op == Op::store) end_stores(access.surface);
      return;
    }
    Group group{address.varying, address.uniform, inst.mask, inst.type, inst.lanes, access.surface, {}};
    group.accesses.push_back({index, address.constant, index});
    inst.op == Op::load ? add_load(std::move(group)) : add_store(std::move(group));
  }

  static constexpr unsigned least_lanes = 8;

  void add_load(Group one) {
    const auto known = std::ranges::find_if(loads_, [&](const Group& group) { return group.is_like(one); });
    if (known == loads_.end())
      loads_.push_back(std::move(one));
    else
      known->accesses.push_back(one.accesses.front());
  }

  void add_store(Group one) {
    const std::uint32_t offset = one.accesses.front().offset, unit = one.varying.unit();
    auto stores = std::ranges::find(stores_, one.surface, &Stores::surface);
    if (stores != stores_.end()) {
      Extent extent = stores->extent;
      extent.add(offset, one.type);
      if (stores->uniform != one.uniform || stores->element != size_of(one.type) ||
          extent.bytes() > std::gcd(stores->unit, unit)) {
        end_stores(one.surface);
        stores = stores_.end();
      }
    }
    if (stores == stores_.end())
      stores = stores_.insert(stores_.end(), {one.surface, size_of(one.type), one.uniform, unit, {}, {}});
    stores->unit = std::gcd(stores->unit, unit);
    stores->extent.add(offset, one.type);
    const auto known =
        std::ranges::find_if(stores->groups, [&](const Group& group) { return group.is_like(one); });
    if (known == stores->groups.end())
      stores->groups.push_back(std::move(one));
    else
      known->accesses.push_back(one.accesses.front());
  }

  void end_all() {
    for (Group& group : loads_) end_load(group);
    loads_.clear();
    end_stores();
  }
  void end_loads(std::uint8_t surface) {
    std::erase_if(loads_, [&](Group& group) {
      if (group.surface != surface) return false;
      end_load(group);
      return true;
    });
  }
  void end_stores() {
    for (Stores& stores : stores_) end_stores(stores);
    stores_.clear();
  }
  void end_stores(std::uint8_t surface) {
    std::erase_if(stores_, [&](Stores& stores) {
      if (stores.surface != surface) return false;
      end_stores(stores);
      return true;
    });
  }

  void end_load(Group& group) {
    join(group, false, [](std::uint32_t a, std::uint32_t b) { return std::min(a, b); });
  }
  void end_stores(Stores& stores) {
    const std::size_t before = wholes_.size();
    for (Group& group : stores.groups)
      join(group, true, [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
    if (!keeps_order(stores)) wholes_.resize(before);
  }

  /// Joins neighbours of the group to whole dwords, where `place_of` says of two of them. Elements of a lane
  /// that other lanes access as well, as in a convolution, are better accessed by rows.
  template <class PlaceOf>
  void join(Group& group, bool stores, PlaceOf place_of) {
    std::vector<Access>& all = group.accesses;
    const std::uint32_t begin = all.front().offset;
    const std::size_t element = size_of(group.type), per_dword = dword / element;
    const std::size_t most = std::min<std::size_t>(most_joined * per_dword, group.varying.factor / element);
    std::ranges::sort(all, {}, [&](const Access& a) { return static_cast<std::int32_t>(a.offset - begin); });
    for (std::size_t i = 0; i < all.size();) {
      std::size_t end = i + 1;
      while (end < all.size() && end - i < most && all[end].offset - all[end - 1].offset == element) ++end;
      if (end - i >= per_dword) end -= (end - i) % per_dword;
      const bool is_dense = stores && element == 1 && end - i >= 2 && end - i == group.varying.unit();
      if (is_dense || end - i >= std::max<std::size_t>(per_dword, 2)) {
        Whole whole{all[i].index, {}};
        for (const Access& access : std::span(all).subspan(i, end - i)) {
          whole.place = place_of(whole.place, access.index);
          whole.elements.push_back(access.index);
        }
        for (Access& access : std::span(all).subspan(i, end - i)) access.place = whole.place;
        wholes_.push_back(std::move(whole));
      }
      i = end;
    }
  }

  /// Whether stores that may be to the same bytes are done in the same order as before.
  static bool keeps_order(const Stores& stores) {
    std::vector<Access> all;
    for (const Group& group : stores.groups)
      all.insert(all.end(), group.accesses.begin(), group.accesses.end());
    std::ranges::sort(all, {}, [](const Access& a) { return std::pair(a.offset, a.index); });
    const auto turned = std::ranges::adjacent_find(
        all, [](const Access& a, const Access& b) { return a.offset == b.offset && a.place >= b.place; });
    return turned == all.end();
  }

  const Function& function_;
  LaneSums sums_;
  std::vector<Group> loads_;
  std::vector<Stores> stores_;
  std::vector<Whole> wholes_;
};

class ElementJoiner {
 public:
  explicit ElementJoiner(Function& function) : function_(function), finder_(function), out_(function) {}

  void run(Block& block) {
    std::vector<Whole> wholes = finder_.run(block);
    if (wholes.empty()) return;
    std::ranges::sort(wholes, {}, &Whole::place);
    std::vector<bool> is_joined(block.insts.size());
    for (const Whole& whole : wholes)
      for (const std::uint32_t index : whole.elements) is_joined[index] = true;
    out_.clear();
    auto next = wholes.begin();
    for (std::uint32_t i = 0; i < block.insts.size(); ++i) {
      Inst inst = block.insts[i];
      same_.resolve(function_, inst);
      if (next != wholes.end() && next->place == i)
        append(block, inst, *next++);
      else if (!is_joined[i])
        out_.keep(inst);
    }
    out_.replace(block);
  }

 private:
  /// All elements at the place of `one` of them: as dwords, or as they are if they are less than one.
  void append(const Block& block, Inst one, const Whole& whole) {
    const std::span all(whole.elements);
    const Type type = one.type;
    const unsigned element = size_of(type), each = all.size() < dword / element ? 1 : dword / element;
    const auto parts = static_cast<unsigned>(all.size()) / each;
    MemoryAccess access = function_.access(one);
    access.components = lane_mask(parts);
    access.several = true;
    std::vector<ValueId> args{address_of(block, one, whole)};
    if (one.op == Op::store)
      for (unsigned first = 0; first < all.size(); first += each)
        args.push_back(together(block, all.subspan(first, each), one.guest_ip));
    if (each > 1) {
      access.part_bytes = static_cast<std::uint8_t>(element);
      one.type = Type::u32;
    }
    function_.set_args(one, args);
    function_.set_access(one, access);
    if (one.op == Op::store) return out_.keep(one);
    one.result = static_cast<ValueId>(function_.values.size());
    one.result_count = static_cast<std::uint16_t>(parts);
    for (unsigned k = 0; k < parts; ++k) function_.add_value(one.type, one.lanes);
    out_.keep(one);
    for (unsigned k = 0; k < all.size(); ++k)
      same_.add(block.insts[all[k]].result,
                element_of(one.result + k / each, k % each * 8 * element, type, one.guest_ip));
  }
  /// Bits of a dword from `shift` up.
  ValueId element_of(ValueId whole, unsigned shift, Type type, std::uint32_t guest_ip) {
    return out_.converted(Op::convert, type, moved(Op::shr, whole, shift, guest_ip), guest_ip);
  }
  /// The element that is stored by one instruction, or the dword that several store, the first one lowest.
  ValueId together(const Block& block, std::span<const std::uint32_t> stores, std::uint32_t guest_ip) {
    ValueId whole = no_value;
    unsigned shift = 0;
    for (const std::uint32_t index : stores) {
      const Inst& store = block.insts[index];
      const ValueId value = same_.resolve(function_.arg(store, 1));
      if (stores.size() == 1) return value;
      const Type bits = int_type(size_of(store.type), false);
      const ValueId wide = out_.converted(Op::convert, Type::u32,
                                          out_.converted(Op::bitcast, bits, value, guest_ip), guest_ip);
      const ValueId part = moved(Op::shl, wide, shift, guest_ip);
      whole = whole == no_value
                  ? part
                  : out_.append(make_op(Op::or_, Type::u32, store.lanes, guest_ip), {whole, part});
      shift += 8 * size_of(store.type);
    }
    return whole;
  }
  ValueId moved(Op op, ValueId value, unsigned bits, std::uint32_t guest_ip) {
    if (bits == 0) return value;
    const ValueInfo of = function_.values[value];
    const Inst shift = make_op(op, of.type, of.lanes, guest_ip);
    return out_.append(shift, {value, out_.constant(shift.type, shift.lanes, bits, guest_ip)});
  }

  /// That of the first element.
  ValueId address_of(const Block& block, const Inst& one, const Whole& whole) {
    const ValueId first = same_.resolve(function_.arg(block.insts[whole.elements.front()], 0));
    if (out_.definition(first) != nullptr) return first;
    const auto behind = std::ranges::find(whole.elements, whole.place) - whole.elements.begin();
    const ValueId own = function_.arg(one, 0);
    const ValueId distance =
        out_.constant(function_.values[own].type, one.lanes,
                      static_cast<std::uint32_t>(behind) * size_of(one.type), one.guest_ip);
    return out_.append(make_op(Op::sub, function_.values[own].type, one.lanes, one.guest_ip),
                       {own, distance});
  }

  Function& function_;
  ElementFinder finder_;
  SameValues same_;
  NewBlock out_;
};

}  // namespace

void join_elements(Function& function) {
  if (!function.disjoint_surfaces) return;
  run_on_blocks_with<ElementJoiner>(
      function, [](const Inst& inst) { return inst.op == Op::load || inst.op == Op::store; });
}

}  // namespace eum::jit
