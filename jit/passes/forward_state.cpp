// Block-local value numbering over pure ops and architectural state.
//
// What is known of a region of registers holds until one of its granules is written.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "jit/analysis/element_pieces.hpp"
#include "jit/analysis/lane_constants.hpp"
#include "jit/analysis/op_table.hpp"
#include "jit/analysis/write_times.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::Type;
using ir::ValueId;

class BlockForwarder {
 public:
  explicit BlockForwarder(ir::Function& function)
      : function_(function),
        constants_(function),
        writes_(function),
        pieces_(function),
        flags_(function.flag_bits),
        halves_written_(function.flag_bits / flag_lanes + 1),
        copy_at_(function.file_bytes / WriteTimes::granule + 64) {
    for (const ir::Block& block : function.blocks)
      for (const Inst& inst : block.insts)
        if (inst.op == Op::flag_write && inst.lanes < flag_lanes)
          halves_written_[inst.imm / flag_lanes] = true;
  }

  void run(ir::Block& block) {
    // Times of writes are kept: entries of the emptied table are later than all of them.
    begun_ = clock_;
    table_.clear();
    lanes_known_ = {};
    std::fill(flags_.begin(), flags_.end(), FlagBits{});
    slices_.clear();
    copies_.clear();
    pieces_.begin_block();
    constants_.begin_block();
    out_.clear();
    out_.reserve(block.insts.size() + 16);
    for (Inst& inst : block.insts) visit(inst);
    block.insts.assign(out_.begin(), out_.end());
  }

 private:
  /// Registers of hosts have this many bytes, or twice as many.
  static constexpr unsigned part_bytes = 32;
  /// `mask` is `lanes` lanes of `of`.
  struct MaskSlice {
    ValueId mask, of;
    unsigned first, lanes;
  };
  static constexpr ValueId no_such_mask = ir::no_value - 1;
  /// `bytes` of the register file, copied at `time`.
  struct Copy {
    unsigned from, to, bytes;
    WriteTimes::Time time;
  };
  struct FlagBits {
    ValueId value = ir::no_value;  // of a flag_write or flag_read that covers this bit ...
    std::uint8_t lane = 0;         // ... as this lane of it
  };

  void alias(const Inst& inst, ValueId to) {
    for (unsigned k = 0; k < inst.result_count; ++k) same_.add(inst.result + k, to + k);
  }

  static std::uint64_t head_of(Op op, Type type, unsigned lanes, Type from) {
    return static_cast<std::uint64_t>(op) | static_cast<std::uint64_t>(type) << 8 |
           static_cast<std::uint64_t>(lanes) << 16 | static_cast<std::uint64_t>(from) << 24;
  }
  OpKey key_of(const Inst& inst) const {
    OpKey key;
    key.head = head_of(inst.op, inst.type, inst.lanes, inst.from);
    key.attribute = inst.imm;
    // Rounding and denormals follow the mode, so equal float ops are equal only within one.
    if (ir::is_pure(inst.op) && (ir::is_float(inst.type) || ir::is_float(inst.from)))
      key.head |= fp_modes_ << 32;
    if (ir::is_pure(inst.op))
      for (unsigned k = 0; k < inst.arg_count; ++k) key.args[k] = function_.arg(inst, k);
    key.mask = inst.mask;
    return key;
  }
  /// For a read of the region of a read or write.
  static OpKey region_key(const Inst& access, ValueId mask) {
    OpKey key;
    // Same bits, whatever the type.
    const Type type = ir::int_type(ir::size_of(access.type), false);
    key.head = head_of(Op::reg_read, type, access.lanes, Type::u32);
    // Lanes a fixed distance apart are one region however it is written.
    ir::Region region = access.region;
    if (const int stride = region.stride(access.lanes); stride >= 0)
      region = ir::Region::strided(region.offset, access.lanes == 1 ? 1 : static_cast<unsigned>(stride));
    key.attribute = region.offset | std::uint64_t{region.vstride} << 32 | std::uint64_t{region.width} << 40 |
                    std::uint64_t{region.hstride} << 48;
    key.mask = mask;
    return key;
  }

