// Walks a token list and checks every size before it is used.
#include "runtime/loader/patch_token_list.hpp"

#include <array>

namespace eum::rt::patch {
namespace {

constexpr std::size_t token_header_bytes = 8;

constexpr auto rows = std::to_array<Row>({
#define PATCH_TOKEN(number, name, dwords, use) {number, #name, dwords, Use::use},
#include "runtime/loader/patch_tokens.def"
#undef PATCH_TOKEN
});

constexpr const Row* find_row(std::uint32_t number) {
  for (const Row& row : rows) {
    if (row.number == number) return &row;
  }
  return nullptr;
}

}  // namespace

std::string text_of(Bytes bytes) {
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const std::size_t end = text.find('\0'); end != std::string::npos) text.resize(end);
  return text;
}

Result<std::vector<Token>> read_tokens(Bytes list, std::string_view where) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < list.size();) {
    const Bytes rest = list.subspan(at);
    if (rest.size() < token_header_bytes) {
      return error("{}: {} bytes left at byte {} of the patch list, a token has at least {}", where,
                   rest.size(), at, token_header_bytes);
    }
    Token token;
    token.number = dword(rest, 0);
    std::size_t size = dword(rest, 1);
    token.row = find_row(token.number);
    const std::size_t least = token_header_bytes + (token.row != nullptr ? token.row->dwords * 4 : 0);
    if (size < least || size > rest.size()) {
      return error("{}: patch token {} {} at byte {} has size {}, expected {} to {}", where, token.number,
                   token.row != nullptr ? token.row->name : "(unknown)", at, size, least, rest.size());
    }
    token.body = rest.subspan(token_header_bytes, size - token_header_bytes);
    if (token.number == ALLOCATE_GLOBAL_MEMORY_SURFACE_PROGRAM_BINARY_INFO ||
        token.number == ALLOCATE_CONSTANT_MEMORY_SURFACE_PROGRAM_BINARY_INFO) {
      const std::uint32_t data = token[token.row->dwords - 1];  // InlineDataSize is the last field
      if (data > rest.size() - size) {
        return error("{}: {} has {} bytes of inline data, {} are left", where, token.row->name, data,
                     rest.size() - size);
      }
      token.inline_data = rest.subspan(size, data);
      size += data;
    }
    tokens.push_back(token);
    at += size;
  }
  return tokens;
}

Result<std::vector<Entry>> read_entries(const Token& token, std::size_t fields, std::string_view where) {
  const std::uint32_t count = token[0];
  const Bytes table = token.body.subspan(4);
  std::vector<Entry> entries;
  if (count == 0) return entries;
  const std::size_t entry_bytes = table.size() / count;
  if (entry_bytes <= fields * 4) {
    return error("{}: {} has {} entries in {} bytes", where, token.row->name, count, table.size());
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const Bytes raw = table.subspan(i * entry_bytes, entry_bytes);
    entries.push_back(
        {dword(raw, 0), dword(raw, 1), fields == 3 ? dword(raw, 2) : 0, text_of(raw.subspan(fields * 4))});
  }
  return entries;
}

}  // namespace eum::rt::patch
