// Signatures by shape.
#include "frontend/ir/signature.hpp"

#include <bit>

namespace eum::ir {
namespace {

/// Collects operands and results.
class Shaping {
 public:
  Signature arg(Type type, unsigned lanes, unsigned times = 1) {
    for (unsigned i = 0; i < times; ++i) {
      if (signature_.arg_count < max_args)
        signature_.args[signature_.arg_count] = {type, static_cast<std::uint8_t>(lanes)};
      ++signature_.arg_count;
    }
    return signature_;
  }
  Signature gives(Type type, unsigned lanes, unsigned count = 1) { return gives(type, lanes, count, count); }
  Signature gives(Type type, unsigned lanes, unsigned at_least, unsigned at_most) {
    signature_.result = {type, static_cast<std::uint8_t>(lanes)};
    signature_.min_results = static_cast<std::uint8_t>(at_least);
    signature_.max_results = static_cast<std::uint8_t>(at_most);
    return signature_;
  }

 private:
  Signature signature_;
};

}  // namespace

Signature signature(const Inst& inst) {
  const Type t = inst.type;
  const unsigned n = inst.lanes, any = 0;
  const bool has_mem = info(info(inst.op).shape).attribute == Attribute::Mem;
  const auto components = has_mem ? static_cast<unsigned>(std::popcount(inst.mem.components)) : 0u;
  Shaping s;
  switch (info(inst.op).shape) {
    case Shape::Constant:
    case Shape::PoolConst:
    case Shape::RegRead:
      return s.gives(t, n);
    case Shape::Convert:
      s.arg(inst.from, n);
      return s.gives(t, n);
    case Shape::Lanewise1:
      s.arg(t, n);
      return s.gives(t, n);
    case Shape::Lanewise2:
      s.arg(t, n, 2);
      return s.gives(t, n);
    case Shape::Lanewise3:
      s.arg(t, n, 3);
      return s.gives(t, n);
    case Shape::Compare:
      s.arg(t, n, 2);
      return s.gives(Type::m, n);
    case Shape::Select:
      s.arg(Type::m, n);
      s.arg(t, n, 2);
      return s.gives(t, n);
    case Shape::Wide2:
      s.arg(t, n, 2);
      return s.gives(t, n, 2);
    case Shape::SystemCall:
      s.arg(t, 1, 2);
      return s.gives(t, 1, 2);
    case Shape::Wide4:
      s.arg(t, n, 4);
      return s.gives(t, n, 2);
    case Shape::Splat:
      s.arg(t, 1);
      return s.gives(t, n);
    case Shape::Slice:
      s.arg(t, any);
      return s.gives(t, n);
    case Shape::Concat:
      s.arg(t, any, 2);
      return s.gives(t, n);
    case Shape::MaskToInt:
      s.arg(Type::m, any);
      return s.gives(t, n);
    case Shape::IntToMask:
      s.arg(inst.from, 1);
      return s.gives(t, n);
    case Shape::MaskGroup:
      s.arg(Type::m, n);
      return s.gives(t, n);
    case Shape::RegWrite:
    case Shape::FlagWrite:
    case Shape::MaskSet:
    case Shape::Effect1:
    case Shape::Branch:
    case Shape::JumpIp:
      return s.arg(t, n);
    case Shape::RegGather:
      s.arg(Type::u16, n);
      return s.gives(t, n);
    case Shape::RegScatter:
      s.arg(Type::u16, n);
      return s.arg(t, n);
    case Shape::FlagRead:
    case Shape::MaskGet:
      return s.gives(t, n);
    case Shape::Load:
      s.arg(address_type(inst.mem.space), n);
      return s.gives(t, n, components);
    case Shape::Store:
      s.arg(address_type(inst.mem.space), n);
      return s.arg(t, n, components);
    case Shape::Atomic:
      s.arg(address_type(inst.mem.space), n);
      s.arg(t, n, mem::info(inst.mem.atomic).operands);
      return s.gives(t, n, 0, 1);
    case Shape::BlockLoad:
      s.arg(address_type(inst.mem.space), 1);
      return s.gives(t, n);
    case Shape::BlockStore:
      s.arg(address_type(inst.mem.space), 1);
      return s.arg(t, n);
    case Shape::Effect0:
    case Shape::Jump:
    case Shape::Wait:
    case Shape::Exit:
    case Shape::Trap:
      return {};
  }
  return {};
}

}  // namespace eum::ir