  /// The value as `type`: itself, or a bitcast.
  ValueId cast(ValueId value, Type type, const Inst& at) {
    Type from = function_.values[value].type;
    if (from == type) return value;
    Inst inst;
    inst.op = Op::bitcast;
    inst.type = type;
    inst.from = from;
    inst.lanes = function_.values[value].lanes;
    inst.guest_ip = at.guest_ip;
    return pure(inst, {value});
  }
  /// Appends a new pure instruction, or finds its equal.
  ValueId pure(Inst inst, std::initializer_list<ValueId> args) {
    function_.set_args(inst, args);
    OpTable::Entry& entry = table_.at(key_of(inst));
    if (entry.value != ir::no_value) {
      function_.operands.resize(inst.first_arg);
      return entry.value;
    }
    inst.result = function_.add_value(inst.type, inst.lanes);
    inst.result_count = 1;
    out_.push_back(inst);
    return entry.value = inst.result;
  }
  ValueId mask_op(Op op, ValueId a, ValueId b, const Inst& at) {
    return pure(make_op(op, Type::m, function_.values[a].lanes, at.guest_ip), {a, b});
  }

  void visit(Inst& inst) {
    same_.resolve(function_, inst);
    ++clock_;
    if (inst.op == Op::reg_write) pieces_.note(function_, inst, writes_, clock_);
    writes_.note(inst, clock_);
    switch (inst.op) {
      case Op::reg_read:
        return read_register(inst);
      case Op::reg_write:
        return write_register(inst);
      case Op::fpmode_set:
        ++fp_modes_;
        break;
      case Op::flag_read:
        return read_flags(inst);
      case Op::flag_write:
        return write_flags(inst);
      default:
        if (inst.op == Op::slice && ir::is_mask(inst.type))
          slices_.push_back(
              {inst.result, function_.arg(inst, 0), static_cast<unsigned>(inst.imm), inst.lanes});
        if (ir::is_pure(inst.op)) {
          if (const auto lanes = constants_.result(inst)) make_constant(inst, *lanes);
          OpTable::Entry& entry = table_.at(key_of(inst));
          if (entry.value != ir::no_value) return alias(inst, entry.value);
          entry.value = inst.result;
          constants_.note(inst);
        }
    }
    out_.push_back(inst);
  }

  void make_constant(Inst& inst, const ir::PoolEntry& lanes) {
    inst.op = Op::vconst;
    inst.from = Type::u32;
    inst.arg_count = 0;
    inst.imm = function_.pool.size();
    function_.pool.push_back(lanes);
  }

  void read_register(Inst& inst) {
    if (inst.lanes == 1) read_original(inst);
    if (inst.mask != ir::no_value) {
      // A read of all lanes serves a read of some, in preference to what was written to these: reads with and
      // without a mask then share one value.
      const OpTable::Entry* all = table_.find(region_key(inst, ir::no_value));
      if (all && writes_.is_kept(inst, all->time))
        return same_.add(inst.result, cast(all->value, inst.type, inst));
    }
    const OpTable::Entry* known = table_.find(region_key(inst, inst.mask));
    if (known && writes_.is_kept(inst, known->time))
      return same_.add(inst.result, cast(known->value, inst.type, inst));
    if (const ValueId piece = pieces_.one(inst, writes_); piece != ir::no_value)
      return same_.add(inst.result, cast(piece, inst.type, inst));
    if (const auto lanes = constant_halves(inst)) {
      make_constant(inst, *lanes);
      inst.mask = ir::no_value;
      constants_.note(inst);
      return out_.push_back(inst);
    }
    if (const ValueId parts = known_parts(inst); parts != ir::no_value) return same_.add(inst.result, parts);
    if (const ValueId cut = cut_from_known(inst); cut != ir::no_value) return same_.add(inst.result, cut);
    if (inst.lanes > 1)
      if (const ValueId whole = known_pieces(inst); whole != ir::no_value)
        return same_.add(inst.result, whole);
    if (const ValueId joined = written_in_parts(inst); joined != ir::no_value)
      return same_.add(inst.result, joined);
    remember(inst, inst.result);
    out_.push_back(inst);
  }

  // ---- Reads of a part of what one write has written, or of what several have. If parts are whole host
  // registers, slices and concats cost nothing.

  /// The value of the read, from a known value with more lanes, or from its halves.
  ValueId known_parts(const Inst& read) {
    const unsigned bytes = read.lanes * ir::size_of(read.type);
    if (read.region.stride(read.lanes) != 1 || bytes % part_bytes != 0) return ir::no_value;
    if (const ValueId whole = known_around(read); whole != ir::no_value) return whole;
    if (const ValueId joined = known_halves(read); joined != ir::no_value) return joined;
    if (read.lanes % 2 != 0 || bytes / 2 % part_bytes != 0) return ir::no_value;
    return joined(read, [&](const Inst& half) { return known_parts(half); });
  }

