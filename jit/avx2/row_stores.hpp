#pragma once
// Elements that the lanes of a loop's stores put into rows of their own (jit/analysis/row_stores.hpp) are
// collected in the frame, and a cache line of each row is stored at once. Rows whose lanes do not fall on the
// same lines of a cache are stored element by element, as that takes less code.
//
// An iteration that enters the loop stores and notes its addresses; at its end C++ code decides whether the
// next ones collect. They do as long as the addresses go on by an element. What has been collected is stored
// where the loop is left, at the latest: to other blocks, by a pause or by a fault.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "jit/analysis/row_stores.hpp"
#include "jit/avx2/frame.hpp"

namespace eum::jit::avx2 {

struct CodeData;

/// What the code and the functions that it calls know of a loop.
struct RowStoreCode {
  struct Window {
    std::uint8_t surface = 0;
    std::uint32_t offset = 0;
  };
  int frame = 0;                ///< offset of its RowStoreState
  std::vector<Window> windows;  ///< each of eight lanes of a store
  std::vector<std::uint8_t> surfaces;
  std::uint32_t all() const { return (1u << windows.size()) - 1; }
};

/// In the frame, followed by a RowStoreWindow for each eight lanes.
struct alignas(32) RowStoreState {
  /// Undecided: addresses are being noted. 0: as code initialises it.
  enum Mode : std::uint32_t { Undecided, Apart, Collecting };
  std::uint32_t mode;
  std::uint32_t at;       ///< bytes of each row that have been collected, but for this iteration
  std::uint32_t done;     ///< bit w: in this iteration, window w has noted or collected
  std::uint32_t untried;  ///< how many more times the loop will be Apart, without a decision
  std::uint32_t begin;    ///< columns before it are none of the loop's
  std::uint32_t unused[3];
};
struct alignas(32) RowStoreWindow {
  static constexpr std::uint32_t columns = 16, lanes = 8, row_bytes = columns * RowStores::element_bytes;
  std::array<std::uint32_t, lanes> firsts;  ///< addresses of what is collected, by lane
  std::array<std::array<std::uint32_t, lanes>, columns> elements;
};
static_assert(sizeof(RowStoreState) == 32 && sizeof(RowStoreWindow) == 544);

/// Eight or sixteen lanes of a store, from a multiple of eight on.
class RowStoreSite {
 public:
  RowStoreSite(std::uint32_t loop, int frame, unsigned window) : loop(loop), frame_(frame), window_(window) {}

  std::uint32_t loop;  ///< of CodeData::row_stores

  x86::Mem mode() const { return field(offsetof(RowStoreState, mode)); }
  x86::Mem at() const { return field(offsetof(RowStoreState, at)); }
  x86::Mem done() const { return field(offsetof(RowStoreState, done)); }
  x86::Mem untried() const { return field(offsetof(RowStoreState, untried)); }
  std::uint32_t bits(unsigned rows) const { return ((1u << rows) - 1) << window_; }
  x86::Mem firsts(unsigned row) const { return x86::ptr(x86::rsp, of(row), 32); }
  /// Where the elements at byte `at` of their rows are collected.
  x86::Mem elements(unsigned row, x86::Gp at) const {
    constexpr unsigned column = sizeof(RowStoreWindow::elements) / RowStoreWindow::columns;
    static_assert(column == RowStores::element_bytes << 3);
    return x86::ptr(x86::rsp, at, 3, of(row) + static_cast<int>(offsetof(RowStoreWindow, elements)), 32);
  }

 private:
  x86::Mem field(std::size_t offset) const {
    return x86::ptr(x86::rsp, frame_ + static_cast<int>(offset), 4);
  }
  int of(unsigned row) const {
    return frame_ + static_cast<int>(sizeof(RowStoreState) + (window_ + row) * sizeof(RowStoreWindow));
  }
  int frame_;
  unsigned window_;
};

enum class RowStoreEvent : std::uint32_t {
  Decide,   ///< the first iteration ends
  Full,     ///< an iteration ends with a line of each row
  Abandon,  ///< addresses go on elsewhere
  Leave     ///< the loop is left
};
constexpr std::uint32_t row_store_events = 4;

/// void (const ThreadState*, const CodeData*, std::byte* frame, std::uint32_t event): an event of the loop
/// event / row_store_events of CodeData::row_stores.
const void* row_store_function();

/// Bytes of the frame, a multiple of 32.
int bytes_of_row_stores(const RowStores& stores);

}  // namespace eum::jit::avx2
