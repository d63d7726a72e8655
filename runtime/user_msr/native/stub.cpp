// The stub emitter. Instructions that change flags occur only between PUSHFQ and POPFQ; the stack is used
// only below the red zone, after RSP has been moved by LEA.
#include "runtime/user_msr/native/stub.hpp"

namespace eum::rt::native {
namespace {

constexpr unsigned rax = 0, rcx = 1, rdx = 2, rbx = 3, rsp = 4, rsi = 6, rdi = 7;
constexpr int red_zone = red_zone_bytes;

class Emitter {
 public:
  Emitter(const StubRequest& request, Stub& stub) : request_(request), stub_(stub) { stub_.length = 0; }

  void run() {
    if (request_.instruction.is_immediate()) {
      if (!request_.cases.empty() && inline_access(request_.cases.front()))
        jump_back();
      else
        slow_path();
    } else {
      dispatch();
    }
  }

 private:
  void byte(unsigned value) {
    if (stub_.length < max_stub_bytes) {
      stub_.bytes[stub_.length] = static_cast<std::uint8_t>(value);
      stub_.depths[stub_.length] = static_cast<std::uint8_t>(is_frame_in_rbx_ ? frame_in_rbx : depth_);
    }
    ++stub_.length;
  }
  void bytes(std::initializer_list<unsigned> values) {
    for (unsigned value : values) byte(value);
  }
  void u32(std::uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) byte(value >> (8 * i) & 0xff);
  }
  void u64(std::uint64_t value) {
    u32(static_cast<std::uint32_t>(value));
    u32(static_cast<std::uint32_t>(value >> 32));
  }
  unsigned rex_w(unsigned reg, unsigned rm) { return 0x48 | (reg >> 3) << 2 | rm >> 3; }

  void move_rsp(int bytes_up) {  // lea rsp, [rsp + n]
    bytes({0x48, 0x8d, 0xa4, 0x24});
    u32(static_cast<std::uint32_t>(bytes_up));
    depth_ -= bytes_up / 8;
  }
  void push(unsigned reg) {
    if (reg >= 8) byte(0x41);
    byte(0x50 | (reg & 7));
    ++depth_;
  }
  void pop(unsigned reg) {
    if (reg >= 8) byte(0x41);
    byte(0x58 | (reg & 7));
    --depth_;
  }
  void pushfq() {
    byte(0x9c);
    ++depth_;
  }
  void popfq() {
    byte(0x9d);
    --depth_;
  }
  void move_imm(unsigned reg, std::uint64_t value) {
    if (value <= UINT32_MAX) {  // mov r32, imm32
      if (reg >= 8) byte(0x41);
      byte(0xb8 | (reg & 7));
      u32(static_cast<std::uint32_t>(value));
    } else if (static_cast<std::uint64_t>(static_cast<std::int32_t>(value)) == value) {  // mov r64, simm32
      bytes({rex_w(0, reg), 0xc7, 0xc0 | (reg & 7)});
      u32(static_cast<std::uint32_t>(value));
    } else {
      bytes({rex_w(0, reg), 0xb8 | (reg & 7)});
      u64(value);
    }
  }
  /// ModRM and SIB of [base + disp8].
  void memory(unsigned reg, unsigned base, int disp8) {
    byte(0x40 | (reg & 7) << 3 | (base & 7));
    if ((base & 7) == 4) byte(0x24);
    byte(static_cast<unsigned>(disp8) & 0xff);
  }
  void load(unsigned reg, unsigned base, int disp8 = 0) {  // mov reg, [base + disp8]
    bytes({rex_w(reg, base), 0x8b});
    memory(reg, base, disp8);
  }
  void store(unsigned base, unsigned reg, int disp8 = 0) {  // mov [base + disp8], reg
    bytes({rex_w(reg, base), 0x89});
    memory(reg, base, disp8);
  }
  void move(unsigned to, unsigned from) { bytes({rex_w(from, to), 0x89, 0xc0 | (from & 7) << 3 | (to & 7)}); }
  std::uint64_t here() const { return request_.address + stub_.length; }
  void jump_back() {  // jmp rel32
    byte(0xe9);
    u32(static_cast<std::uint32_t>(request_.resume - (here() + 4)));
  }

