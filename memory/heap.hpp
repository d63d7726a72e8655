#pragma once
// Heap: blocks that are released together, for one translation or one device's guest buffers.
// It owns how such blocks are obtained (mimalloc loaded at run time, or operator new); it must not know
// what is kept in them. mimalloc is loaded with dlopen because Debian's libmimalloc interposes malloc on
// every program that links it, which a library must not do to its users.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>

namespace eum::mem {

/// Where the blocks of a heap come from.
enum class HeapBackend : std::uint8_t { Mimalloc, OperatorNew };

/// The backend that new heaps of this process use. OperatorNew in sanitizer builds and under valgrind (they
/// bring their own malloc and must see every block) and where libmimalloc.so.2 cannot be loaded.
HeapBackend heap_backend();

/// "mimalloc 2.0.9" or "operator new".
const char* heap_backend_name();

/// A set of blocks. Not synchronised: one thread at a time, like a container. Any thread may use it in turn:
/// a mimalloc heap belongs to the thread that made it, so blocks asked for by another thread come from
/// operator new, and destruction by another thread (or after the maker has ended) releases block by block
/// instead of all at once.
class Heap {
 public:
  Heap();
  ~Heap();
  Heap(Heap&& other) noexcept;
  Heap& operator=(Heap&& other) noexcept;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  /// `size` bytes at a multiple of `alignment` (a power of two, at most max_alignment), or nullptr if there
  /// is no such memory or the alignment is not valid. size 0 gives a block of its own.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment = alignof(std::max_align_t));

  /// The same, with every byte zero. Large blocks come untouched from the operating system.
  [[nodiscard]] void* allocate_zeroed(std::size_t size, std::size_t alignment = alignof(std::max_align_t));

  /// Gives one block back early; nullptr is ignored. `block` must be from this heap.
  void release(void* block) noexcept;

  /// Releases every block at once; the heap stays usable.
  void clear() noexcept;

  std::size_t block_count() const { return block_count_; }

  static constexpr std::size_t max_alignment = 4096;

 private:
  struct Block;
  void* obtain(std::size_t size, std::size_t alignment, bool zeroed);
  bool is_maker() const;
  void steal(Heap& other) noexcept;

  void* native_ = nullptr;          // mi_heap_t*, made at the first block
  std::weak_ptr<const int> maker_;  // expires with the thread that made native_
  Block* blocks_ = nullptr;         // every live block, newest first
  std::size_t block_count_ = 0;
  std::size_t foreign_count_ = 0;  // how many of them are not mimalloc's
};

/// std::pmr over a Heap, for the containers of one translation. The heap must outlive it.
/// Throws std::bad_alloc when the heap has no memory, as std::pmr demands.
class HeapResource final : public std::pmr::memory_resource {
 public:
  explicit HeapResource(Heap& heap) : heap_(&heap) {}

 private:
  void* do_allocate(std::size_t size, std::size_t alignment) override;
  void do_deallocate(void* block, std::size_t, std::size_t) override { heap_->release(block); }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  Heap* heap_;
};

}  // namespace eum::mem
