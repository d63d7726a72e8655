// Elements are formatted as on the command line (run/element.hpp).
#include "runtime/cli/debug/values.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "frontend/gen/lower/lower.hpp"
#include "runtime/cli/run/element.hpp"

namespace eum::cli::debug {
namespace {

constexpr std::uint64_t per_line = 8, max_elements = 65536;

/// In the order of gen::Type.
constexpr Element elements[] = {Element::u8,  Element::i8,  Element::u16, Element::i16,
                                Element::u32, Element::i32, Element::u64, Element::i64,
                                Element::f16, Element::f32, Element::f64};
Element element_of(gen::Type type) { return elements[static_cast<std::size_t>(type)]; }

struct Plane {
  std::string_view name;
  std::span<const std::byte> bytes;
  std::uint32_t register_bytes = 0;
};

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

std::span<const std::byte> state_bytes(const jit::ThreadImage& image, gen::Family family,
                                       eu::StateRegister reg) {
  const eu::Target target = gen::target(family);
  return std::span(image.registers).subspan(target.offset(reg), target.bytes(reg));
}

/// Location of registers of a kind; those that are not bytes of the image are written to `room`.
Plane plane_of(RegisterKind kind, const jit::ThreadImage& image, gen::Family family,
               std::array<std::byte, 4>& room) {
  const eu::Target target = gen::target(family);
  const auto state = [&](std::string_view name, eu::StateRegister reg) {
    return Plane{name, state_bytes(image, family, reg), target.grf_bytes};
  };
  const auto word = [&](std::string_view name, std::uint32_t value) {
    std::memcpy(room.data(), &value, sizeof value);
    return Plane{name, room, sizeof value};
  };
  switch (kind) {
    case RegisterKind::General:
      return {"r", std::span(image.registers).first(target.grf_file_bytes()), target.grf_bytes};
    case RegisterKind::Accumulator:
      return state("acc", eu::StateRegister::Accumulator);
    case RegisterKind::Flag:
      return {"f", image.flags, eu::flag_register_bits / 8};
    case RegisterKind::Address:
      return state("a", eu::StateRegister::Address);
    case RegisterKind::Control:
      return state("cr", eu::StateRegister::Control);
    case RegisterKind::State:
      return state("sr", eu::StateRegister::State);
    case RegisterKind::Notification:
      return state("n", eu::StateRegister::Notification);
    case RegisterKind::Timestamp:
      return state("tm", eu::StateRegister::Timestamp);
    case RegisterKind::ExecutionMask:
      return word("ce", image.execution_mask);
    case RegisterKind::InstructionPointer:
      return word("ip", image.ip);
  }
  return {};
}

/// Elements of `bytes`, eight per line; masks, flags and addresses in hexadecimal.
std::string values(std::span<const std::byte> bytes, gen::Type type, bool hexadecimal) {
  std::string text;
  const unsigned size = gen::size_of(type);
  for (std::size_t i = 0; i < bytes.size() / size; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size, size);
    text += i == 0 ? " " : i % per_line == 0 ? "\n  " : " ";
    text += hexadecimal ? fmt::format("{:#x}", bits) : value_text(element_of(type), bytes, i);
  }
  return text;
}

bool in_hexadecimal(RegisterKind kind) {
  return kind != RegisterKind::General && kind != RegisterKind::Accumulator;
}

}  // namespace

Result<std::string> register_text(const RegisterText& reg, std::uint64_t count, const jit::ThreadImage& image,
                                  gen::Family family) {
  std::array<std::byte, 4> room{};
  const Plane plane = plane_of(reg.kind, image, family, room);
  const std::uint64_t registers = plane.bytes.size() / plane.register_bytes;
  if (reg.number >= registers || count > registers - reg.number)
    return error("expected registers {}0 to {}{}, found {}{}", plane.name, plane.name, registers - 1,
                 plane.name, std::uint64_t{reg.number} + std::max<std::uint64_t>(count, 1) - 1);
  const unsigned size = gen::size_of(reg.type);
  if (size > plane.register_bytes)
    return error("expected elements of at most {} bytes in {}, found {}", plane.register_bytes, plane.name,
                 size);
  if (reg.sub && *reg.sub >= plane.register_bytes / size)
    return error("expected a sub-register of 0 to {}, found {}", plane.register_bytes / size - 1, *reg.sub);
  const bool numbered =
      reg.kind != RegisterKind::ExecutionMask && reg.kind != RegisterKind::InstructionPointer;
  std::string text;
  for (std::uint64_t i = reg.number; i < reg.number + count; ++i) {
    auto bytes =
        plane.bytes.subspan(static_cast<std::size_t>(i) * plane.register_bytes, plane.register_bytes);
    if (reg.sub) bytes = bytes.subspan(std::size_t{*reg.sub} * size, size);
    text += fmt::format("{}{}{}:{}:{}\n", plane.name, numbered ? std::to_string(i) : "",
                        reg.sub ? fmt::format(".{}", *reg.sub) : "", gen::info(reg.type).name,
                        values(bytes, reg.type, in_hexadecimal(reg.kind) && !gen::is_float(reg.type)));
  }
  return text;
}

