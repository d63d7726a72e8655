// Programs as words and as text; programs made of random or damaged words.
#include "tests/frontend/eu/random/programs.hpp"

#include <fmt/format.h>

#include <sstream>

#include "tests/frontend/gen/encode.hpp"

namespace eum::test {

using namespace gen;
using gen::test::TestWord;

/// The corpus of a family, read once.
const std::vector<TestWord>& corpus_of(Family family) {
  static std::vector<std::vector<TestWord>> all(family_count);
  auto& words = all[static_cast<std::size_t>(family)];
  if (words.empty()) words = gen::test::corpus(family);
  return words;
}

std::vector<std::byte> Program::code() const {
  std::vector<std::int64_t> at{0};
  for (const Element& e : elements)
    at.push_back(at.back() + (e.word.empty() ? 16 : static_cast<std::int64_t>(e.word.size())));
  std::vector<std::byte> out;
  for (std::size_t n = 0; n < elements.size(); ++n) {
    const Element& e = elements[n];
    if (!e.word.empty()) {
      out.insert(out.end(), e.word.begin(), e.word.end());
      continue;
    }
    Instruction inst = e.inst;
    const bool behind = inst.opcode == Opcode::jmpi;
    const auto target = [&](int label) {
      if (label == Element::nowhere) return std::int32_t{0};
      const std::int64_t to = at[labels[static_cast<std::size_t>(label)]] + e.astray;
      return static_cast<std::int32_t>(inst.opcode == Opcode::calla ? to : to - at[behind ? n + 1 : n]);
    };
    const auto place = [&](int label) { return at[labels[static_cast<std::size_t>(label)]]; };
    if (e.distance != Element::nowhere) {
      const std::int64_t origin = e.origin == Element::nowhere ? 0 : place(e.origin);
      inst.src[0].immediate = static_cast<std::uint32_t>((place(e.distance) - origin + e.astray) / e.unit);
    }
    inst.jip.raw = target(e.jip);
    inst.uip.raw = target(e.uip);
    const auto word = gen::test::encode(inst, family);
    out.insert(out.end(), word.begin(), word.end());
  }
  return out;
}

Program Program::without(std::size_t index, std::size_t count) const {
  Program out = *this;
  if (fixed) {
    for (std::size_t n = index; n < index + count; ++n)
      if (Element& e = out.elements[n]; e.word.size() == 16) {
        e.word.assign(16, std::byte{0});
        e.word[0] = static_cast<std::byte>(info(Opcode::nop).number);
      }
    return out;
  }
  const auto first = out.elements.begin() + static_cast<std::ptrdiff_t>(index);
  out.elements.erase(first, first + static_cast<std::ptrdiff_t>(count));
  for (std::size_t& label : out.labels)
    label = label <= index ? label : label < index + count ? index : label - count;
  return out;
}

std::string Program::listing() const {
  const std::vector<std::byte> bytes = code();
  // Omits the nops that shrinking has put in place of other words.
  std::string out;
  std::istringstream lines(disassemble(bytes, family, true));
  for (std::string line; std::getline(lines, line);)
    if (!fixed || line.find(" nop ") == std::string::npos) out += line + "\n";
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t left = bytes.size() - at;
    const std::size_t length = left < 16 ? left : length_at(bytes, at, family);
    if (fixed && std::to_integer<unsigned>(bytes[at]) == info(Opcode::nop).number) {
      at += length;
      continue;
    }
    out += fmt::format("{:#06x}:", at);
    for (std::size_t n = 0; n < length; ++n)
      out += fmt::format("{}{:02x}", n % 4 == 0 ? " " : "", std::to_integer<unsigned>(bytes[at + n]));
    out += "\n";
    at += length;
  }
  return out;
}

Program random_words(Family family, unsigned simd, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Choice choice(seed);
  const std::vector<TestWord>& corpus = corpus_of(family);
  InstructionSource source(family, choice);
  Program out{family, simd, {}, {}, false};
  for (unsigned length = 2 + choice.below(30); length > 0; --length) {
    Element element{};
    const unsigned kind = choice.below(16);
    if (kind >= 8) {
      element.inst = source.computing();
    } else {
      element.word = corpus[choice.below(corpus.size())];
      if (kind < 4)
        for (std::byte& b : element.word) b = static_cast<std::byte>(random());
      else if (kind < 8)
        for (unsigned flips = 1 + choice.below(4); flips > 0; --flips)
          element.word[choice.below(element.word.size())] ^= static_cast<std::byte>(1u << choice.below(8));
      if (choice.one_in(20)) element.word.resize(8);
      if (choice.one_in(100)) element.word.resize(4 * (1 + choice.below(3)));
    }
    out.elements.push_back(std::move(element));
  }
  if (choice.one_in(2)) {
    Element end{};
    end.inst = MessageSource(family, choice).end();
    out.elements.push_back(end);
  }
  return out;
}

Program damaged_kernel(Family family, unsigned simd, std::uint64_t seed) {
  static std::vector<std::vector<std::vector<TestWord>>> all(family_count);
  auto& kernels = all[static_cast<std::size_t>(family)];
  if (kernels.empty()) kernels = gen::test::kernels(family);
  Choice choice(seed);
  Program out{family, simd, {}, {}, true};
  if (kernels.empty()) return random_words(family, simd, seed);
  for (const TestWord& word : kernels[choice.below(kernels.size())]) {
    Element element{};
    element.word = word;
    out.elements.push_back(std::move(element));
  }
  for (unsigned damages = choice.below(6); damages > 0; --damages) {
    TestWord& word = out.elements[choice.below(out.elements.size())].word;
    const unsigned bit = choice.below(8 * word.size());
    word[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
  }
  return out;
}

}  // namespace eum::test
