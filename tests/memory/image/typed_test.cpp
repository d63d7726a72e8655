// Typed surface messages and media blocks: addresses, bounds, components, atomics, edges.
#include <thread>

#include "memory/address_space.hpp"
#include "tests/memory/image/image.hpp"

using namespace test_image;

namespace {

using Kind = TypedMessage::Kind;

struct Typed {
  TypedMessage message;
  std::uint32_t mask = 0xff;
  std::vector<std::uint32_t> data = std::vector<std::uint32_t>(16 * 8);

  explicit Typed(Kind kind, unsigned coordinates) {
    message.kind = kind;
    message.coordinates = static_cast<std::uint8_t>(coordinates);
  }
  Typed& at(std::initializer_list<int> values) {  // coordinates and operands
    unsigned k = 0;
    for (const int value : values) {
      for (unsigned lane = 0; lane < 8; ++lane) data[k * 8 + lane] = static_cast<std::uint32_t>(value);
      ++k;
    }
    return *this;
  }
  ImageFault run(Surface surface, AddressSpace* space = nullptr) {
    return typed_access(message, {&surface, mask, data.data(), space});
  }
};

}  // namespace

TEST_CASE("image typed: what is written is where it belongs") {
  Image image(SurfaceType::SURFTYPE_2D, "R8G8B8A8_UINT", 9, 7, 5, TileMode::YMAJOR, 2, true);
  image.state.min_array_element = 1;
  image.state.depth = 4;
  image.state.view_extent = 3;
  image.state.mip_lod = 1;
  Typed write(Kind::Write, 3);
  CHECK(!write.at({3, 2, 1, 11, 22, 33, 44}).run(image.surface()));
  CHECK(image.get(1, 3, 2, 2) == Texel{11, 22, 33, 44});
  Typed read(Kind::Read, 3);
  read.message.components = 0b1010;
  CHECK(!read.at({3, 2, 1}).run(image.surface()));
  CHECK(read.data[0] == 22);
  CHECK(read.data[8] == 44);
  const std::vector<std::byte> before = image.memory;
  for (const auto& [x, y, r] :
       {std::array{4, 0, 0}, std::array{0, 3, 0}, std::array{0, 0, 3}, std::array{-1, 0, 0}}) {
    CHECK(!write.at({x, y, r, 1, 2, 3, 4}).run(image.surface()));
    CHECK(!read.at({x, y, r}).run(image.surface()));
    CHECK(read.data[0] == 0);
    CHECK(read.data[8] == 0);
  }
  CHECK(image.memory == before);
  write.message.components = 0b0001;
  CHECK(!write.at({3, 2, 1, 99}).run(image.surface()));
  CHECK(image.get(1, 3, 2, 2) == Texel{99, 22, 33, 44});
}

TEST_CASE("image typed: every format that can be written reads back, in every kind of surface") {
  std::mt19937 random(17);
  struct Shape {
    SurfaceType type;
    std::uint32_t width, height, depth;
    bool array;
  };
  constexpr Shape shapes[] = {{SurfaceType::SURFTYPE_BUFFER, 50, 1, 1, false},
                              {SurfaceType::SURFTYPE_1D, 20, 1, 3, true},
                              {SurfaceType::SURFTYPE_2D, 20, 10, 1, false},
                              {SurfaceType::SURFTYPE_3D, 9, 8, 7, false},
                              {SurfaceType::SURFTYPE_CUBE, 8, 8, 2, true}};
  unsigned written = 0;
  for (const FormatInfo& format : formats()) {
    if (!format.writable) continue;
    for (const Shape& shape : shapes) {
      Image image(shape.type, std::string(format.name).c_str(), shape.width, shape.height, shape.depth,
                  TileMode::LINEAR, 1, shape.array);
      const auto size = level_size(image.state, 0);
      const auto any = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random()) % n; };
      const std::uint32_t x = any(size[0]), y = any(size[1]), z = any(size[2]);
      Texel t;
      for (auto& c : t) c = format.integer ? any(128) : bits(float(any(128)) / 127);
      Typed write(Kind::Write, 3);
      const int second = int(shape.type == SurfaceType::SURFTYPE_1D ? z : y);
      write.at({int(x), second, int(z), int(t[0]), int(t[1]), int(t[2]), int(t[3])});
      CAPTURE(format.name, int(shape.type));
      CHECK(!write.run(image.surface()));
      std::vector<std::byte> expected(format.bytes);
      format.encode(t, expected.data());
      CHECK(image.get(0, x, y, z) == format.decode(expected.data(), 0, 0));
      Typed read(Kind::Read, 3);
      const ImageFault fault = read.at({int(x), second, int(z)}).run(image.surface());
      CHECK((fault.kind == ImageFault::Kind::Unsupported) == !format.readable);
      if (!fault)
        CHECK(Texel{read.data[0], read.data[8], read.data[16], read.data[24]} == image.get(0, x, y, z));
      ++written;
    }
  }
  CHECK(written > 100);
}