std::string state_text(const jit::ThreadImage& image, gen::Family family) {
  std::string text = fmt::format("ip {:#x}, channels {:#010x}", image.ip, image.execution_mask);
  for (std::size_t i = 0; i < image.parked.size(); ++i)
    if (image.parked[i] != 0) text += fmt::format(", parked at place {} {:#010x}", i, image.parked[i]);
  text += '\n';
  for (std::size_t at = 0; at + 4 <= image.flags.size(); at += 4)
    text += fmt::format("{}f{} {:#010x}", at == 0 ? "" : ", ", at / 4, word_at(image.flags, at));
  const auto word = [&](eu::StateRegister reg, unsigned index) {
    return word_at(state_bytes(image, family, reg), 4 * std::size_t{index});
  };
  text +=
      fmt::format("\ncr0.0 {:#010x}, sr0.0 {:#010x}, sr0.2 {:#010x}\na0", word(eu::StateRegister::Control, 0),
                  word(eu::StateRegister::State, 0), word(eu::StateRegister::State, 2));
  const auto address = state_bytes(image, family, eu::StateRegister::Address);
  return text + values(address, gen::Type::uw, true) + "\n";
}

Result<std::string> memory_text(const MemoryText& memory, std::uint64_t count, const MemoryView& view) {
  const unsigned size = gen::size_of(memory.type);
  if (count == 0 || count > max_elements)
    return error("expected 1 to {} elements, found {}", max_elements, count);
  std::vector<std::byte> bytes(count * size);
  const auto copy = [&](std::span<const std::byte> from, std::string_view what) -> Result<void> {
    if (memory.offset > from.size() || bytes.size() > from.size() - memory.offset)
      return error("expected {} to {} of the {} bytes of {}, found {} at {:#x}", 0, from.size(), from.size(),
                   what, bytes.size(), memory.offset);
    std::memcpy(bytes.data(), from.data() + memory.offset, bytes.size());
    return {};
  };
  const auto by_address = [&](std::uint64_t address) -> Result<void> {
    if (view.walk->space == nullptr) return error("there is no memory by address");
    if (const auto fault = view.walk->space->read(address, bytes))
      return error("{}", view.walk->space->describe(*fault));
    return {};
  };
  Result<void> done;
  switch (memory.kind) {
    case MemoryKind::Address:
      done = by_address(memory.offset);
      break;
    case MemoryKind::Slm:
      done = copy(view.slm, "shared local memory");
      break;
    case MemoryKind::Scratch:
      done = copy(view.scratch, "scratch memory");
      break;
    case MemoryKind::Surface: {
      if (memory.surface >= mem::binding_table_size)
        return error("expected a surface below {}, found {}", mem::binding_table_size, memory.surface);
      const mem::Surface& surface = (*view.walk->surfaces)[memory.surface];
      if (memory.offset > surface.size || bytes.size() > surface.size - memory.offset)
        return error("surface {} has {} bytes, found {} at {:#x}", memory.surface, surface.size, bytes.size(),
                     memory.offset);
      if (surface.base != nullptr)
        std::memcpy(bytes.data(), surface.base + memory.offset, bytes.size());
      else
        done = by_address(surface.gpu_address + memory.offset);
      break;
    }
  }
  if (!done) return done.error();
  std::string text;
  for (std::uint64_t i = 0; i < count; i += per_line) {
    const std::uint64_t n = std::min(per_line, count - i);
    text += fmt::format("{:#x}:{}\n", memory.offset + i * size,
                        values(std::span(bytes).subspan(i * size, n * size), memory.type, false));
  }
  return text;
}

std::string surfaces_text(const rt::WalkerCommand& walk) {
  std::string text;
  for (std::size_t i = 0; i < mem::binding_table_size; ++i)
    if (const mem::Surface& surface = (*walk.surfaces)[i]; surface.size != 0)
      text += fmt::format("s{}: {} bytes at {:#x}\n", i, surface.size, surface.gpu_address);
  return text.empty() ? "no surfaces\n" : text;
}

}  // namespace eum::cli::debug
