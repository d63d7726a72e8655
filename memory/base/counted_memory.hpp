#pragma once
// CountedMemory: memory from operator new up to a limit, for an arena that hostile input fills. It must not
// know what is stored in it.
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>

namespace eum::mem {

class CountedMemory final : public std::pmr::memory_resource {
 public:
  explicit CountedMemory(std::uint64_t most) : most_(most) {}

  /// Bytes currently held.
  std::uint64_t bytes() const { return bytes_; }
  /// The total that the last allocation refused because of the limit would have reached; 0: none was refused.
  std::uint64_t refused() const { return refused_; }

 private:
  void* do_allocate(std::size_t size, std::size_t alignment) override {
    if (size > most_ - bytes_) {
      refused_ = bytes_ + size;
      throw std::bad_alloc();
    }
    void* block = std::pmr::new_delete_resource()->allocate(size, alignment);
    bytes_ += size;
    return block;
  }
  void do_deallocate(void* block, std::size_t size, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(block, size, alignment);
    bytes_ -= size;
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  std::uint64_t most_, bytes_ = 0, refused_ = 0;
};

}  // namespace eum::mem
