// One function per op that is not lanewise, and the loop over blocks.
#include "jit/reference/interpreter.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <utility>

#include "jit/fpmode.hpp"
#include "jit/reference/host_mode.hpp"

namespace eum::jit::reference {

using namespace ir;

namespace {

bool has_lane(std::uint32_t mask, unsigned lane) { return (mask >> lane & 1) != 0; }

/// Bytes of `lanes` lanes of a value; a mask is one word.
unsigned value_bytes(Type type, unsigned lanes) { return is_mask(type) ? 4 : size_of(type) * lanes; }

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
      flags_(layout.flags_of(state)),
      masks_(layout.masks_of(state)),
      values_(places.bytes) {}

template <class T>
T Interpreter::read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint32_t Interpreter::mask_of(const Inst& inst) {
  return inst.mask == no_value ? lane_mask(inst.lanes) : mask_value(inst.mask);
}

void Interpreter::set_mask_result(const Inst& inst, std::uint32_t mask) {
  mask &= lane_mask(inst.lanes);
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

/// The target of a jump to an ip; odd ips are those of blocks within an instruction.
BlockId Interpreter::block_at(std::uint32_t ip) const {
  for (BlockId id = 0; id < function_.blocks.size() && ip % 2 == 0; ++id)
    if (function_.blocks[id].guest_ip == ip) return id;
  return no_block;
}

/// Transfers control to a block.
Next Interpreter::jump_to(BlockId target) {
  if (function_.blocks[target].safepoint && state_.budget <= 0) return pause(target);
  target_ = target;
  return Next::Block;
}

/// Ends a memory op that is `done`, or has set the fault.
Next Interpreter::access(bool done) { return done ? Next::Op : stop(Status::Faulted); }

void Interpreter::set_mode(std::uint32_t cr0) {
  state_.fp_mode = cr0;
  _mm_setcsr(fp_mode_mxcsr(cr0));
}

Next Interpreter::eval_lanewise(const Inst& inst) {
  std::array<const void*, max_pure_operands> args{};
  for (unsigned k = 0; k < inst.arg_count; ++k) args[k] = arg(inst, k);
  const LaneFunction function = lane_function(inst.op, inst.type, inst.from);
  if (!computes_on_floats(inst)) {
    function(value(inst.result), args.data(), inst.lanes);
    return Next::Op;
  }
  // Operands and results of f16 are flushed here: MXCSR does not affect them.
  const bool flushes = !is_keeping(state_.fp_mode, cr0_bit::Keep16);
  std::array<std::array<std::uint16_t, max_lanes>, max_pure_operands> halves;
  for (unsigned k = 0; flushes && k < inst.arg_count; ++k) {
    if (function_.values[function_.arg(inst, k)].type != Type::f16) continue;
    std::memcpy(halves[k].data(), args[k], 2 * inst.lanes);
    flush_f16(halves[k].data(), inst.lanes);
    args[k] = halves[k].data();
  }
  const bool mixed = fp_mixed(state_.fp_mode) != 0;
  if (mixed) _mm_setcsr(fp_mode_mxcsr(state_.fp_mode, fp_class_of(inst)));
  function(value(inst.result), args.data(), inst.lanes);
  if (mixed) _mm_setcsr(fp_mode_mxcsr(state_.fp_mode));
  if (flushes && function_.values[inst.result].type == Type::f16) flush_f16(value(inst.result), inst.lanes);
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
    set_mask_result(inst, mask_value(function_.arg(inst, 0)) >> first);
  else
    std::memcpy(value(inst.result), arg(inst, 0) + first * size_of(inst.type),
                value_bytes(inst.type, inst.lanes));
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::concat>(const Inst& inst) {
  const unsigned first_lanes = function_.values[function_.arg(inst, 0)].lanes;
  const unsigned second_lanes = function_.values[function_.arg(inst, 1)].lanes;
  if (is_mask(inst.type)) {
    set_mask_result(inst, mask_value(function_.arg(inst, 0)) | mask_value(function_.arg(inst, 1))
                                                                   << first_lanes);
    return Next::Op;
  }
  const unsigned first_bytes = value_bytes(inst.type, first_lanes);
  std::memcpy(value(inst.result), arg(inst, 0), first_bytes);
  std::memcpy(value(inst.result) + first_bytes, arg(inst, 1), value_bytes(inst.type, second_lanes));
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::recast>(const Inst& inst) {
  std::memcpy(value(inst.result), arg(inst, 0), value_bytes(inst.type, inst.lanes));
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::join>(const Inst& inst) {
  for (unsigned lane = 0; lane < inst.lanes; ++lane)
    for (unsigned half = 0; half < 2; ++half)
      std::memcpy(value(inst.result) + lane * 8 + half * 4, arg(inst, half) + lane * 4, 4);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::mask_bits>(const Inst& inst) {
  const std::uint64_t bits = mask_value(function_.arg(inst, 0));
  std::memcpy(value(inst.result), &bits, size_of(inst.type));
  return Next::Op;
}

namespace {

/// Lane i: compare(first + i, limit), in the type's order.
template <class Compare>
std::uint32_t test_ramp(const Inst& inst, std::uint32_t first, std::uint32_t limit, Compare compare) {
  // Flipping the sign turns the order of signed numbers into that of unsigned ones.
  const std::uint32_t flip = is_signed(inst.type) ? 0x80000000 : 0;
  std::uint32_t result = 0;
  for (unsigned lane = 0; lane < inst.lanes; ++lane)
    result |= static_cast<std::uint32_t>(compare((first + lane) ^ flip, limit ^ flip)) << lane;
  return result;
}

}  // namespace

template <>
Next Interpreter::eval<Op::ramp_lt>(const Inst& inst) {
  set_mask_result(inst, test_ramp(inst, read<std::uint32_t>(arg(inst, 0)), read<std::uint32_t>(arg(inst, 1)),
                                  std::less<>()));
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::ramp_le>(const Inst& inst) {
  set_mask_result(inst, test_ramp(inst, read<std::uint32_t>(arg(inst, 0)), read<std::uint32_t>(arg(inst, 1)),
                                  std::less_equal<>()));
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::ramp_eq>(const Inst& inst) {
  set_mask_result(inst, test_ramp(inst, read<std::uint32_t>(arg(inst, 0)), read<std::uint32_t>(arg(inst, 1)),
                                  std::equal_to<>()));
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::is_place>(const Inst& inst) {
  set_mask_result(inst, block_at(read<std::uint32_t>(arg(inst, 0))) != no_block);
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

/// Sets each group to all ones if test(lanes of it that are one, its lanes) holds.
template <class Test>
std::uint32_t map_groups(std::uint32_t mask, unsigned lanes, unsigned group, Test test) {
  std::uint32_t result = 0;
  for (unsigned first = 0; first < lanes; first += group) {
    const std::uint32_t members = lane_mask(group) << first;
    if (test(mask & members, members)) result |= members;
  }
  return result;
}

}  // namespace

template <>
Next Interpreter::eval<Op::group_any>(const Inst& inst) {
  set_mask_result(inst,
                  map_groups(mask_value(function_.arg(inst, 0)), inst.lanes, static_cast<unsigned>(inst.imm),
                             [](std::uint32_t ones, std::uint32_t) { return ones != 0; }));
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::group_all>(const Inst& inst) {
  set_mask_result(inst,
                  map_groups(mask_value(function_.arg(inst, 0)), inst.lanes, static_cast<unsigned>(inst.imm),
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
    if (at + bytes > function_.indirect_end()) return fault(inst, FaultKind::BadRegister, lane, bytes, at);
    std::memcpy(value(inst.result) + lane * bytes, file_.data() + at, bytes);
  }
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::reg_scatter>(const Inst& inst) {
  const unsigned bytes = size_of(inst.type);
  const std::uint32_t mask = mask_of(inst);
  const auto at = [&](unsigned lane) { return read<std::uint16_t>(arg(inst, 0) + 2 * lane); };
  if (inst.own.given()) {
    for (unsigned lane = 0; lane < inst.lanes; ++lane) {
      if (!has_lane(mask, lane)) continue;
      if (at(lane) + bytes > function_.indirect_end()) {
        Inst own = inst;
        own.guest_ip += lane * inst.own.ip_step;
        return fault(own, FaultKind::BadRegister, inst.own.guest_lane(lane), bytes, at(lane));
      }
      std::memmove(file_.data() + at(lane), file_.data() + inst.own.source_of(lane, bytes), bytes);
    }
    return Next::Op;
  }
  for (unsigned lane = 0; lane < inst.lanes; ++lane)
    if (has_lane(mask, lane) && at(lane) + bytes > function_.indirect_end())
      return fault(inst, FaultKind::BadRegister, inst.own.guest_lane(lane), bytes, at(lane));
  for (unsigned lane = 0; lane < inst.lanes; ++lane)
    if (has_lane(mask, lane)) std::memcpy(file_.data() + at(lane), arg(inst, 1) + lane * bytes, bytes);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::flag_read>(const Inst& inst) {
  const auto bits = read<std::uint64_t>(flags_ + inst.imm / 8) >> inst.imm % 8;
  set_mask_result(inst, static_cast<std::uint32_t>(bits));
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::flag_write>(const Inst& inst) {
  const unsigned shift = inst.imm % 8;
  const std::uint64_t mask = std::uint64_t{mask_of(inst)} << shift;
  const std::uint64_t bits = std::uint64_t{mask_value(function_.arg(inst, 0))} << shift;
  std::byte* const at = flags_ + inst.imm / 8;
  const std::uint64_t flags = (read<std::uint64_t>(at) & ~mask) | (bits & mask);
  std::memcpy(at, &flags, sizeof flags);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::mask_get>(const Inst& inst) {
  set_mask_result(inst, masks_[inst.imm]);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::mask_set>(const Inst& inst) {
  masks_[inst.imm] = mask_value(function_.arg(inst, 0));
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::spend>(const Inst& inst) {
  if (mask_value(function_.arg(inst, 0)) != 0) state_.budget -= static_cast<std::int64_t>(inst.imm);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::spend_bits>(const Inst& inst) {
  std::uint64_t all = 0;
  for (unsigned lane = 0; lane < inst.lanes; ++lane) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const std::byte*>(arg(inst, 0)) + lane * sizeof bits, sizeof bits);
    all |= bits;
  }
  state_.budget -= static_cast<std::int64_t>(inst.imm) * std::popcount(all);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::fpmode_set>(const Inst& inst) {
  std::uint64_t cr0 = 0;
  std::memcpy(&cr0, arg(inst, 0), size_of(inst.type));
  set_mode(static_cast<std::uint32_t>(cr0));
  return Next::Op;
}

// Messages.

AccessOperands Interpreter::access_operands(const Inst& inst) {
  const MemoryAccess& memory = function_.access(inst);
  const unsigned first = memory.address_operand();
  std::uint64_t surface = memory.surface;
  if (first != 0)
    surface = memory.is_based() ? read<std::uint64_t>(arg(inst, 0)) : read<std::uint32_t>(arg(inst, 0));
  return {surface, arg(inst, first), mask_of(inst)};
}

namespace {

/// Where data operands begin: after the surface, if it is one, and the addresses.
unsigned first_data(const Function& function, const Inst& inst) {
  return function.access(inst).surface_is_operand ? 2 : 1;
}

}  // namespace

template <>
Next Interpreter::eval<Op::load>(const Inst& inst) {
  return access(load(*state_.environment, Access::of(function_, inst), access_operands(inst),
                     value(inst.result), state_.fault));
}

template <>
Next Interpreter::eval<Op::probe>(const Inst& inst) {
  return access(probe(*state_.environment, Access::of(function_, inst), access_operands(inst),
                      value(inst.result), state_.fault));
}

template <>
Next Interpreter::eval<Op::store>(const Inst& inst) {
  const unsigned bytes = value_bytes(inst.type, inst.lanes), first = first_data(function_, inst);
  std::vector<std::byte> data(std::size_t{bytes} * (inst.arg_count - first));
  for (unsigned k = first; k < inst.arg_count; ++k)
    std::memcpy(data.data() + std::size_t{k - first} * bytes, arg(inst, k), bytes);
  return access(store(*state_.environment, Access::of(function_, inst), access_operands(inst), data.data(),
                      state_.fault));
}

template <>
Next Interpreter::eval<Op::atomic>(const Inst& inst) {
  const unsigned bytes = value_bytes(inst.type, inst.lanes), first = first_data(function_, inst);
  std::array<std::byte, 2 * max_lanes * 8> data{};
  for (unsigned k = first; k < inst.arg_count; ++k)
    std::memcpy(data.data() + (k - first) * bytes, arg(inst, k), bytes);
  if (!atomic(*state_.environment, Access::of(function_, inst), access_operands(inst), data.data(),
              state_.fault))
    return access(false);
  if (inst.result_count != 0) std::memcpy(value(inst.result), data.data(), bytes);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::block_load>(const Inst& inst) {
  return access(block_load(*state_.environment, Access::of(function_, inst), access_operands(inst),
                           value(inst.result), state_.fault));
}

template <>
Next Interpreter::eval<Op::block_store>(const Inst& inst) {
  return access(block_store(*state_.environment, Access::of(function_, inst), access_operands(inst),
                            arg(inst, first_data(function_, inst)), state_.fault));
}

Next Interpreter::eval_image(const Inst& inst) {
  const ImageSite site = ImageSite::of(function_, inst);
  ImageOperands operands;
  operands.mask = mask_of(inst);
  unsigned k = site.image.surface_is_operand ? 1 : 0;
  operands.surface = k != 0 ? read<std::uint32_t>(arg(inst, 0)) : site.image.surface;
  for (unsigned i = 0; i < site.image.scalars; ++i) operands.scalars[i] = read<std::uint32_t>(arg(inst, k++));
  std::vector<std::uint32_t> data(site.data_dwords());
  for (std::uint32_t* at = data.data(); k < inst.arg_count; ++k, at += inst.lanes)
    std::memcpy(at, arg(inst, k), inst.lanes * sizeof *at);
  if (!image_access(*state_.environment, site, operands, data.data(), state_.fault)) return access(false);
  for (unsigned r = 0; r < inst.result_count; ++r)
    std::memcpy(value(inst.result + r), &data[std::size_t{r} * inst.lanes], inst.lanes * sizeof data[0]);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::fence>(const Inst&) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::turn_fence>(const Inst& inst) {
  return eval<Op::fence>(inst);
}

template <>
Next Interpreter::eval<Op::barrier_signal>(const Inst&) {
  ++state_.barrier_signals;
  return Next::Op;
}

template <>
Next Interpreter::eval<Op::callback>(const Inst& inst) {
  std::vector<std::uint64_t> operands, results(inst.result_count, ~std::uint64_t{0});
  for (unsigned k = 0; k < inst.arg_count; ++k) operands.push_back(read<std::uint64_t>(arg(inst, k)));
  if (const Callbacks* callbacks = state_.environment->callbacks)
    callbacks->call(callbacks->context, inst.imm, operands, results);
  for (unsigned k = 0; k < inst.result_count; ++k)
    std::memcpy(value(inst.result + k), &results[k], sizeof results[k]);
  return Next::Op;
}

// Ends of blocks.

template <>
Next Interpreter::eval<Op::jump>(const Inst& inst) {
  return jump_to(inst.targets.taken);
}

template <>
Next Interpreter::eval<Op::branch_any>(const Inst& inst) {
  return jump_to(mask_value(function_.arg(inst, 0)) != 0 ? inst.targets.taken : inst.targets.fallthrough);
}

template <>
Next Interpreter::eval<Op::jump_ip>(const Inst& inst) {
  const auto ip = read<std::uint32_t>(arg(inst, 0));
  const BlockId target = block_at(ip);
  if (target == no_block) return fault(inst, FaultKind::BadJump, 0, 0, ip);
  // Every possible target is a safepoint.
  if (state_.budget <= 0) return pause(target);
  target_ = target;
  return Next::Block;
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

Next Interpreter::eval_trap(const Inst& inst) { return fault(inst, fault_of(inst.op), 0, 0, inst.imm); }

template <Op op>
constexpr Interpreter::Eval Interpreter::eval_of() {
  if constexpr (is_lanewise(op))
    return &Interpreter::eval_lanewise;
  else if constexpr (shape_of(op).has_image())
    return &Interpreter::eval_image;
  else if constexpr (info(op).shape == Shape::Trap)
    return &Interpreter::eval_trap;
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
  set_mode(state_.fp_mode);
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
