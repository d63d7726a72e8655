#include "jit/analysis/region_numbers.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>

#include "jit/analysis/liveness.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::ValueId;

/// The parts of an address that are no sums: contents of registers, each identified by its writer, and values
/// that are loaded in the access's own block.
struct Pointer {
  using Origin = std::uint64_t;
  static constexpr std::size_t most_origins = 4;
  std::array<Origin, most_origins> origins{};  ///< ascending, each once; followed by 0
  std::size_t count = 0;
  auto operator<=>(const Pointer&) const = default;

  void add(Origin origin) {
    const auto end = origins.begin() + static_cast<std::ptrdiff_t>(count);
    const auto at = std::lower_bound(origins.begin(), end, origin);
    if (count == most_origins || (at != end && *at == origin)) return;
    std::copy_backward(at, end, end + 1);
    *at = origin;
    ++count;
  }
};

/// What has written the contents that are read of the register file.
class Writers {
 public:
  /// The number of an instruction that writes, from 1 on; 0: the thread begins with the content; met + block:
  /// contents of several paths that meet at the block.
  using Writer = std::uint32_t;
  static constexpr Writer met = 1u << 31, unseen = ~Writer{0};
  static constexpr unsigned granule = 4;

  explicit Writers(const ir::Function& function)
      : function_(function), granules_(function.file_bytes / granule + 64), of_read_(function.values.size()) {
    in_.resize(granules_ * function.blocks.size(), unseen);
    for (const ir::Block& block : function.blocks) {
      first_.push_back(static_cast<Writer>(writers_.size()));
      for (const Inst& inst : block.insts)
        if (inst.op == Op::reg_write || inst.op == Op::reg_scatter) writers_.push_back(&inst);
    }
    const bool jumps = std::ranges::any_of(
        function.blocks, [](const ir::Block& block) { return block.insts.back().op == Op::jump_ip; });
    if (jumps || !follow_ways())
      for (ir::BlockId block = 0; block < function.blocks.size(); ++block) begin(block, met + block);
    for (ir::BlockId block = 0; block < function.blocks.size(); ++block)
      walk(block, [&](const Inst& read) { of_read_[read.result] = now_[slots_of(read, granule).first]; });
  }

  /// The writer of the first granule that a reg_read reads.
  Writer writer(const Inst& read) const { return of_read_[read.result]; }
  /// Null: there is no single one.
  const Inst* instruction(Writer writer) const {
    return writer == 0 || writer >= met ? nullptr : writers_[writer - 1];
  }

 private:
  void begin(ir::BlockId block, Writer writer) {
    std::fill_n(in_.begin() + static_cast<std::ptrdiff_t>(granules_ * block), granules_, writer);
  }

  /// False: it takes too long, which does not happen with compilers' code.
  bool follow_ways() {
    constexpr unsigned most_rounds = 16;
    begin(0, 0);
    std::vector<bool> changed(function_.blocks.size());
    changed[0] = true;
    for (unsigned round = 0; round < most_rounds; ++round) {
      bool any = false;
      for (ir::BlockId block = 0; block < changed.size(); ++block) {
        if (!changed[block]) continue;
        changed[block] = false;
        walk(block, [](const Inst&) {});
        for (const ir::BlockId next : ir::successors(function_.blocks[block].insts.back()))
          if (next != ir::no_block && meet(next)) any = changed[next] = true;
      }
      if (!any) return true;
    }
    return false;
  }

  template <class Visit>
  void walk(ir::BlockId block, Visit visit) {
    const auto begin = in_.begin() + static_cast<std::ptrdiff_t>(granules_ * block);
    now_.assign(begin, begin + static_cast<std::ptrdiff_t>(granules_));
    Writer number = first_[block];
    for (const Inst& inst : function_.blocks[block].insts) {
      if (inst.op == Op::reg_read) visit(inst);
      if (inst.op != Op::reg_write && inst.op != Op::reg_scatter) continue;
      const SlotRange range = inst.op == Op::reg_write ? slots_of(inst, granule)
                                                       : SlotRange{0, function_.indirect_end() / granule};
      std::fill(now_.begin() + range.first, now_.begin() + range.last + 1, ++number);
    }
  }

  /// Merges the state after the walk into that of this block.
  bool meet(ir::BlockId block) {
    bool changed = false;
    for (std::size_t g = 0; g < granules_; ++g) {
      Writer& writer = in_[granules_ * block + g];
      if (writer == now_[g] || writer == met + block) continue;
      writer = writer == unseen ? now_[g] : met + block;
      changed = true;
    }
    return changed;
  }

  const ir::Function& function_;
  std::size_t granules_;
  std::vector<Writer> in_;            ///< by granule, for all blocks in sequence
  std::vector<Writer> now_;           ///< by granule, as far as a walk has come
  std::vector<Writer> first_;         ///< by block: the number before that of its first writer
  std::vector<const Inst*> writers_;  ///< by number - 1
  std::vector<Writer> of_read_;       ///< by value
};

