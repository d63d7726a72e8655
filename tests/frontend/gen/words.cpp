#include "tests/frontend/gen/words.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "frontend/gen/instruction.hpp"
#include "tests/frontend/gen/encode.hpp"
#include "tests/frontend/gen/iga64.hpp"

namespace eum::gen::test {
namespace {

constexpr std::size_t compacted_bit = 29;

bool bit(const TestWord& w, std::size_t n) { return std::to_integer<unsigned>(w[n / 8]) >> (n % 8) & 1; }
void flip(TestWord& w, std::size_t n) { w[n / 8] ^= static_cast<std::byte>(1u << (n % 8)); }
void set_opcode(TestWord& w, unsigned number) {
  w[0] = static_cast<std::byte>((std::to_integer<unsigned>(w[0]) & 0x80) | number);
}
void set(TestWord& w, const Bits& field, std::uint64_t value) {
  for (unsigned i = field.count; i-- > 0;)
    for (unsigned n = field.ranges[i].lo; n <= field.ranges[i].hi; ++n, value >>= 1)
      if (bit(w, n) != ((value & 1) != 0)) flip(w, n);
}

TestWord bytes_of(std::string_view hex) {
  TestWord out;
  for (std::size_t i = 0; i < 32; i += 2)
    out.push_back(static_cast<std::byte>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}

/// All values of a narrow field; for a wide one the values with few ones or few zeros.
std::vector<std::uint64_t> values(const Bits& field) {
  const unsigned width = field.width();
  std::vector<std::uint64_t> out;
  if (width <= 5) {
    for (std::uint64_t v = 0; v < 1u << width; ++v) out.push_back(v);
    return out;
  }
  out = {0, low_mask(width)};
  for (unsigned n = 0; n < width; ++n) {
    out.push_back(1ull << n);
    out.push_back(low_mask(width) ^ 1ull << n);
  }
  return out;
}

}  // namespace

std::vector<std::vector<TestWord>> kernels(Family family) {
  std::vector<std::vector<TestWord>> all;
  for (const auto& entry : std::filesystem::directory_iterator(data_path(""))) {
    if (entry.path().extension() != ".dat" || family_of_data(entry.path().stem().string()) != family)
      continue;
    const std::vector<std::byte> code = read_bytes(entry.path().string());
    std::vector<TestWord>& out = all.emplace_back();
    for (std::size_t at = 0; at + 16 <= code.size();) {
      const std::size_t length = length_at(code, at, family);
      out.emplace_back(code.begin() + static_cast<std::ptrdiff_t>(at),
                       code.begin() + static_cast<std::ptrdiff_t>(at + length));
      at += length;
    }
  }
  return all;
}

std::vector<TestWord> corpus(Family family) {
  std::vector<TestWord> out;
  for (const std::vector<TestWord>& kernel : kernels(family))
    out.insert(out.end(), kernel.begin(), kernel.end());
  const char* vectors = family <= Family::Gen7_5 ? "vectors_gen7.txt"
                        : family <= Family::Gen9 ? "vectors.txt"
                                                 : nullptr;
  if (vectors)
    for (const std::string& line : read_lines(data_path(vectors))) out.push_back(bytes_of(line));
  return out;
}

WordSource::WordSource(Kind kind, Family family, std::mt19937_64& random)
    : kind_(kind), family_(family), random_(random), base_(corpus(family)) {
  for (std::size_t n = 0; n < opcode_count; ++n)
    if (exists_on(static_cast<Opcode>(n), family)) opcodes_.push_back(opcode_table[n].number);
  if (kind == Kind::Field) {
    pending_ = varied_fields();
    std::shuffle(pending_.begin(), pending_.end(), random_);
  }
}

std::vector<TestWord> WordSource::varied_fields() const {
  // One base for each opcode and form (access mode and kinds of the operands).
  std::map<std::vector<int>, TestWord> bases;
  for (const TestWord& w : base_) {
    if (w.size() != 16) continue;
    const Result<Instruction> i = decode(w, 0, family_);
    if (!i) continue;
    const auto form = [](const Operand& op) {
      return static_cast<int>(op.kind) * 2 + static_cast<int>(op.file);
    };
    bases.try_emplace(
        {static_cast<int>(i->opcode), i->align16, form(i->dst), form(i->src[0]), form(i->src[1]),
         form(i->src[2]), i->send.desc.is_register, i->send.ex_desc.is_register},
        w);
  }
  // One for each opcode that the corpus lacks, made from an instruction of the same format.
  std::map<Format, TestWord> by_format;
  std::set<int> present;
  for (const auto& [key, w] : bases) {
    present.insert(key[0]);
    by_format.try_emplace(shape(static_cast<Opcode>(key[0]), family_).format, w);
  }
  for (std::size_t n = 0; n < opcode_count; ++n) {
    const auto opcode = static_cast<Opcode>(n);
    if (!exists_on(opcode, family_) || present.contains(static_cast<int>(n))) continue;
    const Format format = shape(opcode, family_).format;
    TestWord w = by_format.contains(format) ? by_format[format] : TestWord(16);
    set_opcode(w, opcode_table[n].number);
    bases.try_emplace({static_cast<int>(n)}, w);
  }
  std::set<TestWord> out;
  const Layout& layout = layout_of(family_);
  for (const auto& [key, base] : bases)
    for (const FieldRow& row : field_table) {
      const Bits& field = layout.*row.bits;
      if (!field.present() || row.bits == &Layout::opcode || row.bits == &Layout::cmpt_ctrl) continue;
      for (std::uint64_t value : values(field)) {
        TestWord w = base;
        set(w, field, value);
        out.insert(std::move(w));
      }
    }
  return {out.begin(), out.end()};
}

std::vector<TestWord> WordSource::next(std::size_t count) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random_() % n); };
  std::vector<TestWord> out;
  if (kind_ == Kind::Field) {
    const std::size_t n = std::min(count, pending_.size());
    out.assign(pending_.end() - static_cast<std::ptrdiff_t>(n), pending_.end());
    pending_.resize(pending_.size() - n);
    return out;
  }
  for (std::size_t n = 0; n < count; ++n) {
    TestWord w;
    if (kind_ == Kind::Flip) {
      w = base_[below(base_.size())];
      for (std::size_t flips = 1 + below(3); flips-- > 0;)
        if (const std::size_t at = below(8 * w.size()); at != compacted_bit) flip(w, at);
    } else if (kind_ == Kind::OtherOpcode) {
      w = base_[below(base_.size())];
      set_opcode(w, opcodes_[below(opcodes_.size())]);
    } else {
      w.resize(kind_ == Kind::Compacted ? 8 : 16);
      for (std::byte& b : w) b = static_cast<std::byte>(random_());
      set_opcode(w, opcodes_[below(opcodes_.size())]);
      if (bit(w, compacted_bit) != (kind_ == Kind::Compacted)) flip(w, compacted_bit);
      if (kind_ == Kind::Compacted) {
        // Keep register numbers below 128, or most words would be rejected.
        const bool ternary = bit(w, 4) && (std::to_integer<unsigned>(w[0]) & 0x70) == 0x10;
        if (!ternary)
          for (std::size_t top : {47u, 55u, 63u})
            if (bit(w, top)) flip(w, top);
      }
    }
    out.push_back(std::move(w));
  }
  return out;
}

}  // namespace eum::gen::test