TEST_CASE("image typed: bits of channels that a write does not give stay as they are") {
  std::mt19937 random(19);
  for (const FormatInfo& format : formats()) {
    if (!format.writable) continue;
    Image image(SurfaceType::SURFTYPE_2D, std::string(format.name).c_str(), 4, 2);
    for (unsigned components = 1; components < 16; ++components) {
      image.randomize(random);
      const std::vector<std::byte> before = image.memory;
      std::vector<std::byte> whole(format.bytes);
      Texel t;
      for (auto& c : t) c = format.integer ? random() % 128 : bits(float(random() % 128) / 127);
      format.encode(t, whole.data());
      Typed write(Kind::Write, 2);
      write.message.components = static_cast<std::uint8_t>(components);
      write.mask = 1;
      write.data[0] = 2;
      write.data[8] = 1;
      for (unsigned c = 0, k = 2; c < 4; ++c)
        if ((components >> c & 1) != 0) write.data[8 * k++] = t[c];
      CHECK(!write.run(image.surface()));
      const std::size_t at = texel_offset(image.state, 0, 2, 1, 0);
      bool good = true;
      for (unsigned bit = 0; bit < 8u * format.bytes; ++bit) {
        bool given = false, full = true;
        for (unsigned c = 0; c < 4; ++c) {
          const ChannelLayout& channel = format.channels[c];
          given |=
              (components >> c & 1) != 0 && bit >= channel.bit && bit < unsigned{channel.bit} + channel.bits;
          full &= channel.bits == 0 || (components >> c & 1) != 0;
        }
        const auto of = [&](const std::byte* bytes) {
          return std::to_integer<unsigned>(bytes[bit / 8]) >> bit % 8 & 1;
        };
        good = good && of(&image.memory[at]) == of(given || full ? whole.data() : &before[at]);
      }
      CAPTURE(format.name, components);
      CHECK(good);
    }
  }
}

TEST_CASE("image typed: atomics are atomic, and only on 32 bits") {
  Image image(SurfaceType::SURFTYPE_2D, "R32_UINT", 4, 4);
  const auto add = [&] {
    for (unsigned n = 0; n < 2000; ++n) {
      Typed m(Kind::Atomic, 3);
      m.message.atomic = AtomicOp::add;
      if (m.at({1, 2, 0, 3}).run(image.surface())) return;
    }
  };
  std::thread other(add);
  add();
  other.join();
  CHECK(image.get(0, 1, 2, 0)[0] == 2 * 2000 * 8 * 3);

  Typed m(Kind::Atomic, 2);
  m.message.atomic = AtomicOp::cmpwr;
  m.message.returns = true;
  m.mask = 1;
  CHECK(!m.at({1, 2, 2 * 2000 * 8 * 3, 7}).run(image.surface()));
  CHECK(m.data[0] == 2 * 2000 * 8 * 3);
  CHECK(m.data[1] == 0);
  CHECK(image.get(0, 1, 2, 0)[0] == 7);
  CHECK(!m.at({4, 2, 7, 9}).run(image.surface()));
  CHECK(m.data[0] == 0);

  Image bytes(SurfaceType::SURFTYPE_2D, "R8_UINT", 4, 4);
  CHECK(m.run(bytes.surface()).kind == ImageFault::Kind::Unsupported);
  m.message.atomic = AtomicOp::fmax;
  CHECK(m.run(image.surface()).kind == ImageFault::Kind::Unsupported);
  Image floats(SurfaceType::SURFTYPE_2D, "R32_FLOAT", 4, 4);
  CHECK(!m.at({1, 2, int(bits(1.5f)), 0}).run(floats.surface()));
  CHECK(floats.get(0, 1, 2, 0)[0] == bits(1.5f));
}

