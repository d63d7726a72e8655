// The header is a Python dictionary, which numpy.lib.format writes in one form: {'descr': '<f4',
// 'fortran_order': False, 'shape': (3, 4), }.
#include "runtime/cli/run/npy.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace eum::cli {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr std::size_t alignment = 64;

/// numpy's name of each Element.
constexpr std::array<std::string_view, 11> names{"|i1", "|u1", "<i2", "<u2", "<i4", "<u4",
                                                 "<i8", "<u8", "<f2", "<f4", "<f8"};

/// The text after 'key': in the dictionary.
std::optional<std::string_view> value_of(std::string_view dictionary, std::string_view key) {
  const auto at = dictionary.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = dictionary.substr(at + key.size() + 3);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return rest;
}

/// Number of elements in a shape "(3, 4)"; nothing if it is not a shape, or if there are more than 2^48.
std::optional<std::uint64_t> count_of(std::string_view shape) {
  constexpr std::uint64_t most = std::uint64_t{1} << 48;
  if (!shape.starts_with('(')) return std::nullopt;
  shape.remove_prefix(1);
  std::uint64_t count = 1;
  for (;;) {
    while (shape.starts_with(' ') || shape.starts_with(',')) shape.remove_prefix(1);
    if (shape.starts_with(')')) return count;
    std::uint64_t size = 0;
    const auto [end, failure] = std::from_chars(shape.data(), shape.data() + shape.size(), size);
    if (failure != std::errc{} || size > most || (size != 0 && count > most / size)) return std::nullopt;
    count *= size;
    shape.remove_prefix(static_cast<std::size_t>(end - shape.data()));
  }
}

}  // namespace

bool looks_like_npy(std::span<const std::byte> file) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

Result<NpyArray> read_npy(std::span<const std::byte> file) {
  if (!looks_like_npy(file)) return error("expected a .npy file, found another");
  if (file.size() < 12) return error("expected the header of a .npy file, found {} bytes", file.size());
  const auto version = std::to_integer<unsigned>(file[6]);
  if (version < 1 || version > 3) return error("expected version 1 to 3 of .npy, found {}", version);
  std::uint32_t length = 0;
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::memcpy(&length, file.data() + 8, length_bytes);
  const std::size_t begin = 8 + length_bytes;
  if (length > file.size() - begin)
    return error("expected a .npy header of {} bytes, found {}", length, file.size() - begin);
  const std::string_view header(reinterpret_cast<const char*>(file.data()) + begin, length);

  NpyArray array;
  array.offset = begin + length;
  const auto descr = value_of(header, "descr"), order = value_of(header, "fortran_order"),
             shape = value_of(header, "shape");
  if (!descr || !order || !shape)
    return error("expected descr, fortran_order and shape in the .npy header, found '{}'", header);
  const std::string_view type = descr->substr(0, descr->find(','));
  const std::string_view plain = type.size() > 2 ? type.substr(1, type.size() - 2) : type;
  std::size_t index = 0;
  while (index < names.size() && names[index] != plain) ++index;
  if (index == names.size())
    return error("expected .npy numbers of {} in this machine's byte order, found {}", element_names(), type);
  array.element = static_cast<Element>(index);
  const auto count = count_of(*shape);
  if (!count) return error("expected a .npy shape, found '{}'", *shape);
  if (!order->starts_with("False")) return error("expected a .npy array in C order, found one in Fortran's");
  const std::size_t bytes = file.size() - array.offset;
  if (*count != bytes / info(array.element).bytes || bytes % info(array.element).bytes != 0)
    return error("expected {} .npy numbers of {} bytes, found {} bytes", *count, info(array.element).bytes,
                 bytes);
  return array;
}

std::string npy_header(Element element, std::size_t count) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}",
                                 names[static_cast<std::size_t>(element)], count);
  const std::size_t prefix = magic.size() + 4;
  text.append(alignment - (prefix + text.size() + 1) % alignment, ' ');
  text += '\n';
  std::string header(magic);
  header += {1, 0, static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace eum::cli
