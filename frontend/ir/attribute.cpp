// print_NAME, parse_NAME and verify_NAME of each row of attributes.def. The grammar is described in
// printer.hpp.
#include "frontend/ir/attribute.hpp"

#include <bit>
#include <charconv>

#include "frontend/ir/printer.hpp"
#include "frontend/ir/semantics/lane.hpp"
#include "frontend/ir/verifier.hpp"

namespace eum::ir {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (c >= ' ' && c <= '~')
      result += c;
    else
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return result + '"';
}

bool parse_lane_value(Cursor& in, Type type, unsigned lanes, std::uint64_t& bits) {
  const Cursor before = in;
  const std::string_view run = in.run();
  std::optional<std::uint64_t> value = Cursor::parse_number(run);
  if (!value && !is_float(type) && run.starts_with('-')) {
    value = Cursor::parse_number(run.substr(1));
    if (value) value = ~*value + 1;
  }
  double number = 0;
  if (!value && is_float(type) && !run.empty()) {
    const auto end = std::from_chars(run.data(), run.data() + run.size(), number);
    if (end.ec == std::errc{} && end.ptr == run.data() + run.size()) {
      const auto narrow = static_cast<float>(number);
      value = type == Type::f64   ? std::bit_cast<std::uint64_t>(number)
              : type == Type::f32 ? std::bit_cast<std::uint32_t>(narrow)
                                  : to_half(narrow).bits;
    }
  }
  if (!value) {
    in = before;
    return in.fail("a value");
  }
  bits = lane_bits(type, lanes, *value);
  return true;
}

