// The program's operator new and delete: blocks from mimalloc, and an exception if memory runs out.
// libmimalloc, which is C, has operators that end the program instead.
#ifdef EUMULATE_MIMALLOC
#include <mimalloc.h>

#include <cstddef>
#include <new>

namespace {

void* or_throw(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

/// mimalloc 2.0.9 returns misaligned blocks if size and alignment are both 256, 512 or 1024.
void* aligned(std::size_t size, std::align_val_t alignment) {
  const auto a = static_cast<std::size_t>(alignment);
  return mi_malloc_aligned(size == a ? size + 1 : size, a);
}

}  // namespace

void* operator new(std::size_t size) { return or_throw(mi_malloc(size)); }
void* operator new[](std::size_t size) { return or_throw(mi_malloc(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return or_throw(aligned(size, alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return or_throw(aligned(size, alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return mi_malloc(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return mi_malloc(size); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return aligned(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return aligned(size, alignment);
}

void operator delete(void* block) noexcept { mi_free(block); }
void operator delete[](void* block) noexcept { mi_free(block); }
void operator delete(void* block, std::size_t) noexcept { mi_free(block); }
void operator delete[](void* block, std::size_t) noexcept { mi_free(block); }
void operator delete(void* block, std::align_val_t) noexcept { mi_free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { mi_free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { mi_free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { mi_free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { mi_free(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { mi_free(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept { mi_free(block); }
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept { mi_free(block); }
#endif
