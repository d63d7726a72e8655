// Heap over mimalloc's first-class heaps, loaded at run time, or over aligned operator new.
// Each block carries a header just below its payload, which links the blocks of a heap: that is what allows
// release from another thread, where mi_heap_destroy must not be called.
#include "memory/heap.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <mimalloc.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>

namespace eum::mem {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer);
#else
constexpr bool sanitized = false;
#endif

// Valgrind replaces `free` wherever it finds one, and in libmimalloc that is the same code as mi_free.
bool under_valgrind() {
  const char* preload = std::getenv("LD_PRELOAD");
  return preload != nullptr && std::strstr(preload, "vgpreload_") != nullptr;
}

struct Mimalloc {
  decltype(&mi_heap_new) heap_new = nullptr;
  decltype(&mi_heap_destroy) heap_destroy = nullptr;
  decltype(&mi_heap_malloc) heap_malloc = nullptr;
  decltype(&mi_heap_zalloc) heap_zalloc = nullptr;
  decltype(&mi_free) free = nullptr;
  std::string name = "operator new";
  bool loaded = false;
};

template <class Function>
bool bind(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Mimalloc load_mimalloc() {
  Mimalloc m;
  if (sanitized || under_valgrind()) return m;
  // RTLD_LOCAL keeps its malloc out of symbol resolution. It is never closed: its blocks may outlive any
  // heap.
  void* library = dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return m;
  decltype(&mi_version) version = nullptr;
  m.loaded = bind(library, "mi_heap_new", m.heap_new) && bind(library, "mi_heap_destroy", m.heap_destroy) &&
             bind(library, "mi_heap_malloc", m.heap_malloc) &&
             bind(library, "mi_heap_zalloc", m.heap_zalloc) && bind(library, "mi_free", m.free) &&
             bind(library, "mi_version", version);
  if (m.loaded) {
    const int v = version();
    m.name = fmt::format("mimalloc {}.{}.{}", v / 100, v / 10 % 10, v % 10);
  }
  return m;
}

const Mimalloc& mimalloc() {
  static const Mimalloc functions = load_mimalloc();
  return functions;
}

// A token that lives exactly as long as the calling thread: ids of ended threads are reused, this is not.
const std::shared_ptr<const int>& this_thread_token() {
  thread_local const std::shared_ptr<const int> token = std::make_shared<const int>(0);
  return token;
}

}  // namespace

struct Heap::Block {
  Block* previous;
  Block* next;
  void* start;            // what the backend returned
  std::size_t alignment;  // for operator delete
  bool from_mimalloc;

  // Where the payload goes in a block that begins at start.
  static std::byte* payload(void* start, std::size_t alignment) {
    const auto first = reinterpret_cast<std::uintptr_t>(start) + sizeof(Block);
    const std::uintptr_t skip = (alignment - first % alignment) % alignment;
    return static_cast<std::byte*>(start) + sizeof(Block) + skip;
  }
  static Block* of(void* payload) { return reinterpret_cast<Block*>(payload) - 1; }

  void give_back() {
    if (from_mimalloc) {
      mimalloc().free(start);
    } else {
      ::operator delete (start, std::align_val_t{alignment});
    }
  }
};

HeapBackend heap_backend() { return mimalloc().loaded ? HeapBackend::Mimalloc : HeapBackend::OperatorNew; }

const char* heap_backend_name() { return mimalloc().name.c_str(); }

// The token is made before the heap, so that it outlives even a heap that is itself thread_local.
Heap::Heap() { this_thread_token(); }
Heap::~Heap() { clear(); }
Heap::Heap(Heap&& other) noexcept { steal(other); }

Heap& Heap::operator=(Heap&& other) noexcept {
  if (this != &other) {
    clear();
    steal(other);
  }
  return *this;
}

void Heap::steal(Heap& other) noexcept {
  native_ = std::exchange(other.native_, nullptr);
  maker_ = std::exchange(other.maker_, {});
  blocks_ = std::exchange(other.blocks_, nullptr);
  block_count_ = std::exchange(other.block_count_, 0);
  foreign_count_ = std::exchange(other.foreign_count_, 0);
}

bool Heap::is_maker() const {
  const std::shared_ptr<const int> maker = maker_.lock();
  return maker != nullptr && maker == this_thread_token();
}

void* Heap::obtain(std::size_t size, std::size_t alignment, bool zeroed) {
  if (!std::has_single_bit(alignment) || alignment > max_alignment) return nullptr;
  alignment = std::max(alignment, alignof(std::max_align_t));
  const std::size_t room = sizeof(Block) + alignment;  // header, and the way to the next aligned address
  if (size > std::numeric_limits<std::ptrdiff_t>::max() - room) return nullptr;

  const Mimalloc& m = mimalloc();
  if (m.loaded && native_ == nullptr && blocks_ == nullptr) {
    native_ = m.heap_new();
    if (native_ != nullptr) maker_ = this_thread_token();
  }
  const bool from_mimalloc = is_maker();
  void* start = nullptr;
  if (from_mimalloc) {
    // Not mi_heap_malloc_aligned: 2.0.9 returns misaligned blocks where the size is 256, 512 or 1024 and
    // equal to the alignment.
    auto* heap = static_cast<mi_heap_t*>(native_);
    start = zeroed ? m.heap_zalloc(heap, room + size) : m.heap_malloc(heap, room + size);
  } else {
    // The payload ends with the block, so that AddressSanitizer sees the first byte beyond it.
    const std::size_t lead = (sizeof(Block) + alignment - 1) / alignment * alignment;
    start = ::operator new (lead + size, std::align_val_t{alignment}, std::nothrow);
    if (start != nullptr && zeroed) std::memset(start, 0, lead + size);
  }
  if (start == nullptr) return nullptr;

  std::byte* payload = Block::payload(start, alignment);
  Block* block = new (Block::of(payload)) Block{nullptr, blocks_, start, alignment, from_mimalloc};
  if (blocks_ != nullptr) blocks_->previous = block;
  blocks_ = block;
  ++block_count_;
  if (!from_mimalloc) ++foreign_count_;
  return payload;
}

void* Heap::allocate(std::size_t size, std::size_t alignment) { return obtain(size, alignment, false); }

void* Heap::allocate_zeroed(std::size_t size, std::size_t alignment) { return obtain(size, alignment, true); }

void Heap::release(void* payload) noexcept {
  if (payload == nullptr) return;
  Block* block = Block::of(payload);
  (block->previous != nullptr ? block->previous->next : blocks_) = block->next;
  if (block->next != nullptr) block->next->previous = block->previous;
  --block_count_;
  if (!block->from_mimalloc) --foreign_count_;
  block->give_back();
}

void Heap::clear() noexcept {
  // On the maker's thread mimalloc drops its blocks with the heap; elsewhere each block goes back by itself,
  // and mimalloc takes the emptied heap back when its thread ends.
  const bool at_once = is_maker();
  for (Block* block = at_once && foreign_count_ == 0 ? nullptr : blocks_; block != nullptr;) {
    Block* next = block->next;
    if (!(at_once && block->from_mimalloc)) block->give_back();
    block = next;
  }
  if (at_once) mimalloc().heap_destroy(static_cast<mi_heap_t*>(native_));
  native_ = nullptr;
  maker_.reset();
  blocks_ = nullptr;
  block_count_ = 0;
  foreign_count_ = 0;
}

void* HeapResource::do_allocate(std::size_t size, std::size_t alignment) {
  void* block = heap_->allocate(size, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace eum::mem