  /// Emits the access without the jump back. False if there is no inline code for it.
  bool inline_access(const InlineCase& c) {
    unsigned data = request_.instruction.data;
    unsigned scratch = data == rax ? rcx : rax;
    switch (c.access) {
      case InlineAccess::None:
        return false;
      case InlineAccess::Constant:
        move_imm(data, c.operand);
        return true;
      case InlineAccess::Load:
        move_imm(data, c.operand);
        load(data, data);
        return true;
      case InlineAccess::Store:
        move_rsp(-red_zone);
        push(scratch);
        move_imm(scratch, c.operand);
        store(scratch, data);
        pop(scratch);
        move_rsp(red_zone);
        return true;
      case InlineAccess::Increment:
        move_rsp(-red_zone);
        pushfq();
        push(scratch);
        move_imm(scratch, c.operand);
        move_imm(data, 1);
        bytes({0xf0, rex_w(data, scratch), 0x0f, 0xc1});  // lock xadd [scratch], data
        memory(data, scratch, 0);
        pop(scratch);
        popfq();
        move_rsp(red_zone);
        return true;
      case InlineAccess::Tsc:
        // The halves are merged in memory: merging them in registers would change flags.
        move_rsp(-red_zone - 24);
        store(rsp, rax, 0);
        store(rsp, rdx, 8);
        bytes({0x0f, 0x31});              // rdtsc
        bytes({0x89, 0x44, 0x24, 0x10});  // mov [rsp + 16], eax
        bytes({0x89, 0x54, 0x24, 0x14});  // mov [rsp + 20], edx
        load(rax, rsp, 0);
        load(rdx, rsp, 8);
        load(data, rsp, 16);
        move_rsp(red_zone + 24);
        return true;
    }
    return false;
  }

  /// Register form: finds the case by subtracting addresses and JRCXZ, which do not affect flags.
  void dispatch() {
    move_rsp(-red_zone - 8);
    store(rsp, rcx);
    unsigned index = request_.instruction.index;
    if (index >= 8) byte(0x44);
    bytes({0x89, 0xc0 | (index & 7) << 3 | rcx});  // mov ecx, index: the high half of an address is ignored
    std::uint32_t subtracted = 0;
    std::size_t served = 0;
    for (const InlineCase& c : request_.cases) {
      if (c.access == InlineAccess::None) continue;
      if (served++ == max_inline_cases) break;
      bytes({0x8d, 0x89});  // lea ecx, [rcx + n]
      u32(subtracted - c.msr);
      subtracted = c.msr;
      bytes({0xe3, 5});  // jrcxz past the jump
      byte(0xe9);
      std::size_t displacement = stub_.length;
      u32(0);
      int depth = depth_;
      restore_dispatch();
      inline_access(c);
      jump_back();
      depth_ = depth;
      patch_u32(displacement, static_cast<std::uint32_t>(stub_.length - (displacement + 4)));
    }
    restore_dispatch();
    slow_path();
  }
  void restore_dispatch() {
    load(rcx, rsp);
    move_rsp(red_zone + 8);
  }
  void patch_u32(std::size_t at, std::uint32_t value) {
    for (unsigned i = 0; i < 4 && at + i < max_stub_bytes; ++i)
      stub_.bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }

  void restore_frame() {
    for (unsigned reg = 0; reg < x86::legacy_gpr_count; ++reg) {
      if (reg == rsp)
        move_rsp(8);
      else
        pop(reg);
      if (reg == rbx) is_frame_in_rbx_ = false;
    }
    popfq();
    move_rsp(red_zone);
  }
  void slow_path() {
    move_rsp(-red_zone);
    pushfq();
    for (unsigned reg = x86::legacy_gpr_count; reg-- > 0;) push(reg);
    byte(0xfc);  // cld
    move(rdi, rsp);
    move_imm(rsi, reinterpret_cast<std::uintptr_t>(request_.site));
    move(rbx, rsp);
    is_frame_in_rbx_ = true;
    bytes({0x48, 0x83, 0xe4, 0xf0});  // and rsp, -16
    move_imm(rax, reinterpret_cast<std::uintptr_t>(request_.slow_path));
    bytes({0xff, 0xd0});  // call rax
    move(rsp, rbx);
    bytes({0x85, 0xc0, 0x0f, 0x85});  // test eax, eax; jnz fault
    std::size_t displacement = stub_.length;
    u32(0);
    int depth = depth_;
    restore_frame();
    jump_back();
    depth_ = depth;
    is_frame_in_rbx_ = true;
    patch_u32(displacement, static_cast<std::uint32_t>(stub_.length - (displacement + 4)));
    restore_frame();
    for (std::uint8_t b : fault_instruction) byte(b);
    u64(reinterpret_cast<std::uintptr_t>(request_.site));
  }

  const StubRequest& request_;
  Stub& stub_;
  int depth_ = 0;  // number of words by which RSP is below its value at the site
  bool is_frame_in_rbx_ = false;
};

}  // namespace

bool can_emit(const x86::Instruction& instruction) {
  return instruction.data != rsp && (instruction.is_immediate() || instruction.index != rsp);
}

void emit_stub(const StubRequest& request, Stub& stub) { Emitter(request, stub).run(); }

}  // namespace eum::rt::native
