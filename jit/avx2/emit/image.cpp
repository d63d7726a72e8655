// Image ops: calls of jit/image_access.hpp with the operands in the frame.
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit::avx2::emit {
namespace {

/// Where operands of one lane are: an area of the frame that otherwise only calls of lane functions use.
constexpr int scalar_area = Frame::operands;

bool call_image(ThreadState* state, const CodeData::ImageCall* call, std::byte* frame) {
  ImageOperands operands;
  std::memcpy(&operands.surface, frame + Frame::surface, sizeof operands.surface);
  std::memcpy(&operands.mask, frame + Frame::mask, sizeof operands.mask);
  for (std::size_t i = 0; i < operands.scalars.size(); ++i)
    std::memcpy(&operands.scalars[i], frame + scalar_area + 8 * i, sizeof operands.scalars[i]);
  return fast_image_access(*state->environment, call->site, call->kernel, operands,
                           reinterpret_cast<std::uint32_t*>(frame + Frame::data), state->fault);
}

}  // namespace

void emit_image(Compiler& c, const CodeInst& inst) {
  CodeData::ImageCall& call = c.data.image_calls.emplace_back();
  call.site = ImageSite::of(c.function, inst);
  const ImageSite& site = call.site;
  auto& a = c.a;
  const auto word = [](int offset) { return x86::ptr(x86::rsp, offset, 4); };
  unsigned k = 0;
  if (site.image.surface_is_operand)
    a.mov(word(Frame::surface), c.g.use(inst.args[k++]).r32());
  else
    a.mov(word(Frame::surface), asmjit::Imm(site.image.surface));
  if (inst.mask != ir::no_value)
    a.mov(word(Frame::mask), c.m.bits(inst.mask).r32());
  else
    a.mov(word(Frame::mask), asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(inst.lanes))));
  c.regs.unpin();
  for (unsigned i = 0; i < site.image.scalars; ++i, ++k) {
    c.store_packed(inst.args[k], scalar_area + 8 * static_cast<int>(i));
    c.regs.unpin();
  }
  const int bytes = inst.lanes * 4;
  for (int at = Frame::data; k < inst.arg_count; ++k, at += bytes) {
    c.store_packed(inst.args[k], at);
    c.regs.unpin();
  }
  c.call(
      inst, reinterpret_cast<const void*>(&call_image),
      [&] {
        a.mov(x86::rdi, state_reg);
        a.mov(x86::rsi, asmjit::Imm(reinterpret_cast<std::uint64_t>(&call)));
        a.mov(x86::rdx, x86::rsp);
      },
      true);
  for (unsigned r = 0; r < inst.result_count; ++r)
    c.load_packed(inst.result + r, Frame::data + static_cast<int>(r) * bytes);
}

}  // namespace eum::jit::avx2::emit
