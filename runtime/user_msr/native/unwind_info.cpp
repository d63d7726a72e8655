// DWARF unwind information (DWARF 5, 6.4; Linux Standard Base 5, 10.6), wrapped in an in-memory ELF file for
// gdb's interface to just-in-time compilers (gdb manual, chapter 30).
#include "runtime/user_msr/native/unwind_info.hpp"

#include <elf.h>

#include "runtime/user_msr/native/stub.hpp"

// gdb finds the interface by these names. Another just-in-time compiler in the program may define them too.
extern "C" {
struct jit_code_entry {
  jit_code_entry *next_entry, *prev_entry;
  const void* symfile_addr;
  std::uint64_t symfile_size;
};
struct jit_descriptor {
  std::uint32_t version, action_flag;
  jit_code_entry *relevant_entry, *first_entry;
};
__attribute__((weak)) jit_descriptor __jit_debug_descriptor{1, 0, nullptr, nullptr};
__attribute__((weak, noinline)) void __jit_debug_register_code() { asm volatile("" ::: "memory"); }
}

namespace eum::rt::native {
namespace {

constexpr unsigned rbx = 3, rsp = 7, rip = 16;  // DWARF's numbers (System V ABI, AMD64, figure 3.36)

/// Writes bytes one after the other.
class Writer {
 public:
  explicit Writer(std::uint8_t* at) : at_(at) {}
  void u8(unsigned value) { *at_++ = static_cast<std::uint8_t>(value); }
  void bytes(std::initializer_list<unsigned> values) {
    for (unsigned value : values) u8(value);
  }
  void little(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) u8(static_cast<unsigned>(value >> (8 * i) & 0xff));
  }
  void uleb(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) u8(static_cast<unsigned>(value & 0x7f) | 0x80);
    u8(static_cast<unsigned>(value));
  }
  std::uint8_t* here() const { return at_; }

 private:
  std::uint8_t* at_;
};

enum Dwarf : unsigned {
  DW_CFA_def_cfa_expression = 0x0f,
  DW_CFA_val_expression = 0x16,
  DW_OP_deref = 0x06,
  DW_OP_const1u = 0x08,
  DW_OP_const1s = 0x09,
  DW_OP_const8u = 0x0e,
  DW_OP_dup = 0x12,
  DW_OP_drop = 0x13,
  DW_OP_and = 0x1a,
  DW_OP_plus = 0x22,
  DW_OP_plus_uconst = 0x23,
  DW_OP_shl = 0x24,
  DW_OP_shr = 0x25,
  DW_OP_bra = 0x28,
  DW_OP_skip = 0x2f,
  DW_OP_lit0 = 0x30,
  DW_OP_breg0 = 0x70,
  DW_OP_deref_size = 0x94,
};

/// A DWARF expression under construction.
struct Expression {
  std::uint8_t bytes[64];
  std::size_t length = 0;

  template <class Write>
  void add(Write write) {
    Writer writer(bytes + length);
    write(writer);
    length = static_cast<std::size_t>(writer.here() - bytes);
  }
  void reg(unsigned number, unsigned offset) {  // for small offsets an ULEB128 equals an SLEB128
    add([&](Writer& w) {
      w.u8(DW_OP_breg0 + number);
      w.u8((offset & 0x7f) | 0x80);
      w.u8(offset >> 7);
    });
  }
  void ops(std::initializer_list<unsigned> values) {
    add([&](Writer& w) { w.bytes(values); });
  }
  /// The depth at the executed address.
  void depth() {
    reg(rip, 0);
    add([](Writer& w) {
      w.u8(DW_OP_plus_uconst);
      w.uleb(offsetof(ArenaLayout, depths));
    });
    ops({DW_OP_deref_size, 1});
  }
  /// `yes` if the depth on top of the stack has frame_in_rbx, else `no`; the depth stays on the stack for
  /// them.
  void if_frame_in_rbx(const Expression& yes, const Expression& no) {
    ops({DW_OP_dup, DW_OP_const1u, frame_in_rbx, DW_OP_and, DW_OP_bra, static_cast<unsigned>(no.length + 3),
         0});
    append(no);
    ops({DW_OP_skip, static_cast<unsigned>(yes.length), 0});
    append(yes);
  }
  void append(const Expression& other) {
    for (std::size_t i = 0; i < other.length; ++i) bytes[length++] = other.bytes[i];
  }
};

