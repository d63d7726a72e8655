// Encodes the math instruction, and runs it in a thread.
#include "tests/accuracy/math_code.hpp"

#include <array>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "frontend/gen/lower/lower.hpp"

namespace eum::accuracy {
namespace {

constexpr unsigned rows = MathCode::channels / 16;
constexpr gen::Family family = gen::Family::Gen9;

struct Word {
  std::uint64_t low = 0, high = 0;
  void set(unsigned bit, std::uint64_t value) { (bit < 64 ? low : high) |= value << bit % 64; }
};

/// math.FUNCTION (16|M0) DST a b, with packed regions.
Word math(unsigned function, unsigned sources, Element element, unsigned dst, unsigned a, unsigned b) {
  constexpr unsigned opcode = 0x38, sixteen_channels = 4, general = 1;
  const auto type = static_cast<std::uint64_t>(element);
  Word word;
  const auto source = [&](unsigned bit, unsigned number) {  // r<number>.0<8;8,1>
    word.set(bit, number);
    word.set(bit + 11, 1);
    word.set(bit + 13, 3);
    word.set(bit + 16, 4);
  };
  word.set(0, opcode);
  word.set(21, sixteen_channels);
  word.set(24, function);
  word.set(35, general);
  word.set(37, type);
  word.set(41, general);
  word.set(43, type);
  word.set(53, dst);
  word.set(61, 1);  // <1>
  source(69, a);
  word.set(89, sources == 2 ? general : 0);
  word.set(91, type);
  if (sources == 2) source(101, b);
  return word;
}

std::vector<std::byte> code(unsigned function, unsigned sources, Element element, unsigned registers) {
  std::vector<Word> words;
  const unsigned other = rows * registers, dst = sources == 2 ? 0 : other;
  for (unsigned row = 0; row < rows; ++row) {
    const unsigned at = row * registers;
    words.push_back(math(function, sources, element, dst + at, at, other + at));
  }
  words.push_back({0x2000020407600031, 0x8200001006000fe0});  // (W) send (8|M0) null r127 0x27 ... {EOT}
  std::vector<std::byte> bytes(words.size() * sizeof(Word));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

}  // namespace

MathCode::MathCode(std::unique_ptr<jit::Executable> executable, unsigned sources, Element element,
                   std::uint32_t cr0)
    : executable_(std::move(executable)),
      memory_(static_cast<std::byte*>(std::aligned_alloc(64, executable_->layout().size)), &std::free),
      sources_(sources),
      element_bytes_(element == Element::HF ? 2 : 4),
      cr0_(cr0) {
  std::memset(memory_.get(), 0, executable_->layout().size);
}

Result<MathCode> MathCode::create(jit::Engine& engine, unsigned function, unsigned sources, Element element,
                                  std::uint32_t cr0) {
  const unsigned registers = element == Element::HF ? 1 : 2;
  eu::LowerOptions options;
  options.modes = cr0;
  auto lowered = gen::lower_kernel(code(function, sources, element, registers), family, 16, "math",
                                   std::pmr::get_default_resource(), options);
  if (!lowered) return lowered.error();
  auto executable = engine.compile(*lowered, {});
  if (!executable) return executable.error();
  return MathCode(std::move(*executable), sources, element, cr0);
}

Result<void> MathCode::run(const void* a, const void* b, void* results) {
  const jit::StateLayout& layout = executable_->layout();
  auto* state = new (memory_.get()) jit::ThreadState;
  state->environment = &environment_;
  state->fp_mode = cr0_;
  layout.masks_of(*state)[0] = 0xffff;
  std::byte* file = layout.file_of(*state);
  const std::size_t bytes = channels * element_bytes_;
  std::memcpy(file, a, bytes);
  if (sources_ == 2) std::memcpy(file + bytes, b, bytes);
  if (executable_->run(*state) != jit::Status::Exited) return error("the code does not run to its end");
  std::memcpy(results, sources_ == 2 ? file : file + bytes, bytes);
  return {};
}

}  // namespace eum::accuracy