  /// Concatenates both halves of the lanes, each known or else found by `parts`.
  template <class Parts>
  ValueId joined(const Inst& read, Parts parts) {
    const unsigned lanes = read.lanes / 2;
    std::array<ValueId, 2> halves{};
    for (unsigned half = 0; half < 2; ++half) {
      const Inst part = part_of(read, half * lanes, lanes);
      halves[half] = known(part, part);
      if (halves[half] == ir::no_value) halves[half] = parts(part);
      if (halves[half] == ir::no_value) return ir::no_value;
      halves[half] = cast(halves[half], read.type, read);
    }
    return pure(new_inst(Op::concat, read, read.lanes), {halves[0], halves[1]});
  }

  /// A read that fits a host register, of parts that this block has written and knows: a read of the whole
  /// would wait until the parts have left the store buffer.
  ValueId written_in_parts(const Inst& read) {
    const unsigned bytes = read.lanes * ir::size_of(read.type);
    if (bytes < 4 || bytes > part_bytes || !std::has_single_bit(bytes) || !std::has_single_bit(read.lanes) ||
        read.region.stride(read.lanes) != 1 || writes_.is_kept(read, begun_))
      return ir::no_value;
    if (read.lanes == 1) return bytes == 8 ? known_halves(read) : known_pieces(read);
    if (bytes < 8) return ir::no_value;
    return joined(read, [&](const Inst& half) { return written_in_parts(half); });
  }

  /// Elements of 64 bits whose low and high dwords are known separately.
  ValueId known_halves(const Inst& read) {
    if (ir::size_of(read.type) != 8) return ir::no_value;
    std::array<ValueId, 2> halves{};
    for (unsigned half = 0; half < 2; ++half) {
      Inst dwords = read;
      dwords.type = Type::u32;
      dwords.region = ir::Region::strided(read.region.offset + 4 * half, 2);
      halves[half] = known(dwords, dwords);
      if (halves[half] == ir::no_value) return ir::no_value;
      halves[half] = cast(halves[half], Type::u32, read);
    }
    const auto low = constants_.lanes_of(halves[0]), high = constants_.lanes_of(halves[1]);
    Inst whole = new_inst(Op::join, read, read.lanes);
    whole.type = Type::u64;
    if (!low || !high || read.lanes != 1) return cast(pure(whole, {halves[0], halves[1]}), read.type, read);
    whole.op = Op::constant;
    whole.imm = ((*low)[0] & 0xffffffff) | (*high)[0] << 32;
    return cast(pure(whole, {}), read.type, read);
  }

  /// Elements whose words or bytes are known separately.
  ValueId known_pieces(const Inst& read) {
    const Type type = ir::int_type(ir::size_of(read.type), false);
    const auto op = [&](Op what, std::initializer_list<ValueId> args, std::uint64_t imm = 0) {
      Inst inst = make_op(what, type, read.lanes, read.guest_ip);
      inst.imm = imm;
      return pure(inst, args);
    };
    ValueId whole = ir::no_value;
    for (const ElementPieces::Piece& piece : pieces_.of(read, writes_)) {
      Inst widen = make_op(Op::convert, type, read.lanes, read.guest_ip);
      widen.from = ir::int_type(piece.bytes, false);
      ValueId part = pure(widen, {cast(piece.value, widen.from, read)});
      if (piece.byte != 0) {
        part = op(Op::shl, {part, op(Op::constant, {}, 8 * piece.byte)});
        part = op(Op::or_, {whole, part});
      }
      whole = part;
    }
    return whole == ir::no_value ? whole : cast(whole, read.type, read);
  }

  /// The lanes of a read whose halves are not whole host registers, if they are all known constants.
  std::optional<ir::PoolEntry> constant_halves(const Inst& read) {
    const unsigned bytes = read.lanes * ir::size_of(read.type), lanes = read.lanes / 2;
    if (read.lanes < 2 || read.lanes % 2 != 0 || bytes / 2 % part_bytes == 0 || !ir::is_int(read.type) ||
        read.region.stride(read.lanes) != 1)
      return std::nullopt;
    ir::PoolEntry all{};
    for (unsigned half = 0; half < 2; ++half) {
      const Inst part = part_of(read, half * lanes, lanes);
      const ValueId value = known(part, part);
      const auto values = value == ir::no_value ? std::nullopt : constants_.lanes_of(value);
      if (!values) return std::nullopt;
      std::copy_n(values->begin(), lanes, all.begin() + half * lanes);
    }
    return all;
  }

