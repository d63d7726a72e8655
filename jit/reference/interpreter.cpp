// One function an op that is not lanewise, and the loop over blocks.
#include "jit/reference/interpreter.hpp"

#include <xmmintrin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "jit/access.hpp"
#include "jit/fpmode.hpp"
#include "jit/system_call.hpp"

namespace eum::jit::reference {

using namespace ir;

namespace {

std::uint32_t all_lanes(unsigned lanes) { return lanes >= 32 ? ~0u : (1u << lanes) - 1; }
bool has_lane(std::uint32_t mask, unsigned lane) { return (mask >> lane & 1) != 0; }

/// Bytes of `lanes` lanes of a value; a mask is one word.
unsigned value_bytes(Type type, unsigned lanes) { return is_mask(type) ? 4 : size_of(type) * lanes; }

/// The host's floating point mode, as before when it leaves the scope.
class HostMode {
 public:
  HostMode() : mode_(_mm_getcsr()) {}
  ~HostMode() { _mm_setcsr(mode_); }
  HostMode(const HostMode&) = delete;
  HostMode& operator=(const HostMode&) = delete;

 private:
  unsigned mode_;
};

constexpr bool is_lanewise(Shape shape) {
  return shape == Shape::Convert || shape == Shape::Lanewise1 || shape == Shape::Lanewise2 ||
         shape == Shape::Lanewise3 || shape == Shape::Compare || shape == Shape::Select ||
         shape == Shape::Wide2 || shape == Shape::Wide4;
}

}  // namespace

ValuePlaces ValuePlaces::of(const Function& function) {
  ValuePlaces places;
  places.offset.resize(function.values.size());
  for (const Block& block : function.blocks) {
    std::uint32_t used = 0;
    for (const Inst& inst : block.insts) {
      used = (used + 7) & ~7u;
      for (unsigned k = 0; k < inst.result_count; ++k) {
        const ValueInfo info = function.values[inst.result + k];
        places.offset[inst.result + k] = used;
        used += value_bytes(info.type, info.lanes);
      }
    }
    places.bytes = std::max(places.bytes, used);
  }
  return places;
}

Interpreter::Interpreter(const Function& function, const ValuePlaces& places, const StateLayout& layout,
                         ThreadState& state)
    : function_(function),
      places_(places),
      state_(state),
      file_(layout.file_of(state), function.file_bytes),
      masks_(layout.masks_of(state)),
      values_(places.bytes) {}

template <class T>
T Interpreter::read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint32_t Interpreter::mask_of(const Inst& inst) {
  return inst.mask == no_value ? all_lanes(inst.lanes) : mask_value(inst.mask);
}

void Interpreter::set_mask_result(const Inst& inst, std::uint32_t mask) {
  mask &= all_lanes(inst.lanes);
  std::memcpy(value(inst.result), &mask, sizeof mask);
}

Next Interpreter::stop(Status status) {
  status_ = status;
  return Next::Stop;
}

Next Interpreter::fault(const Inst& inst, FaultKind kind, unsigned lane, unsigned bytes,
                        std::uint64_t address) {
  state_.fault = {kind, inst.guest_ip, lane, bytes, address};
  return stop(Status::Faulted);
}

Next Interpreter::pause(BlockId target) {
  state_.resume = target;
  return stop(Status::Paused);
}

/// Control goes to a block; the budget is checked where it goes back.
Next Interpreter::jump_to(BlockId target) {
  if (target <= block_ && state_.budget <= 0) return pause(target);
  target_ = target;
  return Next::Block;
}

/// A memory op that is `done`, or has set the fault.
Next Interpreter::access(bool done) { return done ? Next::Op : stop(Status::Faulted); }

bool Interpreter::set_mode(std::uint32_t cr0) {
  const auto mxcsr = fp_mode_mxcsr(cr0);
  if (mxcsr) _mm_setcsr(*mxcsr);
  return mxcsr.has_value();
}

Next Interpreter::eval_lanewise(const Inst& inst) {
  std::array<const void*, max_args> args{};
  for (unsigned k = 0; k < inst.arg_count; ++k) args[k] = arg(inst, k);
  lane_function(inst.op, inst.type, inst.from)(value(inst.result), args.data(), inst.lanes);
  return Next::Op;
}

// Constants and lanes.

template <>
Next Interpreter::eval<Op::constant>(const Inst& inst) {
  if (is_mask(inst.type)) {
    set_mask_result(inst, static_cast<std::uint32_t>(inst.imm));
    return Next::Op;
  }
  const unsigned bytes = size_of(inst.type);
  for (unsigned lane = 0; lane < inst.lanes; ++lane)
    std::memcpy(value(inst.result) + lane * bytes, &inst.imm, bytes);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::vconst>(const Inst& inst) {
  const unsigned bytes = size_of(inst.type);
  const PoolEntry& entry = function_.pool[inst.imm];
  for (unsigned lane = 0; lane < inst.lanes; ++lane)
    std::memcpy(value(inst.result) + lane * bytes, &entry[lane], bytes);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::splat>(const Inst& inst) {
  const unsigned bytes = size_of(inst.type);
  for (unsigned lane = 0; lane < inst.lanes; ++lane)
    std::memcpy(value(inst.result) + lane * bytes, arg(inst, 0), bytes);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::slice>(const Inst& inst) {
  const auto first = static_cast<unsigned>(inst.imm);
  if (is_mask(inst.type))
    set_mask_result(inst, mask_value(inst.args[0]) >> first);
  else
    std::memcpy(value(inst.result), arg(inst, 0) + first * size_of(inst.type),
                value_bytes(inst.type, inst.lanes));
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::concat>(const Inst& inst) {
  const unsigned first_lanes = function_.values[inst.args[0]].lanes;
  const unsigned second_lanes = function_.values[inst.args[1]].lanes;
  if (is_mask(inst.type)) {
    set_mask_result(inst, mask_value(inst.args[0]) | mask_value(inst.args[1]) << first_lanes);
    return Next::Op;
  }
  const unsigned first_bytes = value_bytes(inst.type, first_lanes);
  std::memcpy(value(inst.result), arg(inst, 0), first_bytes);
  std::memcpy(value(inst.result) + first_bytes, arg(inst, 1), value_bytes(inst.type, second_lanes));
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::mask_bits>(const Inst& inst) {
  const std::uint64_t bits = mask_value(inst.args[0]);
  std::memcpy(value(inst.result), &bits, size_of(inst.type));
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::bits_mask>(const Inst& inst) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, arg(inst, 0), size_of(inst.from));
  set_mask_result(inst, static_cast<std::uint32_t>(bits));
  return Next::Op;
}

namespace {

/// Each group all ones if `test(lanes of it that are one, its lanes)`.
template <class Test>
std::uint32_t map_groups(std::uint32_t mask, unsigned lanes, unsigned group, Test test) {
  std::uint32_t result = 0;
  for (unsigned first = 0; first < lanes; first += group) {
    const std::uint32_t members = all_lanes(group) << first;
    if (test(mask & members, members)) result |= members;
  }
  return result;
}

}  // namespace

template <>
Next Interpreter::eval<Op::group_any>(const Inst& inst) {
  set_mask_result(inst, map_groups(mask_value(inst.args[0]), inst.lanes, static_cast<unsigned>(inst.imm),
                                   [](std::uint32_t ones, std::uint32_t) { return ones != 0; }));
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::group_all>(const Inst& inst) {
  set_mask_result(inst,
                  map_groups(mask_value(inst.args[0]), inst.lanes, static_cast<unsigned>(inst.imm),
                             [](std::uint32_t ones, std::uint32_t members) { return ones == members; }));
  return Next::Op;
}

// Architectural state.

template <>
Next Interpreter::eval<Op::reg_read>(const Inst& inst) {
  const unsigned bytes = size_of(inst.type);
  for (unsigned lane = 0; lane < inst.lanes; ++lane)
    std::memcpy(value(inst.result) + lane * bytes, file_.data() + inst.region.byte_of(lane, bytes), bytes);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::reg_write>(const Inst& inst) {
  const unsigned bytes = size_of(inst.type);
  const std::uint32_t mask = mask_of(inst);
  for (unsigned lane = 0; lane < inst.lanes; ++lane)
    if (has_lane(mask, lane))
      std::memcpy(file_.data() + inst.region.byte_of(lane, bytes), arg(inst, 0) + lane * bytes, bytes);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::reg_gather>(const Inst& inst) {
  const unsigned bytes = size_of(inst.type);
  const std::uint32_t mask = mask_of(inst);
  std::memset(value(inst.result), 0, bytes * inst.lanes);
  for (unsigned lane = 0; lane < inst.lanes; ++lane) {
    if (!has_lane(mask, lane)) continue;
    const auto at = read<std::uint16_t>(arg(inst, 0) + 2 * lane);
    if (at + bytes > file_.size()) return fault(inst, FaultKind::BadRegister, lane, bytes, at);
    std::memcpy(value(inst.result) + lane * bytes, file_.data() + at, bytes);
  }
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::reg_scatter>(const Inst& inst) {
  const unsigned bytes = size_of(inst.type);
  const std::uint32_t mask = mask_of(inst);
  const auto at = [&](unsigned lane) { return read<std::uint16_t>(arg(inst, 0) + 2 * lane); };
  for (unsigned lane = 0; lane < inst.lanes; ++lane)
    if (has_lane(mask, lane) && at(lane) + bytes > file_.size())
      return fault(inst, FaultKind::BadRegister, lane, bytes, at(lane));
  for (unsigned lane = 0; lane < inst.lanes; ++lane)
    if (has_lane(mask, lane)) std::memcpy(file_.data() + at(lane), arg(inst, 1) + lane * bytes, bytes);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::flag_read>(const Inst& inst) {
  set_mask_result(inst, static_cast<std::uint32_t>(state_.flags >> inst.imm));
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::flag_write>(const Inst& inst) {
  const std::uint64_t mask = std::uint64_t{mask_of(inst)} << inst.imm;
  const std::uint64_t bits = std::uint64_t{mask_value(inst.args[0])} << inst.imm;
  state_.flags = (state_.flags & ~mask) | (bits & mask);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::mask_get>(const Inst& inst) {
  set_mask_result(inst, masks_[inst.imm]);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::mask_set>(const Inst& inst) {
  masks_[inst.imm] = mask_value(inst.args[0]);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::fpmode_set>(const Inst& inst) {
  std::uint64_t cr0 = 0;
  std::memcpy(&cr0, arg(inst, 0), size_of(inst.type));
  const auto mode = static_cast<std::uint32_t>(cr0);
  if (!set_mode(mode)) return fault(inst, FaultKind::UnsupportedMode, 0, 0, mode);
  state_.fp_mode = mode;
  return Next::Op;
}

// Messages.

template <>
Next Interpreter::eval<Op::load>(const Inst& inst) {
  return access(load(*state_.environment, Access::of(inst), arg(inst, 0), value(inst.result), mask_of(inst),
                     state_.fault));
}

namespace {

/// The operands after the address, one after the other.
using Sources = std::array<std::byte, (max_args - 1) * max_lanes * 8>;

}  // namespace

template <>
Next Interpreter::eval<Op::store>(const Inst& inst) {
  Sources data;
  const unsigned bytes = value_bytes(inst.type, inst.lanes);
  for (unsigned k = 1; k < inst.arg_count; ++k)
    std::memcpy(data.data() + (k - 1) * bytes, arg(inst, k), bytes);
  return access(
      store(*state_.environment, Access::of(inst), arg(inst, 0), data.data(), mask_of(inst), state_.fault));
}

template <>
Next Interpreter::eval<Op::atomic>(const Inst& inst) {
  Sources data;
  const unsigned bytes = value_bytes(inst.type, inst.lanes);
  for (unsigned k = 1; k < inst.arg_count; ++k)
    std::memcpy(data.data() + (k - 1) * bytes, arg(inst, k), bytes);
  if (!atomic(*state_.environment, Access::of(inst), arg(inst, 0), data.data(), mask_of(inst), state_.fault))
    return access(false);
  if (inst.result_count != 0) std::memcpy(value(inst.result), data.data(), bytes);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::block_load>(const Inst& inst) {
  return access(
      block_load(*state_.environment, Access::of(inst), arg(inst, 0), value(inst.result), state_.fault));
}

template <>
Next Interpreter::eval<Op::block_store>(const Inst& inst) {
  return access(block_store(*state_.environment, Access::of(inst), arg(inst, 0), arg(inst, 1), state_.fault));
}

template <>
Next Interpreter::eval<Op::fence>(const Inst&) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::barrier_signal>(const Inst&) {
  ++state_.barrier_signals;
  return Next::Op;
}

// System state.

Next Interpreter::eval_system_call(const Inst& inst) {
  const std::size_t bytes = size_of(inst.type);
  std::uint64_t operands[2] = {}, results[2];
  for (unsigned k = 0; k < 2; ++k) std::memcpy(&operands[k], arg(inst, k), bytes);
  system_call(*state_.environment, inst.op, inst.imm, operands, results);
  for (unsigned k = 0; k < 2; ++k) std::memcpy(value(inst.result + k), &results[k], bytes);
  return Next::Op;
}

// Ends of blocks.

template <>
Next Interpreter::eval<Op::jump>(const Inst& inst) {
  return jump_to(inst.targets.taken);
}

template <>
Next Interpreter::eval<Op::branch_any>(const Inst& inst) {
  return jump_to(mask_value(inst.args[0]) != 0 ? inst.targets.taken : inst.targets.fallthrough);
}

template <>
Next Interpreter::eval<Op::jump_ip>(const Inst& inst) {
  const auto ip = read<std::uint32_t>(arg(inst, 0));
  for (BlockId target = 0; target < function_.blocks.size(); ++target) {
    if (function_.blocks[target].guest_ip != ip) continue;
    // Wherever it leads counts as a back edge.
    if (state_.budget <= 0) return pause(target);
    target_ = target;
    return Next::Block;
  }
  return fault(inst, FaultKind::BadJump, 0, 0, ip);
}

template <>
Next Interpreter::eval<Op::wait>(const Inst& inst) {
  state_.resume = inst.targets.taken;
  return stop(Status::Waiting);
}

template <>
Next Interpreter::eval<Op::exit>(const Inst&) {
  return stop(Status::Exited);
}

template <>
Next Interpreter::eval<Op::trap>(const Inst& inst) {
  return fault(inst, FaultKind::Unsupported, 0, 0, inst.imm);
}

template <Op op>
constexpr Interpreter::Eval Interpreter::eval_of() {
  if constexpr (is_lanewise(info(op).shape))
    return &Interpreter::eval_lanewise;
  else if constexpr (info(op).shape == Shape::SystemCall)
    return &Interpreter::eval_system_call;
  else
    return &Interpreter::eval<op>;
}

template <std::size_t... op>
constexpr auto Interpreter::make_table(std::index_sequence<op...>) {
  return std::array<Eval, op_count>{eval_of<static_cast<Op>(op)>()...};
}

Status Interpreter::run() {
  static constexpr auto table = make_table(std::make_index_sequence<op_count>());
  const HostMode restored;
  target_ = state_.resume;
  if (!set_mode(state_.fp_mode)) {
    state_.fault = {FaultKind::UnsupportedMode, 0, 0, 0, state_.fp_mode};
    return Status::Faulted;
  }
  for (;;) {
    block_ = target_;
    const Block& block = function_.blocks[block_];
    state_.budget -= block.guest_instructions;
    Next next = Next::Op;
    for (std::size_t i = 0; next == Next::Op; ++i) {
      const Inst& inst = block.insts[i];
      next = (this->*table[static_cast<std::size_t>(inst.op)])(inst);
    }
    if (next == Next::Stop) return status_;
  }
}

}  // namespace eum::jit::reference
