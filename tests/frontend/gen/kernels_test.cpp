// Kernels of the vendor's compiler: labels, every instruction and the description of every message are the
// same as iga64's.
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/message.hpp"
#include "tests/frontend/gen/iga64.hpp"

namespace eum::gen::test {
namespace {

struct Kernel {
  std::string name;
  Family family;
  std::vector<std::byte> code;
  std::vector<std::string> listing;  // iga64's, committed
};

std::vector<Kernel> kernels() {
  std::vector<Kernel> out;
  for (const auto& entry : std::filesystem::directory_iterator(data_path(""))) {
    if (entry.path().extension() != ".dat") continue;
    Kernel k;
    k.name = entry.path().stem().string();
    k.family = family_of_data(k.name);
    k.code = read_bytes(entry.path().string());
    k.listing = read_lines(entry.path().parent_path().string() + "/" + k.name + ".txt");
    out.push_back(std::move(k));
  }
  return out;
}

std::vector<std::string> our_listing(const Kernel& k) {
  std::vector<std::string> out(1);
  for (char c : disassemble(k.code, k.family)) {
    if (c == '\n')
      out.emplace_back();
    else
      out.back() += c;
  }
  for (std::string& line : out) line = squeeze(line);
  // iga64 ignores bytes at the end that are no whole instruction.
  std::erase_if(out, [](const std::string& line) { return line.empty() || line.starts_with("//"); });
  return out;
}

void compare(const Kernel& k, const std::vector<std::string>& theirs) {
  const std::vector<std::string> ours = our_listing(k);
  REQUIRE(ours.size() == theirs.size());
  for (std::size_t n = 0; n < ours.size(); ++n)
    if (without_comment(ours[n]) != without_comment(theirs[n])) {
      INFO(k.name << " line " << n + 1);
      CHECK(without_comment(ours[n]) == without_comment(theirs[n]));
    }
}

/// The description without what iga64 appends, the coordinates of typed messages; it omits the count of A64
/// scattered elements.
std::string message_comment(std::string comment) {
  const std::size_t lengths = comment.find("; ");
  if (lengths == std::string::npos) return {};
  comment = comment.substr(lengths + 2);
  for (std::string_view tail : {"; u,v,r,lod", "; u,v,r", "; u,v", "; u"})
    if (comment.ends_with(tail)) return comment.substr(0, comment.size() - tail.size());
  return comment;
}

std::string without_count(const std::string& text) {
  const std::size_t x = text.rfind(" x");
  return text.find("a64 dword") != std::string::npos || text.find("a64 qword") != std::string::npos
             ? text.substr(0, x)
             : text;
}

}  // namespace

TEST_CASE("kernels disassemble to the committed text of iga64") {
  const std::vector<Kernel> all = kernels();
  REQUIRE(all.size() == 32);
  for (const Kernel& k : all) compare(k, k.listing);
}

TEST_CASE("kernels disassemble to the text of the installed iga64") {
  for (const Kernel& k : kernels()) {
    const auto theirs = iga64_listing(k.code, k.family);
    if (!theirs) {
      std::puts("iga64 is not installed: compared with the committed text only");
      return;
    }
    compare(k, *theirs);
  }
}

TEST_CASE("every message of the kernels decodes, described as iga64 does") {
  std::size_t messages = 0;
  for (const Kernel& k : kernels()) {
    std::size_t offset = 0;
    for (const std::string& line : k.listing) {
      if (line.starts_with('L')) continue;
      const Result<Instruction> i = decode(k.code, offset, k.family);
      if (!i) FAIL(i.error().message);
      offset += i->length;
      const std::size_t comment = line.find("// ");
      if (!is_send(i->opcode) || comment == std::string::npos) continue;
      const Result<Message> m = decode_message(*i, k.family);
      if (!m) FAIL(m.error().message);
      ++messages;
      const std::string ours = describe(*m, k.family), theirs = message_comment(line.substr(comment + 3));
      if (without_count(ours) != theirs) CHECK(ours == theirs);
      CHECK(m->length == i->send.src0_length);
      CHECK(m->extended_length == i->send.src1_length);
      CHECK(m->response_length == i->send.response_length);
      CHECK(m->eot == i->send.eot);
    }
  }
  CHECK(messages > 400);
}

}  // namespace eum::gen::test