/// RSP at the site.
Expression stack_pointer() {
  Expression plain, in_rbx, whole;
  plain.ops({DW_OP_lit0 + 3, DW_OP_shl});
  plain.reg(rsp, 0);
  plain.ops({DW_OP_plus});
  in_rbx.ops({DW_OP_drop});
  in_rbx.reg(rbx, stub_frame_words * 8);
  whole.depth();
  whole.if_frame_in_rbx(in_rbx, plain);
  return whole;
}

/// The program's RBX, whose number in StubFrame is the same 3.
Expression base_register() {
  Expression plain, in_rbx, whole;
  plain.ops({DW_OP_drop});
  plain.reg(rbx, 0);
  in_rbx.ops({DW_OP_drop});
  in_rbx.reg(rbx, offsetof(StubFrame, gpr) + 3 * 8);
  in_rbx.ops({DW_OP_deref});
  whole.depth();
  whole.if_frame_in_rbx(in_rbx, plain);
  return whole;
}

/// return_addresses[(RIP - code) / unit]: 8 bytes for each 16.
Expression return_address(const ArenaLayout& arena) {
  static_assert(ArenaLayout::unit == 16);
  auto code = reinterpret_cast<std::uintptr_t>(&arena.code);
  auto table = reinterpret_cast<std::uintptr_t>(&arena.return_addresses);
  Expression e;
  e.reg(rip, 0);
  e.ops({DW_OP_const1s, 0xf0, DW_OP_and, DW_OP_lit0 + 1, DW_OP_shr, DW_OP_const8u});
  e.add([&](Writer& w) { w.little(table - code / 2, 8); });
  e.ops({DW_OP_plus, DW_OP_deref});
  return e;
}

void rule(Writer& w, std::initializer_list<unsigned> instruction, const Expression& e) {
  w.bytes(instruction);
  w.uleb(e.length);
  for (std::size_t i = 0; i < e.length; ++i) w.u8(e.bytes[i]);
}

/// Writes one entry of .eh_frame, its length first, and pads it.
template <class Write>
void entry(Writer& w, Write write) {
  std::uint8_t* start = w.here();
  w.little(0, 4);
  write(w);
  while ((w.here() - start) % 8 != 4) w.u8(0);  // DW_CFA_nop; the length is 8 n bytes
  Writer(start).little(static_cast<std::uint64_t>(w.here() - start - 4), 4);
}

/// Writes CIE, FDE and end; returns the address of the FDE.
std::uint8_t* write_eh_frame(Writer& w, const ArenaLayout& arena) {
  std::uint8_t* cie = w.here();
  entry(w, [&](Writer&) {
    w.little(0, 4);                      // a CIE
    w.bytes({1, 'z', 'R', 0, 1, 0x78});  // version, augmentation, factors 1 and -8
    w.bytes({rip, 1, 0});                // return address column; addresses are absolute
    rule(w, {DW_CFA_def_cfa_expression}, stack_pointer());
    rule(w, {DW_CFA_val_expression, rip}, return_address(arena));
    rule(w, {DW_CFA_val_expression, rbx}, base_register());
  });
  std::uint8_t* fde = w.here();
  entry(w, [&](Writer&) {
    w.little(static_cast<std::uint64_t>(w.here() - cie), 4);
    w.little(reinterpret_cast<std::uintptr_t>(&arena.code), 8);
    w.little(ArenaLayout::code_bytes, 8);
    w.u8(0);
  });
  w.little(0, 4);
  return fde;
}

/// Contents of ArenaLayout::unwind_info.
struct UnwindInfo {
  enum Section : std::uint16_t { None, Text, EhFrame, Symbols, Strings, Count };

  struct Header {  // of .eh_frame_hdr
    std::uint8_t version, frame_encoding, count_encoding, table_encoding;
    std::int32_t frame;
    std::uint32_t count;
    std::int32_t first, fde;
  } header;
  jit_code_entry debugger_entry;
  Elf64_Ehdr elf;
  Elf64_Shdr sections[Count];
  Elf64_Sym symbols[2];
  char strings[64];
  std::uint8_t eh_frame[256];
};
static_assert(sizeof(UnwindInfo) <= sizeof(ArenaLayout::unwind_info));

UnwindInfo& info_of(ArenaLayout& arena) { return reinterpret_cast<UnwindInfo&>(arena.unwind_info); }

std::int32_t distance(const void* from, const void* to) {
  return static_cast<std::int32_t>(static_cast<const std::uint8_t*>(to) -
                                   static_cast<const std::uint8_t*>(from));
}

