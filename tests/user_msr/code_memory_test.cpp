// What the runner reads of an instruction that extends into a page of another protection.
#include "runtime/user_msr/native/code_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

using namespace eum::rt::native;

namespace {

constexpr std::size_t page_bytes = 4096;
/// urdmsr rax, 0x10; ret
constexpr std::array<std::uint8_t, 10> user_read = {0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 0x10, 0, 0, 0, 0xc3};
constexpr std::size_t instruction_bytes = user_read.size() - 1;

/// `user_read`, of which `first` bytes are in a page that can be read and executed and the rest in another
/// one.
class Straddling {
 public:
  explicit Straddling(std::size_t first) : first_(first) {
    pages_ = static_cast<std::uint8_t*>(
        mmap(nullptr, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(pages_ != MAP_FAILED);
    std::ranges::copy(user_read, start());
    mprotect(pages_, page_bytes, PROT_READ | PROT_EXEC);
  }
  ~Straddling() { munmap(pages_, 2 * page_bytes); }
  Straddling(const Straddling&) = delete;
  Straddling& operator=(const Straddling&) = delete;

  void protect_second(int protection) { mprotect(pages_ + page_bytes, page_bytes, protection); }
  void unmap_second() { munmap(pages_ + page_bytes, page_bytes); }
  /// Number of bytes that are read, all of them right.
  std::size_t read() const {
    std::array<std::uint8_t, user_read.size()> got{};
    const std::size_t count = read_code(look_at_cpu(), reinterpret_cast<std::uint64_t>(start()), got);
    CHECK(std::equal(got.begin(), got.begin() + static_cast<long>(count), user_read.begin()));
    return count;
  }

 private:
  std::uint8_t* start() const { return pages_ + page_bytes - first_; }
  std::uint8_t* pages_;
  std::size_t first_;
};

}  // namespace

TEST_CASE("of an instruction across the end of a page, all that can be executed is read") {
  for (std::size_t first = 1; first < instruction_bytes; ++first) {
    Straddling code(first);
    INFO(first << " bytes in the first page");
    code.protect_second(PROT_READ | PROT_EXEC);
    CHECK(code.read() == user_read.size());
    code.protect_second(PROT_EXEC);
    CHECK(code.read() >= instruction_bytes);
    code.protect_second(PROT_NONE);
    CHECK(code.read() == first);
    code.unmap_second();
    CHECK(code.read() == first);
  }
}
