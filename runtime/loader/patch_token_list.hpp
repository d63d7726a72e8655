#pragma once
// A list of patch tokens, each checked against its row in patch_tokens.def. It must not know what tokens
// mean.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/base/result.hpp"

namespace eum::rt::patch {

using Bytes = std::span<const std::byte>;

enum class Use : std::uint8_t { Read, Ignore, Reject };
enum Number : std::uint32_t {
#define PATCH_TOKEN(number, name, dwords, use) name = number,
#include "runtime/loader/patch_tokens.def"
#undef PATCH_TOKEN
};
struct Row {
  std::uint32_t number;
  std::string_view name;
  std::uint32_t dwords;
  Use use;
};

/// Dword `index` of `bytes`, which must be large enough.
inline std::uint32_t dword(Bytes bytes, std::size_t index) {
  std::uint32_t value;
  std::memcpy(&value, bytes.data() + index * 4, 4);
  return value;
}

/// Characters up to the first NUL.
std::string text_of(Bytes bytes);

struct Token {
  std::uint32_t number = 0;
  const Row* row = nullptr;  // nullptr: not in the table
  Bytes body;                // after Token and Size; at least row->dwords dwords
  Bytes inline_data;         // data after the token, for tokens 41 and 42

  std::uint32_t operator[](std::size_t index) const { return dword(body, index); }
};

/// Error messages begin with `where`.
Result<std::vector<Token>> read_tokens(Bytes list, std::string_view where);

/// A row of PROGRAM_SYMBOL_TABLE (type, offset, size, name) or PROGRAM_RELOCATION_TABLE (type, offset, name).
struct Entry {
  std::uint32_t type = 0;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::string name;
};

/// `fields`: dwords before the name, which fills the rest of an entry (1024 bytes in ocloc 22.43).
Result<std::vector<Entry>> read_entries(const Token& token, std::size_t fields, std::string_view where);

}  // namespace eum::rt::patch