constexpr char strings[] = "\0.text\0.eh_frame\0.symtab\0.strtab\0eumulate_msr_stub";
constexpr std::uint32_t string_of(std::string_view name) {
  return static_cast<std::uint32_t>(std::string_view(strings, sizeof strings).find(name));
}

void write_elf(ArenaLayout& arena, std::size_t eh_frame_bytes) {
  UnwindInfo& info = info_of(arena);
  __builtin_memcpy(info.strings, strings, sizeof strings);
  auto code = reinterpret_cast<std::uintptr_t>(&arena.code);
  auto offset = [&](const void* of) { return static_cast<Elf64_Off>(distance(&info.elf, of)); };
  info.elf = {};
  __builtin_memcpy(info.elf.e_ident, ELFMAG, SELFMAG);
  info.elf.e_ident[EI_CLASS] = ELFCLASS64;
  info.elf.e_ident[EI_DATA] = ELFDATA2LSB;
  info.elf.e_ident[EI_VERSION] = EV_CURRENT;
  info.elf.e_type = ET_EXEC;
  info.elf.e_machine = EM_X86_64;
  info.elf.e_version = EV_CURRENT;
  info.elf.e_shoff = offset(info.sections);
  info.elf.e_ehsize = sizeof info.elf;
  info.elf.e_shentsize = sizeof *info.sections;
  info.elf.e_shnum = UnwindInfo::Count;
  info.elf.e_shstrndx = UnwindInfo::Strings;
  for (Elf64_Shdr& section : info.sections) section = {};
  info.sections[UnwindInfo::Text] = {string_of(".text"),
                                     SHT_NOBITS,
                                     SHF_ALLOC | SHF_EXECINSTR,
                                     code,
                                     0,
                                     ArenaLayout::code_bytes,
                                     0,
                                     0,
                                     16,
                                     0};
  info.sections[UnwindInfo::EhFrame] = {string_of(".eh_frame"),
                                        SHT_PROGBITS,
                                        SHF_ALLOC,
                                        reinterpret_cast<std::uintptr_t>(info.eh_frame),
                                        offset(info.eh_frame),
                                        eh_frame_bytes,
                                        0,
                                        0,
                                        8,
                                        0};
  info.sections[UnwindInfo::Symbols] = {string_of(".symtab"), SHT_SYMTAB,          0, 0, offset(info.symbols),
                                        sizeof info.symbols,  UnwindInfo::Strings, 1, 8, sizeof(Elf64_Sym)};
  info.sections[UnwindInfo::Strings] = {string_of(".strtab"), SHT_STRTAB, 0, 0, offset(info.strings),
                                        sizeof strings,       0,          0, 1, 0};
  info.symbols[0] = {};
  info.symbols[1] = {string_of("eumulate_msr_stub"),
                     ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                     STV_DEFAULT,
                     UnwindInfo::Text,
                     code,
                     ArenaLayout::code_bytes};
}

void tell_debugger(jit_code_entry& entry, std::uint32_t action) {
  __jit_debug_descriptor.relevant_entry = &entry;
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_register_code();
}
constexpr std::uint32_t register_action = 1, unregister_action = 2;

}  // namespace

void describe_arena(ArenaLayout& arena) {
  UnwindInfo& info = info_of(arena);
  Writer writer(info.eh_frame);
  const std::uint8_t* fde = write_eh_frame(writer, arena);
  // Encodings: relative to the field itself, 4 bytes; 4 bytes; relative to the header, 4 bytes.
  info.header = {1,
                 0x1b,
                 0x03,
                 0x3b,
                 distance(&info.header.frame, info.eh_frame),
                 1,
                 distance(&info.header, &arena.code),
                 distance(&info.header, fde)};
  write_elf(arena, static_cast<std::size_t>(writer.here() - info.eh_frame));
  jit_code_entry*& first = __jit_debug_descriptor.first_entry;
  info.debugger_entry = {first, nullptr, &info.elf, sizeof info - offsetof(UnwindInfo, elf)};
  if (first) first->prev_entry = &info.debugger_entry;
  first = &info.debugger_entry;
  tell_debugger(info.debugger_entry, register_action);
}

void forget_arena(ArenaLayout& arena) {
  jit_code_entry& entry = info_of(arena).debugger_entry;
  if (entry.next_entry) entry.next_entry->prev_entry = entry.prev_entry;
  (entry.prev_entry ? entry.prev_entry->next_entry : __jit_debug_descriptor.first_entry) = entry.next_entry;
  tell_debugger(entry, unregister_action);
}

void* eh_frame_header(ArenaLayout& arena) { return &info_of(arena).header; }

}  // namespace eum::rt::native