namespace {

Result<void> below(std::uint64_t index, std::uint64_t count, std::string_view what) {
  if (index < count) return {};
  return error("expected a {} below {}, found {}", what, count, index);
}

unsigned arg_lanes(const Function& function, const Inst& inst, unsigned k) {
  return function.values[function.arg(inst, k)].lanes;
}

// None

void print_None(InstText&) {}
bool parse_None(InstReader&) { return true; }
Result<void> verify_None(const Function&, const Inst&) { return {}; }

// Bits

void print_Bits(InstText& t) { t.item("{:#x}", lane_bits(t.inst.type, t.inst.lanes, t.inst.imm)); }
bool parse_Bits(InstReader& r) {
  return r.item() && parse_lane_value(r.in, r.inst.type, r.inst.lanes, r.inst.imm);
}
Result<void> verify_Bits(const Function&, const Inst&) { return {}; }

// Pool

void print_Pool(InstText& t) {
  t.item("{{");
  const bool known = t.inst.imm < t.function.pool.size();
  for (unsigned lane = 0; known && lane < t.inst.lanes && lane < max_lanes; ++lane)
    t.append("{}{:#x}", lane == 0 ? "" : ", ", lane_bits(t.inst.type, 1, t.function.pool[t.inst.imm][lane]));
  t.out += '}';
}
bool parse_Pool(InstReader& r) {
  if (!r.item() || !r.in.expect('{')) return false;
  PoolEntry entry{};
  for (unsigned lane = 0; lane < r.inst.lanes; ++lane)
    if ((lane != 0 && !r.in.expect(',')) || !parse_lane_value(r.in, r.inst.type, 1, entry[lane]))
      return false;
  r.inst.imm = r.function.pool.size();
  r.function.pool.push_back(entry);
  return r.in.expect('}');
}
Result<void> verify_Pool(const Function& f, const Inst& inst) {
  return below(inst.imm, f.pool.size(), "pool entry");
}

// Lane

void print_Lane(InstText& t) { t.item("{}", t.inst.imm); }
bool parse_Lane(InstReader& r) { return r.item() && r.in.number(r.inst.imm); }
Result<void> verify_Lane(const Function& f, const Inst& inst) {
  const unsigned lanes = arg_lanes(f, inst, 0);
  if (inst.imm < max_lanes && inst.imm + inst.lanes <= lanes) return {};
  return error("expected lanes {} to {} in an operand of {} lanes", inst.imm, inst.imm + inst.lanes - 1,
               lanes);
}

// Sum

void print_Sum(InstText&) {}
bool parse_Sum(InstReader&) { return true; }
Result<void> verify_Sum(const Function& f, const Inst& inst) {
  const unsigned a = arg_lanes(f, inst, 0), b = arg_lanes(f, inst, 1);
  if (a + b == inst.lanes) return {};
  return error("expected {} lanes, found operands of {} and {}", inst.lanes, a, b);
}

// Bytes

void print_Bytes(InstText&) {}
bool parse_Bytes(InstReader&) { return true; }
Result<void> verify_Bytes(const Function& f, const Inst& inst) {
  constexpr unsigned vector = 32;
  if (!is_int(inst.from)) return error("expected an integer operand type, found {}", info(inst.from).name);
  const unsigned from = arg_lanes(f, inst, 0) * size_of(inst.from), to = inst.lanes * size_of(inst.type);
  if (from == to && to % vector == 0) return {};
  return error("expected an operand of {} bytes, a multiple of {}, found {}", to, vector, from);
}

// Bitfield

void print_Bitfield(InstText&) {}
bool parse_Bitfield(InstReader&) { return true; }
Result<void> verify_Bitfield(const Function& f, const Inst& inst) {
  const bool to_mask = is_mask(inst.type);
  const Type integer = to_mask ? inst.from : inst.type;
  if (!is_int(integer)) return error("expected an integer operand type, found {}", info(integer).name);
  const unsigned lanes = to_mask ? inst.lanes : arg_lanes(f, inst, 0), bits = 8 * size_of(integer);
  if (lanes <= bits) return {};
  return error("expected a mask of at most {} lanes for {}, found {}", bits, info(integer).name, lanes);
}

// Group

void print_Group(InstText& t) { t.item("{}", t.inst.imm); }
bool parse_Group(InstReader& r) { return r.item() && r.in.number(r.inst.imm); }
Result<void> verify_Group(const Function&, const Inst& inst) {
  if (inst.imm != 0 && inst.imm <= inst.lanes && inst.lanes % inst.imm == 0) return {};
  return error("expected groups that divide {} lanes, found {}", inst.lanes, inst.imm);
}

// Number

void print_Number(InstText& t) { t.item("{:#x}", t.inst.imm); }
bool parse_Number(InstReader& r) { return r.item() && r.in.number(r.inst.imm); }
Result<void> verify_Number(const Function&, const Inst&) { return {}; }

// Count

void print_Count(InstText& t) { print_Number(t); }
bool parse_Count(InstReader& r) { return parse_Number(r); }
Result<void> verify_Count(const Function&, const Inst& inst) {
  if (inst.imm <= INT32_MAX) return {};
  return error("expected at most {} guest instructions, found {}", INT32_MAX, inst.imm);
}

// Flag

void print_Flag(InstText& t) {
  if (t.inst.imm % 16 == 0) return t.item("f{}.{}", t.inst.imm / 32, t.inst.imm / 16 % 2);
  t.item("flag[{}]", t.inst.imm);
}
bool parse_Flag(InstReader& r) {
  std::uint64_t& bit = r.inst.imm;
  const unsigned bits = r.function.flag_bits;
  if (!r.item()) return false;
  if (r.in.peek_word() == "flag")
    return r.in.keyword("flag") && r.in.expect('[') && r.in.number(bit, max_flag_bits) && r.in.expect(']');
  unsigned flag = 0, half = 0;
  if (!r.in.numbered("f", bits / 32, flag) || !r.in.expect('.') || !r.in.number(half, 1)) return false;
  bit = 32 * flag + 16 * half;
  return true;
}
Result<void> verify_Flag(const Function& f, const Inst& inst) {
  if (inst.imm < f.flag_bits && inst.lanes <= f.flag_bits - inst.imm) return {};
  return error("expected flag bits below {}, found {} to {}", f.flag_bits, inst.imm,
               inst.imm + inst.lanes - 1);
}

// Variable

void print_Variable(InstText& t) { t.item("mask{}", t.inst.imm); }
bool parse_Variable(InstReader& r) {
  return r.item() && r.in.numbered("mask", max_mask_variables, r.inst.imm);
}
Result<void> verify_Variable(const Function& f, const Inst& inst) {
  if (inst.lanes != f.simd) return error("expected {} lanes, found {}", f.simd, inst.lanes);
  return below(inst.imm, f.mask_variables, "mask variable");
}

// String

void print_String(InstText& t) {
  t.item("{}", t.inst.imm < t.function.strings.size() ? quoted(t.function.strings[t.inst.imm]) : "?");
}
bool parse_String(InstReader& r) {
  r.inst.imm = r.function.strings.size();
  return r.item() && r.in.quoted(r.function.strings.emplace_back());
}
Result<void> verify_String(const Function& f, const Inst& inst) {
  return below(inst.imm, f.strings.size(), "string");
}

// Region

void print_Region(InstText& t) {
  const Region& region = t.inst.region;
  const unsigned slot = t.function.slot_bytes, bytes = size_of(t.inst.type);
  if (slot == 0 || bytes == 0 || slot % bytes != 0 || region.offset % bytes != 0) {
    t.item("reg[{}]", region.offset);
  } else {
    t.item("r{}", region.offset / slot);
    if (region.offset % slot != 0) t.append(".{}", region.offset % slot / bytes);
  }
  t.append("<{};{},{}>", region.vstride, region.width, region.hstride);
}
bool parse_Region(InstReader& r) {
  Cursor& in = r.in;
  r.inst.region = {};
  std::uint64_t offset = 0;
  if (!r.item()) return false;
  if (in.peek_word() == "reg") {
    if (!in.keyword("reg") || !in.expect('[') || !in.number(offset, max_file_bytes - 1) || !in.expect(']'))
      return false;
  } else {
    std::uint64_t element = 0;
    if (!in.numbered("r", max_file_bytes, offset)) return false;
    if (in.accept('.') && !in.number(element, max_file_bytes)) return false;
    offset = offset * r.function.slot_bytes + element * size_of(r.inst.type);
    if (offset >= max_file_bytes)
      return in.fail(fmt::format("a register within {} bytes, before this", max_file_bytes));
  }
  Region& region = r.inst.region;
  region.offset = static_cast<std::uint32_t>(offset);
  return in.expect('<') && in.number(region.vstride) && in.expect(';') && in.number(region.width) &&
         in.expect(',') && in.number(region.hstride) && in.expect('>');
}
Result<void> verify_Region(const Function& f, const Inst& inst) {
  const Region& region = inst.region;
  const unsigned bytes = size_of(inst.type);
  const bool written = info(inst.op).effect == Effect::WritesState;
  if (region.width == 0) return error("expected a region width of at least 1, found 0");
  for (unsigned lane = 0; lane < inst.lanes; ++lane) {
    const unsigned at = region.byte_of(lane, bytes);
    if (at + bytes > f.file_bytes)
      return error("lane {} of the region lies at bytes {} to {}, beyond the register file of {} bytes", lane,
                   at, at + bytes - 1, f.file_bytes);
    if (!written) continue;
    for (unsigned before = 0; before < lane; ++before) {
      const unsigned other = region.byte_of(before, bytes);
      if (at < other + bytes && other < at + bytes)
        return error("lanes {} and {} of the written region overlap", before, lane);
    }
  }
  return {};
}

// File

void print_File(InstText& t) {
  t.item("[");
  t.next_value();
  t.out += ']';
}
bool parse_File(InstReader& r) { return r.item() && r.in.expect('[') && r.next_value() && r.in.expect(']'); }
Result<void> verify_File(const Function&, const Inst&) { return {}; }

// OwnInsts

void print_OwnInsts(InstText& t) {
  t.item("[");
  t.next_value();
  const OwnInsts& own = t.inst.own;
  if (own.given())
    t.append(" own {}{} ip {}", own.values == OwnValues::Same ? "same " : "", own.source, own.ip_step);
  if (own.goes_up)
    t.append(" lanes {}", unsigned{own.lane});
  else if (own.lane != 0)
    t.append(" lane {}", unsigned{own.lane});
  t.out += ']';
}
bool parse_OwnInsts(InstReader& r) {
  r.inst.own = {};
  if (!r.item() || !r.in.expect('[') || !r.next_value()) return false;
  if (r.in.peek_word() == "own") {
    if (!r.in.keyword("own")) return false;
    const bool same = r.in.peek_word() == "same";
    r.inst.own.values = same ? OwnValues::Same : OwnValues::Each;
    if ((same && !r.in.keyword("same")) || !r.in.number(r.inst.own.source, max_file_bytes) ||
        !r.in.keyword("ip") || !r.in.number(r.inst.own.ip_step))
      return false;
  }
  const std::string_view word = r.in.peek_word();
  if (word == "lane" || word == "lanes") {
    std::uint8_t lane = 0;
    if (!r.in.keyword(word) || !r.in.number(lane, max_lanes - 1)) return false;
    r.inst.own.lane = lane & 0x7f;
    r.inst.own.goes_up = word == "lanes";
  }
  return r.in.expect(']');
}
Result<void> verify_OwnInsts(const Function& f, const Inst& inst) {
  if (inst.own.lane + unsigned{inst.lanes} > max_lanes)
    return error("expected lanes below {}, found {} from {} on", max_lanes, inst.lanes,
                 unsigned{inst.own.lane});
  if (inst.own.goes_up && !inst.own.given())
    return error("expected lanes that go up of instructions of their own");
  const std::uint32_t end = inst.own.source + inst.own.source_bytes(inst.lanes, size_of(inst.type));
  if (!inst.own.given() || end <= f.file_bytes) return {};
  return error("expected values within a register file of {} bytes, found bytes {} to {}", f.file_bytes,
               inst.own.source, end - 1);
}

// Memory

void print_access(InstText& t, const MemoryAccess& access) {
  t.out += info(access.space).name;
  if (access.surface_is_operand) {
    t.out += '[';
    t.next_value();
    t.out += ']';
  } else if (info(access.space).surface == SurfaceBy::Index) {
    t.append("{}", access.surface);
  }
  t.out += '[';
  t.next_value();
  if (access.scale != 1) t.append(" * {}", access.scale);
  if (access.offset != 0) t.append(" + {}", access.offset);
  t.out += ']';
  if (access.components != 1) {
    const char* separator = " {";
    for (unsigned component = 0; component < 64; ++component) {
      if ((access.components >> component & 1) == 0) continue;
      t.append("{}{}", separator, component);
      separator = ", ";
    }
    t.out += '}';
  }
  if (access.part_bytes != 0) t.append(" by {}", access.part_bytes);
  if (access.several) t.out += " several";
  if (access.cache == CacheHint::Invalidate) t.out += " invalidate";
}
void print_Memory(InstText& t) {
  t.separate(", ");
  if (t.inst.imm < t.function.accesses.size()) print_access(t, t.function.access(t.inst));
}
bool parse_space(InstReader& r, MemoryAccess& access) {
  const std::string_view word = r.in.peek_word();
  for (std::size_t i = 0; i < mem_space_count; ++i) {
    access.space = static_cast<MemSpace>(i);
    const auto& [name, address, in_space, bounded, by] = info(access.space);
    if (word == name) {
      r.in.word("a memory space");
      access.surface_is_operand = by != SurfaceBy::Nothing;
      return !access.surface_is_operand || (r.in.expect('[') && r.next_value() && r.in.expect(']'));
    }
    if (by == SurfaceBy::Index && word.starts_with(name)) return r.in.numbered(name, 255, access.surface);
  }
  return r.in.fail(
      "a64, a32, scratch, slm, surface and its number or operand, or bindless, states, from or from_unsigned "
      "and "
      "an operand");
}
bool parse_access(InstReader& r, MemoryAccess access) {
  Cursor& in = r.in;
  if (!parse_space(r, access)) return false;
  if (!in.expect('[') || !r.next_value()) return false;
  if (in.accept('*') && !in.number(access.scale)) return false;
  if (in.accept('+') && !in.number(access.offset)) return false;
  if (!in.expect(']')) return false;
  if (in.accept('{')) {
    access.components = 0;
    do {
      unsigned component = 0;
      if (!in.number(component, 63)) return false;
      access.components |= std::uint64_t{1} << component;
    } while (in.accept(','));
    if (!in.expect('}')) return false;
  }
  if (in.peek_word() == "by") {
    in.word("by");
    if (!in.number(access.part_bytes)) return false;
  }
  if (in.peek_word() == "several") {
    in.word("several");
    access.several = true;
  }
  if (in.peek_word() == "invalidate") {
    in.word("invalidate");
    access.cache = CacheHint::Invalidate;
  }
  r.function.set_access(r.inst, access);
  return true;
}
bool parse_Memory(InstReader& r) { return r.item() && parse_access(r, {}); }
Result<void> verify_Memory(const Function& f, const Inst& inst) {
  if (auto r = below(inst.imm, f.accesses.size(), "memory access"); !r) return r;
  const MemoryAccess& access = f.access(inst);
  if (static_cast<std::size_t>(access.space) >= mem_space_count)
    return error("expected a memory space, found {}", static_cast<unsigned>(access.space));
  const SurfaceBy by = info(access.space).surface;
  if (access.surface_is_operand && by == SurfaceBy::Nothing)
    return error("expected a surface operand of surfaces only, found {}", info(access.space).name);
  if (!access.surface_is_operand && by == SurfaceBy::Place)
    return error("expected an operand that says where the state of a surface is");
  if (!access.surface_is_operand && by == SurfaceBy::Base) return error("expected an operand that is a base");
  const std::uint32_t most = by == SurfaceBy::Base ? MemoryAccess::most_scale : 1;
  if (access.scale == 0 || access.scale > most)
    return error("expected a scale of 1 to {}, found {}", most, access.scale);
  const Shape shape = info(inst.op).shape;
  const bool vector = shape == Shape::Load || shape == Shape::Store;
  if (vector ? access.components == 0 : access.components != 1)
    return error("expected {}, found components {:#x}", vector ? "components" : "one component",
                 access.components);
  const bool is_move = inst.op == Op::load || inst.op == Op::store;
  const unsigned part = access.part_bytes;
  if (part != 0 && (!is_move || !std::has_single_bit(part) || part >= size_of(inst.type)))
    return error(
        "expected parts of what a load or store moves in larger elements, found {} of {} bytes by {}",
        info(inst.op).name, size_of(inst.type), part);
  if (access.several && (!is_move || access.offset != 0 || !info(access.space).bounded_reads))
    return error("expected several loads or stores of surfaces, without an offset, found {}",
                 info(inst.op).name);
  return {};
}

// Atomic

void print_Atomic(InstText& t) {
  const bool known = t.inst.imm < t.function.accesses.size();
  const std::size_t row =
      known ? static_cast<std::size_t>(t.function.access(t.inst).atomic) : ~std::size_t{0};
  t.item("{} ", row < mem::atomic_table.size() ? mem::info(static_cast<AtomicOp>(row)).name : "?");
  if (known) print_access(t, t.function.access(t.inst));
}
bool parse_Atomic(InstReader& r) {
  const auto atomic = mem::parse_atomic(r.in.peek_word());
  if (!r.item() || !atomic) return r.in.fail("an atomic operation");
  r.in.word("an atomic operation");
  MemoryAccess access;
  access.atomic = *atomic;
  return parse_access(r, access);
}
Result<void> verify_Atomic(const Function& f, const Inst& inst) {
  if (auto r = verify_Memory(f, inst); !r) return r;
  if (auto r = below(static_cast<std::uint64_t>(f.access(inst).atomic), mem::atomic_table.size(),
                     "number of an atomic operation");
      !r)
    return r;
  if (size_of(inst.type) < 2)
    return error("expected elements of 2, 4 or 8 bytes, found {}", info(inst.type).name);
  return {};
}

// Target, Targets

Result<void> verify_block(const Function& f, BlockId target) {
  if (target < f.blocks.size()) return {};
  return error("expected a block below b{}, found b{}", f.blocks.size(), target);
}
void print_Target(InstText& t) { t.item("b{}", t.inst.targets.taken); }
bool parse_Target(InstReader& r) {
  r.inst.targets = {};
  return r.item() && r.in.numbered("b", no_block - 1, r.inst.targets.taken);
}
Result<void> verify_Target(const Function& f, const Inst& inst) {
  if (inst.targets.fallthrough != no_block) return error("expected one target, found two");
  return verify_block(f, inst.targets.taken);
}
void print_Targets(InstText& t) {
  print_Target(t);
  t.item("b{}", t.inst.targets.fallthrough);
}
bool parse_Targets(InstReader& r) {
  return parse_Target(r) && r.item() && r.in.numbered("b", no_block - 1, r.inst.targets.fallthrough);
}
Result<void> verify_Targets(const Function& f, const Inst& inst) {
  if (auto r = verify_block(f, inst.targets.taken); !r) return r;
  return verify_block(f, inst.targets.fallthrough);
}

constexpr std::array<AttributeInfo, attribute_count> attribute_table{{
#define IR_ATTRIBUTE(name, place, doc) \
  {AttributeInfo::Place::place, &print_##name, &parse_##name, &verify_##name},
#include "frontend/ir/attributes.def"
#undef IR_ATTRIBUTE
}};

}  // namespace

const AttributeInfo& info(Attribute attribute) {
  return attribute_table[static_cast<std::size_t>(attribute)];
}

}  // namespace eum::ir