  /// The value of the read as a slice of a known region that extends further.
  ValueId known_around(const Inst& read) {
    const unsigned element = ir::size_of(read.type);
    for (unsigned lanes = read.lanes * 2; lanes <= ir::max_lanes; lanes *= 2) {
      if (!may_know(element, lanes)) continue;
      for (unsigned before = 0; before < lanes; before += read.lanes) {
        if (read.region.offset < before * element) break;
        const ValueId value = known(part_of(read, 0 - before, lanes), read);
        if (value == ir::no_value) continue;
        Inst slice = new_inst(Op::slice, read, read.lanes);
        slice.imm = before;
        return pure(slice, {cast(value, read.type, read)});
      }
    }
    return ir::no_value;
  }

  /// Bytes or words that are not adjacent, from the known words or dwords around them.
  ValueId cut_from_known(const Inst& read) {
    const unsigned bytes = ir::size_of(read.type);
    const int stride = read.region.stride(read.lanes);
    if (read.lanes < 8 || bytes > 2 || stride < 2 || stride > 4 || static_cast<unsigned>(stride) * bytes > 4)
      return ir::no_value;
    const unsigned container = static_cast<unsigned>(stride) * bytes, within = read.region.offset % container;
    if (within % bytes != 0) return ir::no_value;
    Inst around = read;
    around.type = ir::int_type(container, false);
    around.region = ir::Region::packed(read.region.offset - within);
    ValueId value = known(around, read);
    if (value == ir::no_value) return ir::no_value;
    value = cast(value, around.type, read);
    if (within != 0) {
      Inst by = new_inst(Op::constant, around, read.lanes);
      by.imm = 8 * within;
      const ValueId count = pure(by, {});
      value = pure(new_inst(Op::shr, around, read.lanes), {value, count});
    }
    Inst cut = new_inst(Op::convert, read, read.lanes);
    cut.type = ir::int_type(bytes, ir::is_signed(read.type));
    cut.from = around.type;
    return cast(pure(cut, {value}), read.type, read);
  }

  bool may_know(unsigned element_bytes, unsigned lanes) const {
    return (lanes_known_[element_bytes] >> lanes & 1) != 0;
  }
  /// What has been written to or read from the region of `whole`, under its mask or for all lanes, if it
  /// still holds in the region of `part`.
  ValueId known(const Inst& whole, const Inst& part) const {
    if (!may_know(ir::size_of(whole.type), whole.lanes)) return ir::no_value;
    for (const ValueId mask : {whole.mask, ir::no_value}) {
      if (mask == no_such_mask) continue;
      const OpTable::Entry* entry = table_.find(region_key(whole, mask));
      if (entry && writes_.is_kept(part, entry->time)) return entry->value;
    }
    return ir::no_value;
  }
  /// The region of a read or write now holds `value`, under its mask.
  void remember(const Inst& access, ValueId value) {
    OpTable::Entry& entry = table_.at(region_key(access, access.mask));
    entry.value = value;
    entry.time = clock_;
    lanes_known_[ir::size_of(access.type)] |= std::uint64_t{1} << access.lanes;
  }

  /// Lanes [first, first + lanes) of a read of adjacent elements, where `first` may be before its beginning;
  /// under no_such_mask if there is no mask of those channels.
  Inst part_of(const Inst& read, unsigned first, unsigned lanes) {
    Inst part = read;
    part.lanes = static_cast<std::uint8_t>(lanes);
    part.region = ir::Region::packed(read.region.offset + first * ir::size_of(read.type));
    if (read.mask == ir::no_value || read.mask == no_such_mask) return part;
    ValueId root = read.mask;
    if (const auto own = std::ranges::find(slices_, read.mask, &MaskSlice::mask); own != slices_.end()) {
      root = own->of;
      first += own->first;
    }
    part.mask = first == 0 && lanes == function_.values[root].lanes ? root : no_such_mask;
    for (const MaskSlice& slice : slices_)
      if (slice.of == root && slice.first == first && slice.lanes == lanes) part.mask = slice.mask;
    return part;
  }

