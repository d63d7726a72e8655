// libpng reports errors by longjmp: no object with a destructor may exist between setjmp and the calls that
// may jump there, and everything used afterwards is in a Session.
#include "runtime/png/png.hpp"

#include <png.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "memory/base/within_host.hpp"

namespace eum::png {
namespace {

struct Session {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::array<char, 128> message{};

  // Reading.
  std::span<const std::byte> file;
  std::size_t at = 0;
  png_uint_32 width = 0, height = 0;
  int bits = 0, color = 0;

  // Writing.
  std::vector<std::byte>* out = nullptr;
  bool no_memory = false;
};

void on_error(png_structp png, png_const_charp message) {
  auto& session = *static_cast<Session*>(png_get_error_ptr(png));
  std::strncpy(session.message.data(), message, session.message.size() - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void take_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto& session = *static_cast<Session*>(png_get_io_ptr(png));
  if (count > session.file.size() - session.at) png_error(png, "the file ends too early");
  std::memcpy(to, session.file.data() + session.at, count);
  session.at += count;
}

void put_bytes(png_structp png, png_bytep from, std::size_t count) {
  auto& session = *static_cast<Session*>(png_get_io_ptr(png));
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  try {
    session.out->insert(session.out->end(), bytes, bytes + count);
  } catch (const std::bad_alloc&) {
    session.no_memory = true;
  }
  if (session.no_memory) png_error(png, "no memory");
}

void flush(png_structp) {}

/// Reads size and kind, and sets up the conversions to a Picture. False: see session.message.
bool read_header(Session& session) {
  if (setjmp(png_jmpbuf(session.png)) != 0) return false;
  png_structp png = session.png;
  png_infop info = session.info;
  png_set_user_limits(png, most_pixels, most_pixels);
  png_set_read_fn(png, &session, take_bytes);
  png_read_info(png, info);
  session.width = png_get_image_width(png, info);
  session.height = png_get_image_height(png, info);
  const int color = png_get_color_type(png, info);
  const bool transparent = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  png_set_expand(png);  // palettes, fewer than 8 bits, transparent colours
  if (color != PNG_COLOR_TYPE_GRAY || transparent) {
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xffff, PNG_FILLER_AFTER);
  }
  png_set_swap(png);  // little-endian
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  session.bits = png_get_bit_depth(png, info);
  session.color = png_get_color_type(png, info);
  return true;
}

bool read_rows(Session& session, png_bytepp rows) {
  if (setjmp(png_jmpbuf(session.png)) != 0) return false;
  png_read_image(session.png, rows);
  png_read_end(session.png, nullptr);
  return true;
}

bool write_rows(Session& session, const Picture& picture, png_bytepp rows) {
  if (setjmp(png_jmpbuf(session.png)) != 0) return false;
  constexpr std::array<int, 4> colors{PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                      PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_write_fn(session.png, &session, put_bytes, flush);
  png_set_IHDR(session.png, session.info, picture.width, picture.height, static_cast<int>(picture.bits),
               colors[picture.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(session.png, session.info);
  png_set_swap(session.png);
  png_write_image(session.png, rows);
  png_write_end(session.png, nullptr);
  return true;
}

class Reading : public Session {
 public:
  Reading() {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png != nullptr) info = png_create_info_struct(png);
  }
  ~Reading() { png_destroy_read_struct(&png, &info, nullptr); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
};

class Writing : public Session {
 public:
  Writing() {
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png != nullptr) info = png_create_info_struct(png);
  }
  ~Writing() { png_destroy_write_struct(&png, &info); }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
};

std::vector<png_bytep> rows_of(const Picture& picture, std::byte* texels) {
  std::vector<png_bytep> rows(picture.height);
  for (std::size_t y = 0; y < rows.size(); ++y)
    rows[y] = reinterpret_cast<png_bytep>(texels + y * picture.row_bytes());
  return rows;
}

/// Deflate expands a byte to at most 1032.
constexpr std::uint64_t most_expansion = 1032;

Result<Picture> read_session(Reading& session) {
  if (session.info == nullptr) return error("no memory for a PNG reader");
  const auto failed = [&] { return error("not a readable PNG file: {}", session.message.data()); };
  if (!read_header(session)) return failed();
  Picture picture;
  picture.width = session.width;
  picture.height = session.height;
  picture.channels = session.color == PNG_COLOR_TYPE_GRAY ? 1 : 4;
  picture.bits = static_cast<unsigned>(session.bits);
  const std::uint64_t bytes = std::uint64_t{picture.row_bytes()} * picture.height;
  // Expansion multiplies the image data by at most 32: a one-bit pixel becomes 4 bytes.
  if (bytes / 32 > most_expansion * session.file.size())
    return error("not a readable PNG file: {} bytes cannot hold {}x{} pixels", session.file.size(),
                 picture.width, picture.height);
  picture.texels.resize(bytes);
  std::vector<png_bytep> rows = rows_of(picture, picture.texels.data());
  if (!read_rows(session, rows.data())) return failed();
  return picture;
}

Result<std::vector<std::byte>> write_session(Writing& session, const Picture& picture) {
  if (session.info == nullptr) return error("no memory for a PNG writer");
  std::vector<std::byte> file;
  session.out = &file;
  // libpng takes non-const rows but does not write them.
  std::vector<png_bytep> rows = rows_of(picture, const_cast<std::byte*>(picture.texels.data()));
  if (!write_rows(session, picture, rows.data())) return error("PNG: {}", session.message.data());
  return file;
}

}  // namespace

Result<Picture> read(std::span<const std::byte> file) {
  constexpr std::size_t signature = 8;
  if (file.size() < signature ||
      png_sig_cmp(reinterpret_cast<png_const_bytep>(file.data()), 0, signature) != 0)
    return error("expected a PNG file, found {} bytes of something else", file.size());
  return within_host("PNG file", [&] {
    Reading session;
    session.file = file;
    return read_session(session);
  });
}

Result<std::vector<std::byte>> write(const Picture& picture) {
  if (picture.width == 0 || picture.height == 0 || picture.width > 0x7fffffff ||
      picture.height > 0x7fffffff || picture.channels < 1 || picture.channels > 4 ||
      (picture.bits != 8 && picture.bits != 16))
    return error("PNG: expected 1 to 4 channels of 8 or 16 bits, found {} of {} in {}x{} pixels",
                 picture.channels, picture.bits, picture.width, picture.height);
  if (picture.texels.size() != picture.row_bytes() * picture.height)
    return error("PNG: expected {} bytes of pixels, found {}", picture.row_bytes() * picture.height,
                 picture.texels.size());
  return within_host("PNG file", [&] {
    Writing session;
    return write_session(session, picture);
  });
}

}  // namespace eum::png
