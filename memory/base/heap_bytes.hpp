#pragma once
// Heap memory that a container holds, for memory reports.
#include <cstddef>
#include <vector>

namespace eum {

template <class T>
std::size_t heap_bytes(const std::vector<T>& list) {
  return list.capacity() * sizeof(T);
}

}  // namespace eum