  Inst new_inst(Op op, const Inst& at, unsigned lanes) const {
    return make_op(op, at.type, lanes, at.guest_ip);
  }

  /// A read of one lane of a copy reads the original: the lane is used in a general register, the copy in a
  /// vector, if at all.
  void read_original(Inst& inst) const {
    const std::uint32_t last = copy_at_[inst.region.offset / WriteTimes::granule];
    if (last >= copies_.size()) return;
    const Copy& copy = copies_[last];
    if (inst.region.offset < copy.to || inst.region.offset + ir::size_of(inst.type) > copy.to + copy.bytes)
      return;
    Inst original = inst;
    original.region = ir::Region::packed(copy.from + inst.region.offset - copy.to);
    if (writes_.is_kept(inst, copy.time) && writes_.is_kept(original, copy.time)) inst = original;
  }
  void remember_copy(const Inst& write) {
    const Inst* read = out_.empty() ? nullptr : &out_.back();
    if (!read || read->op != Op::reg_read || read->result != function_.arg(write, 0) || write.lanes == 1 ||
        write.mask != ir::no_value || write.region.stride(write.lanes) != 1 ||
        read->region.stride(read->lanes) != 1)
      return;
    const Copy copy{read->region.offset, write.region.offset, write.lanes * ir::size_of(write.type), clock_};
    // The write, which has the time of the copy, overwrites what it overlaps of the source.
    if (copy.from < copy.to + copy.bytes && copy.to < copy.from + copy.bytes) return;
    const auto [first, last] = slots_of(write, WriteTimes::granule);
    std::fill(copy_at_.begin() + first, copy_at_.begin() + last + 1,
              static_cast<std::uint32_t>(copies_.size()));
    copies_.push_back(copy);
  }

  void write_register(Inst& inst) {
    remember_copy(inst);
    // A later read under the same mask needs only lanes that this write provides.
    if (inst.region.stride(inst.lanes) > 0) {
      remember(inst, function_.arg(inst, 0));
      remember_halves(inst);
    }
    out_.push_back(inst);
  }
  /// Notes each of the halves that were joined for a write.
  void remember_halves(const Inst& inst) {
    const Inst* join = out_.empty() ? nullptr : &out_.back();
    if (!join || join->op != Op::join || join->result != function_.arg(inst, 0) ||
        inst.region.stride(inst.lanes) != 1)
      return;
    const std::array halves{function_.arg(*join, 0), function_.arg(*join, 1)};
    for (unsigned half = 0; half < 2; ++half) {
      Inst dwords = inst;
      dwords.type = Type::u32;
      dwords.region = ir::Region::strided(inst.region.offset + 4 * half, 2);
      remember(dwords, halves[half]);
    }
  }

