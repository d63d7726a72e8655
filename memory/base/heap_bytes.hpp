#pragma once
// What a container holds of the heap, for reports of memory.
#include <cstddef>
#include <vector>

namespace eum {

template <class T>
std::size_t heap_bytes(const std::vector<T>& list) {
  return list.capacity() * sizeof(T);
}

}  // namespace eum
