#pragma once
// What a send requests of a shared function, read from its descriptors. Plain data, no heap. The rows are in
// messages.def. It must not know payload layouts (frontend/eu/messages) nor how memory performs it (memory/).
#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/gen/instruction.hpp"
#include "memory/atomics.hpp"
#include "memory/base/result.hpp"
#include "memory/image/sample_op.hpp"

namespace eum::gen {

enum class MessageKind : std::uint8_t {
#define GEN_MESSAGE(kind, ...) kind,
#include "frontend/gen/messages.def"
};

enum class Access : std::uint8_t { Read, Write, Atomic, Fence, Sample, Signal, End };

/// The memory to which the addresses of a message refer.
enum class AddressModel : std::uint8_t {
  None,       ///< no address (barrier, end of thread, global fence)
  Surface,    ///< offset in the surface described by binding table entry `bti`
  Stateless,  ///< 32-bit offset from General State Base Address (binding table index 255 or 253)
  Slm,        ///< offset in shared local memory (binding table index 254)
  Bindless,   ///< surface state offset in the extended descriptor (binding table index 252, from Gen9 on)
  A64,        ///< 64-bit graphics address
  Scratch,    ///< `offset` from the base of the thread's scratch space, in r0.5
};

using SampleOp = mem::image::SampleOp;

/// One message. Fields that its kind lacks keep their defaults.
struct Message {
  MessageKind kind = MessageKind::end_of_thread;
  Sfid sfid = Sfid::null;
  Access access = Access::End;
  AddressModel address = AddressModel::None;
  bool header = false;  ///< the first register of the payload is a header
  bool eot = false;
  std::uint8_t length = 0;           ///< registers of src0's payload, header included (mlen)
  std::uint8_t extended_length = 0;  ///< registers of src1's payload (sends)
  std::uint8_t response_length = 0;  ///< registers written back (rlen)
  std::uint8_t bti = 0;              ///< binding table index as encoded
  std::uint8_t simd = 1;        ///< channels of the message: 8 or 16; 1 for blocks; 2: slots of four channels
  bool high_slots = false;      ///< typed: uses channels 8 to 15 of the execution mask
  std::uint8_t components = 0;  ///< untyped and typed surface: mask of what is transferred, bit 0 is x
  std::uint16_t memory_bits = 0;   ///< one element in memory: 8, 16, 32, 64, 128 (oword), 256 (hword)
  std::uint8_t element_count = 1;  ///< elements per address; of a block: owords or hwords
  bool high_half = false;          ///< one-oword block that uses the high half of its register
  std::uint8_t address_unit = 1;   ///< bytes per unit of a block's offset: 1 or 16
  bool returns = false;            ///< atomic: the old value is returned
  mem::AtomicOp atomic = mem::AtomicOp::add;
  std::uint8_t atomic_code = 0;     ///< as encoded
  std::uint16_t register_bits = 0;  ///< one element in the payload: 32, 64; blocks as memory_bits
  std::uint32_t offset = 0;         ///< Scratch: bytes
  bool by_channel = false;          ///< Scratch: each dword of a register belongs to a channel

  bool commit = false;        ///< fence: the thread waits for the response
  bool flush_l1 = false;      ///< fence
  std::uint8_t flush_l3 = 0;  ///< fence: bit 0 instruction, 1 texture, 2 constant, 3 read-write data
  std::uint8_t vertical_stride_override = 0;  ///< media block: bits 10:8 of the descriptor
  SampleOp sample = SampleOp::sample;
  std::uint8_t sampler = 0;        ///< sampler index
  std::uint32_t state_offset = 0;  ///< Bindless: bytes from the heap's base to the surface's state
  bool half_precision = false;     ///< sampler: 16-bit results
  bool invalidate = false;         ///< read: the lines are invalidated afterwards

  /// Components, or elements per address, that one channel transfers.
  unsigned elements() const {
    return components ? static_cast<unsigned>(__builtin_popcount(components)) : element_count;
  }
};

struct MessageInfo {
  std::string_view name;  ///< as the enumerator
  std::string_view text;  ///< as iga64 comments
  Sfid sfid;
  Access access;
  FamilyRange families;
};
const MessageInfo& info(MessageKind kind);

/// "hdc.dc1": the shared function, as iga64 comments it; empty where the family has none.
std::string_view shared_function_name(Sfid sfid, Family family);

/// As iga64 comments it.
std::string_view text_of(SampleOp op);

/// The message of a send with immediate descriptors. A descriptor in a0 is an error that says so, because its
/// value is known at run time only; the second overload takes it then. Undefined or unsupported descriptors
/// are errors that name shared function, bits and reason.
Result<Message> decode_message(const Instruction& instruction, Family family);

/// The message for these descriptor values. `split`: the instruction is sends or sendsc.
Result<Message> decode_message(std::uint32_t ex_desc, std::uint32_t desc, bool split, Family family);

/// "hdc.dc1; untyped surface read with xy": the shared function and the message, in the wording of iga64's
/// comments.
std::string describe(const Message& message, Family family);

}  // namespace eum::gen