  void read_flags(Inst& inst) {
    const auto first = static_cast<unsigned>(inst.imm);
    ValueId value = known_flags(first, inst.lanes, inst);
    if (value == ir::no_value && has_parts(first, inst.lanes))
      value = flags_in_parts(first, inst.lanes, inst);
    if (value != ir::no_value) return same_.add(inst.result, value);
    remember_flags(first, inst.lanes, inst.result);
    out_.push_back(inst);
  }
  void write_flags(Inst& inst) {
    auto first = static_cast<unsigned>(inst.imm);
    if (inst.mask != ir::no_value) {
      ValueId old = known_flags(first, inst.lanes, inst);
      if (old == ir::no_value) old = read_of_flags(first, inst.lanes, inst);
      ValueId kept = mask_op(Op::andn, inst.mask, old, inst);
      ValueId given = mask_op(Op::and_, inst.mask, function_.arg(inst, 0), inst);
      const ValueId merged = mask_op(Op::or_, kept, given, inst);
      function_.args(inst)[0] = merged;
      inst.mask = ir::no_value;
    }
    remember_flags(first, inst.lanes, function_.arg(inst, 0));
    out_.push_back(inst);
  }
  void remember_flags(unsigned first, unsigned lanes, ValueId value) {
    for (unsigned i = 0; i < lanes && first + i < flags_.size(); ++i)
      flags_[first + i] = {value, static_cast<std::uint8_t>(i)};
  }
  /// Whether the block knows these bits as consecutive lanes of one value.
  bool is_run_of_flags(unsigned first, unsigned lanes) const {
    const FlagBits head = flags_[first];
    for (unsigned i = 1; i < lanes; ++i)
      if (flags_[first + i].value != head.value || flags_[first + i].lane != head.lane + i) return false;
    return head.value != ir::no_value;
  }
  ValueId run_of_flags(unsigned first, unsigned lanes, const Inst& at) {
    if (!is_run_of_flags(first, lanes)) return ir::no_value;
    const FlagBits head = flags_[first];
    if (head.lane == 0 && function_.values[head.value].lanes == lanes) return head.value;
    Inst slice = make_op(Op::slice, Type::m, lanes, at.guest_ip);
    slice.imm = head.lane;
    return pure(slice, {head.value});
  }
  /// The value of these flag bits if the block knows it: one value, a slice of one, or two halves.
  ValueId known_flags(unsigned first, unsigned lanes, const Inst& at) {
    if (first + lanes > flags_.size()) return ir::no_value;
    if (const ValueId whole = run_of_flags(first, lanes, at); whole != ir::no_value) return whole;
    if (lanes < 2 || lanes % 2 != 0) return ir::no_value;
    const ValueId low = run_of_flags(first, lanes / 2, at);
    if (low == ir::no_value) return ir::no_value;
    const ValueId high = run_of_flags(first + lanes / 2, lanes / 2, at);
    if (high == ir::no_value) return ir::no_value;
    return pure(make_op(Op::concat, Type::m, lanes, at.guest_ip), {low, high});
  }
  static constexpr unsigned byte_lanes = 8, flag_lanes = 32;
  /// Whether these are whole bytes some of which the block knows; or a flag of 32 bits, parts of which are
  /// written separately, mostly in the block before, a loop's body.
  bool has_parts(unsigned first, unsigned lanes) const {
    if (first % byte_lanes != 0 || lanes % byte_lanes != 0 || !std::has_single_bit(lanes)) return false;
    if (lanes == flag_lanes && first % flag_lanes == 0 && halves_written_[first / flag_lanes]) return true;
    for (unsigned i = 0; i < lanes; i += byte_lanes)
      if (is_run_of_flags(first + i, byte_lanes)) return true;
    return false;
  }
  /// Bits that the block does not know are read separately: one read of all would wait for the writes of
  /// parts.
  ValueId flags_in_parts(unsigned first, unsigned lanes, const Inst& at) {
    if (const ValueId run = run_of_flags(first, lanes, at); run != ir::no_value) return run;
    if (!has_parts(first, lanes)) {
      const ValueId read = read_of_flags(first, lanes, at);
      remember_flags(first, lanes, read);
      return read;
    }
    const ValueId low = flags_in_parts(first, lanes / 2, at);
    const ValueId high = flags_in_parts(first + lanes / 2, lanes / 2, at);
    return pure(make_op(Op::concat, Type::m, lanes, at.guest_ip), {low, high});
  }
  ValueId read_of_flags(unsigned first, unsigned lanes, const Inst& at) {
    Inst read = make_op(Op::flag_read, Type::m, lanes, at.guest_ip);
    read.imm = first;
    read.result = function_.add_value(Type::m, lanes);
    out_.push_back(read);
    return read.result;
  }

  ir::Function& function_;
  SameValues same_;
  LaneConstants constants_;
  WriteTimes writes_;
  ElementPieces pieces_;
  std::vector<FlagBits> flags_;
  std::vector<bool> halves_written_;    // of each flag, whether parts of it are written separately
  std::vector<MaskSlice> slices_;       // of the block, a few
  std::vector<Copy> copies_;            // of the block
  std::vector<std::uint32_t> copy_at_;  // of each granule: which copy wrote it last, if that is one of these
  OpTable table_;
  /// Bit n of element size s: the table may have a region of n lanes of s bytes.
  std::array<std::uint64_t, 9> lanes_known_{};
  WriteTimes::Time clock_ = 0;
  WriteTimes::Time begun_ = 0;  // as the block began
  std::uint64_t fp_modes_ = 0;  // how often the mode has been set
  std::vector<Inst> out_;
};

}  // namespace

void forward_state(ir::Function& function) {
  BlockForwarder forwarder(function);
  for (ir::Block& block : function.blocks) forwarder.run(block);
}

void forward_state(ir::Function& function, ir::BlockId block) {
  BlockForwarder(function).run(function.blocks[block]);
}

}  // namespace eum::jit