/// Traces addresses back to their pointers.
class Finder {
 public:
  /// Functions with more than this are not analysed.
  static constexpr std::size_t most_granules = 1 << 20;
  static bool understands(const ir::Function& function) {
    return function.file_bytes / Writers::granule * function.blocks.size() <= most_granules;
  }

  explicit Finder(const ir::Function& function)
      : function_(function), writers_(function), definitions_(function.values.size(), nullptr) {
    for (const ir::Block& block : function.blocks)
      for (const Inst& inst : block.insts)
        for (unsigned k = 0; k < inst.result_count; ++k) definitions_[inst.result + k] = &inst;
  }

  /// No origins: it is not known.
  Pointer pointer(ValueId address) {
    wide_ = narrow_ = {};
    left_ = most_steps;
    follow(address);
    return wide_.count != 0 ? wide_ : narrow_;
  }

 private:
  static constexpr unsigned most_steps = 64;
  /// Origins besides writers and registers.
  static constexpr Pointer::Origin loaded = Pointer::Origin{1} << 63;

  void follow(ValueId value) {
    const Inst* inst = definitions_[value];
    if (inst == nullptr || left_ == 0) return;
    --left_;
    switch (inst->op) {
      case Op::reg_read:
        return follow_register(*inst);
      case Op::load:
      case Op::block_load:
        return add(loaded | value, *inst);
      case Op::mad:
        return follow(function_.arg(*inst, 2));
      case Op::sub:
      case Op::slice:
      case Op::bitcast:
      case Op::convert:
      case Op::splat:
        return follow(function_.arg(*inst, 0));
      case Op::add:
      case Op::addc:
      case Op::or_:
      case Op::join:
      case Op::concat:
        for (const ValueId arg : function_.args(*inst)) follow(arg);
        return;
      default:
        return;
    }
  }

  void follow_register(const Inst& read) {
    const Writers::Writer writer = writers_.writer(read);
    if (const Inst* inst = writers_.instruction(writer); inst != nullptr && inst->op == Op::reg_write)
      return follow(function_.arg(*inst, 0));
    add(Pointer::Origin{writer} << 16 | slots_of(read, Writers::granule).first, read);
  }

  /// Pointers have 64 bits, as other summands may, or are read in halves.
  void add(Pointer::Origin origin, const Inst& inst) {
    (ir::size_of(inst.type) == 8 ? wide_ : narrow_).add(origin);
  }

  const ir::Function& function_;
  Writers writers_;
  std::vector<const Inst*> definitions_;  ///< by value
  Pointer wide_, narrow_;
  unsigned left_ = 0;
};

/// The accesses of one kind of address.
class Accesses {
 public:
  void add(const Pointer& pointer, std::uint8_t& number) {
    const std::uint32_t known =
        pointer.count == 0 ? unknown : known_.try_emplace(pointer, known_.size()).first->second;
    list_.push_back({known, &number});
  }

  /// Distributes the regions of the range, which is not empty: pointers get the first ones, and accesses
  /// without a pointer the others.
  void number(std::pair<std::uint32_t, std::uint32_t> range) const {
    const std::uint32_t all = range.second - range.first;
    const bool all_known =
        std::ranges::none_of(list_, [](const Entry& entry) { return entry.known == unknown; });
    const std::uint32_t kept = all_known ? 0 : std::max(1u, all / 4);
    const std::uint32_t of_pointers =
        std::min(static_cast<std::uint32_t>(known_.size()), std::max(1u, all - kept));
    std::uint32_t others = 0;
    for (const auto& [known, number] : list_) {
      const std::uint32_t of_range =
          known != unknown ? known % of_pointers : of_pointers + others++ % std::max(1u, all - of_pointers);
      *number = static_cast<std::uint8_t>(range.first + of_range % all);
    }
  }

 private:
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};
  struct Entry {
    std::uint32_t known;  ///< number of the pointer
    std::uint8_t* number;
  };
  std::map<Pointer, std::uint32_t> known_;
  std::vector<Entry> list_;
};

}  // namespace

RegionNumbers::RegionNumbers(const ir::Function& function, const StateLayout& layout) {
  const auto in_space = [](const ir::MemoryAccess& access) { return ir::info(access.space).in_space; };
  if (std::ranges::none_of(function.accesses, in_space)) return;
  numbers_.resize(function.accesses.size());
  std::optional<Finder> finder;
  if (Finder::understands(function)) finder.emplace(function);
  Accesses narrow, wide;
  for (const ir::Block& block : function.blocks) {
    for (const Inst& inst : block.insts) {
      if (!ir::shape_of(inst.op).has_memory() || !in_space(function.access(inst))) continue;
      Accesses& accesses = function.access(inst).space == ir::MemSpace::A32 ? narrow : wide;
      accesses.add(finder ? finder->pointer(function.arg(inst, 0)) : Pointer(),
                   numbers_[static_cast<std::size_t>(inst.imm)]);
    }
  }
  narrow.number(layout.regions_for(ir::MemSpace::A32));
  wide.number(layout.regions_for(ir::MemSpace::A64));
}

}  // namespace eum::jit