TEST_CASE("image typed: memory elsewhere, memory that is not there, formats that cannot be written") {
  Image image(SurfaceType::SURFTYPE_2D, "R32_UINT", 8, 8);
  AddressSpace space;
  REQUIRE(space.map(0x10000, image.memory.size(), image.memory.data(), Access::ReadWrite, "image"));
  Surface away = image.surface();
  away.base = nullptr;
  Typed write(Kind::Write, 3);
  CHECK(!write.at({5, 6, 0, 1234, 0, 0, 0}).run(away, &space));
  CHECK(image.get(0, 5, 6, 0)[0] == 1234);
  Typed add(Kind::Atomic, 3);
  add.message.atomic = AtomicOp::inc;
  CHECK(!add.at({5, 6, 0}).run(away, &space));
  CHECK(image.get(0, 5, 6, 0)[0] == 1242);
  CHECK(write.run(away).kind == ImageFault::Kind::Unmapped);
  Surface small = image.surface();
  small.size = 6 * 64 + 5 * 4 + 3;
  const ImageFault fault = write.run(small);
  CHECK(fault.kind == ImageFault::Kind::Unmapped);
  CHECK(fault.address == 0x10000 + 6 * 64 + 5 * 4);
  small.gpu_address += 2;
  small.size += 64;
  CHECK(add.run(small).kind == ImageFault::Kind::Misaligned);

  Image srgb(SurfaceType::SURFTYPE_2D, "R8G8B8A8_UNORM_SRGB", 8, 8);
  CHECK(write.run(srgb.surface()).kind == ImageFault::Kind::Unsupported);
  Surface null = image.surface();
  null.image.type = SurfaceType::SURFTYPE_NULL;
  CHECK(!write.run(null));
}

TEST_CASE("image media block: edges are replicated for reads, dropped for writes") {
  for (const TileMode tiling : {TileMode::LINEAR, TileMode::XMAJOR, TileMode::YMAJOR}) {
    std::mt19937 random(23);
    Image image(SurfaceType::SURFTYPE_2D, "R8G8B8A8_UNORM", 10, 6, 1, tiling);
    image.randomize(random);
    const auto byte = [&](int x, int y) -> std::byte& {
      return image.memory[texel_offset(image.state, 0, unsigned(x / 4), unsigned(y), 0) + unsigned(x % 4)];
    };
    for (unsigned n = 0; n < 200; ++n) {
      const int x = int(random() % 80) - 20, y = int(random() % 20) - 8;
      MediaMessage m;
      m.width = static_cast<std::uint8_t>(1 + random() % 32);
      m.height = static_cast<std::uint8_t>(1 + random() % 8);
      const unsigned pitch = media_row_bytes(m.width);
      std::vector<std::byte> data(pitch * m.height);
      const Surface surface = image.surface();
      CHECK(!media_block(m, {&surface, x, y, data.data(), nullptr}));
      bool good = true;
      for (int j = 0; j < m.height; ++j)
        for (int i = 0; i < m.width; ++i) {
          int column = x + i;
          const int row = std::min(std::max(y + j, 0), 5);
          while (column < 0) column += 4;
          while (column >= 40) column -= 4;
          good = good && data[unsigned(j) * pitch + unsigned(i)] == byte(column, row);
        }
      CHECK(good);

      std::vector<std::byte> expected = image.memory;
      for (std::byte& b : data) b = static_cast<std::byte>(random());
      m.write = true;
      Image other = image;
      const Surface to = other.surface();
      CHECK(!media_block(m, {&to, x, y, data.data(), nullptr}));
      for (int j = 0; j < m.height; ++j)
        for (int i = 0; i < m.width; ++i)
          if (x + i >= 0 && x + i < 40 && y + j >= 0 && y + j < 6)
            byte(x + i, y + j) = data[unsigned(j) * pitch + unsigned(i)];
      CHECK(image.memory == other.memory);
    }
  }
  Image image(SurfaceType::SURFTYPE_2D, "R8_UNORM", 10, 6);
  const Surface surface = image.surface();
  std::vector<std::byte> data(64 * 64);
  MediaMessage m;
  m.vertical_stride_override = 0b110;
  CHECK(media_block(m, {&surface, 0, 0, data.data(), nullptr}).kind == ImageFault::Kind::Unsupported);
  Surface field = surface;
  field.image.vertical_line_stride = true;
  m.vertical_stride_override = 0;
  CHECK(media_block(m, {&field, 0, 0, data.data(), nullptr}).kind == ImageFault::Kind::Unsupported);
  m.vertical_stride_override = 0b100;
  CHECK(!media_block(m, {&field, 0, 0, data.data(), nullptr}));
  m.width = 65;
  CHECK(media_block(m, {&surface, 0, 0, data.data(), nullptr}).kind == ImageFault::Kind::Unsupported);
}
