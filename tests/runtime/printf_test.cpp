// What kernels print: records of compiled code formatted as by the host's printf, and records that no
// compiler writes.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>

#include "binaries.hpp"
#include "runtime/launch.hpp"
#include "runtime/loader/loader.hpp"
#include "runtime/printf/conversion.hpp"
#include "runtime/printf/printf_buffer.hpp"

using namespace eum;
using namespace eum::rt;
using Catch::Contains;

namespace {

template <class... T>
std::string by_host(const char* format, T... values) {
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), ' ');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
}

/// The elements formatted by `format`, separated by commas.
template <class T>
std::string elements(const char* format, const std::vector<T>& values) {
  std::string text;
  for (const T value : values) text += (text.empty() ? "" : ",") + by_host(format, value);
  return text;
}

/// A program in each container on each engine; one worker, so that output is in the order of the threads.
struct Printing {
  std::string container;
  std::unique_ptr<Device> device;
  std::unique_ptr<Module> module;

  Printing(const std::string& container_, jit::EngineKind kind) : container(container_) {
    auto program = load_program(binaries::own("printing." + container));
    REQUIRE(program);
    device = std::move(*Device::create({.engine = kind, .workers = 1}));
    module = std::move(*Module::create(*device, std::move(*program)));
  }
  Launch prepare(const char* kernel, const std::vector<ArgumentValue>& arguments, std::uint32_t items) {
    const auto found = module->find(kernel);
    REQUIRE(found);
    NdRange range;
    range.global = {items, 1, 1};
    auto launch = Launch::prepare(*module, **found, arguments, range);
    if (!launch) FAIL(launch.error().message);
    return std::move(*launch);
  }
  PrintfText print(const char* kernel, const std::vector<ArgumentValue>& arguments, std::uint32_t items = 1) {
    const auto report = prepare(kernel, arguments, items).run();
    REQUIRE(report);
    CHECK_FALSE(report->fault);
    return report->printf;
  }
};

template <class Test>
void each(Test test) {
  for (const char* container : {"patch", "zebin"})
    for (const jit::EngineKind kind : {jit::EngineKind::avx2, jit::EngineKind::reference}) {
      CAPTURE(container, jit::info(kind).name);
      Printing printing(container, kind);
      test(printing);
    }
}

/// A printf buffer written by hand.
struct Records {
  std::vector<std::byte> bytes = std::vector<std::byte>(256);
  std::vector<std::string> strings{"a %d\n", "%s|", "%v4d|", "%d %d\n"};
  std::uint32_t end = 4;

  Records() { clear_printf_buffer(bytes, true); }
  Records& operator<<(std::uint32_t dword) {
    std::memcpy(bytes.data() + end, &dword, 4);
    end += 4;
    count(end);
    return *this;
  }
  void count(std::uint32_t taken) { std::memcpy(bytes.data(), &taken, 4); }
  PrintfText read() const { return read_printf_buffer(bytes, {&strings, nullptr, 8}); }
};
constexpr std::uint32_t no_dword = 0xfefefefe;

}  // namespace

TEST_CASE("numbers, characters and strings are printed as C prints them") {
  each([](Printing& p) {
    const int i = -1234567;
    const unsigned u = 3000000000;
    const long long l = -5000000000;
    const float f = 1234.5678f;
    const double d = -0.1;
    const PrintfText printed = p.print("scalars", {by_value(i), by_value(u), by_value(l), by_value(f),
                                                   by_value(d), by_value(std::uint16_t{0x3e00})});
    CHECK(printed.incomplete == "");
    CHECK(printed.text ==
          by_host("%d|%5d|%-5d|%05d|%+d|% d\n", i, i, i, i, i, i) +
              by_host("%u|%x|%X|%#x|%o|%#o|%.4x\n", u, u, u, u, u, u, u) +
              by_host("%lld|%llx|%llu\n", l, l, l) + by_host("%hhd|%hhu|%hd|%hu|%hx\n", i, i, i, i, i) +
              by_host("%f|%.2f|%10.3f|%-10.1f|%e|%G|%a\n", f, f, f, f, f, f, f) +
              by_host("%f|%.3e|%g|%A\n", d, d, d, d) + by_host("%f|%c|%%|%5c|%-3c|\n", 1.5, 'x', 'y', 'z') +
              by_host("%s|%8s|%-8s|%.2s\n", "text", "text", "text", "text") +
              by_host("tab\t\"quoted\" back\\slash %d%%\n", i));
  });
}

TEST_CASE("vectors are printed with commas, each element as its length says") {
  each([](Printing& p) {
    const std::vector<float> f{1.5f, -2, 1e10f, 0.25f};
    const std::vector<int> i{1, -2, 300, -40000};
    const std::vector<long long> l{-1, 1LL << 40};
    const std::vector<double> d{0.1, -1e300};
    const std::vector<short> s{1, -1, 2, -2, 3, -3, 32767, -32768};
    std::vector<unsigned char> c;
    for (int n = 0; n < 16; ++n) c.push_back(static_cast<unsigned char>(n * 17));
    const auto bytes = [](const auto& values) {
      const auto span = std::as_bytes(std::span(values));
      return ArgumentValue(std::vector<std::byte>(span.begin(), span.end()));
    };
    const PrintfText printed =
        p.print("vectors", {bytes(f), bytes(i), bytes(l), bytes(d), bytes(s), bytes(c)});
    CHECK(printed.incomplete == "");
    CHECK(printed.text == elements("%f", f) + "|" + elements("%.1f", f) + "|" + elements("%f", f) + "|" +
                              elements("%g", f) + "\n" + elements("%d", i) + "|" + elements("%d", i) + "|" +
                              elements("%x", i) + "|" + elements("%5d", i) + "|" + elements("%-3i", i) +
                              "|\n" + elements("%lld", l) + "|" + elements("%llx", l) + "\n" +
                              elements("%f", d) + "|" + elements("%e", d) + "\n" + elements("%hd", s) + "|" +
                              elements("%hx", s) + "\n" + elements("%hhd", c) + "|" + elements("%hhu", c) +
                              "|" + elements("%#hhx", c) + "\n1,-2,300 0,11\n");
  });
}

TEST_CASE("%s of a string that the kernel chose, %p of a buffer") {
  each([](Printing& p) {
    const auto buffer = p.device->allocate(4, "p");
    REQUIRE(buffer);
    const std::string address = by_host("%p ", reinterpret_cast<void*>(buffer->address));
    CHECK(p.print("pointers", {BufferValue{buffer->surface()}}).text == address + "no\n");
    buffer->host[0] = std::byte{1};
    CHECK(p.print("pointers", {BufferValue{buffer->surface()}}).text == address + "yes\n");
  });
}

TEST_CASE("arguments for which a format has no conversion are ignored") {
  // In patch tokens formats are numbered, as types are: with six or more formats a number could mean either.
  Printing p("zebin", jit::EngineKind::avx2);
  const auto buffer = p.device->allocate(4, "p");
  REQUIRE(buffer);
  CHECK(p.print("surplus", {BufferValue{buffer->surface()}}).text == "surplus 0\nend\n");

  Records records;
  records << 0 << 3 << 5 << 9 << 2 << 0x0201 << 0 << 0 << 3 << 6;
  CHECK(records.read().text == "a 5\na 6\n");
}

TEST_CASE("a launch prints in the order of its threads, each run anew") {
  each([](Printing& p) {
    Launch launch = p.prepare("many", {by_value(2)}, 64);
    for (int run = 0; run < 2; ++run) {
      const auto report = launch.run();
      REQUIRE(report);
      std::string expected;
      for (int thread = 0; thread < 2; ++thread)
        for (int time = 0; time < 2; ++time)
          for (int item = 0; item < 32; ++item)
            expected += by_host("%d %d,%d,%d,%d\n", 32 * thread + item, time, time, time, time);
      CHECK(report->printf.text == expected);
      CHECK(report->printf.incomplete == "");
    }
  });
}

TEST_CASE("a full printf buffer is said, with how much is lost") {
  for (const char* container : {"patch", "zebin"}) {
    Printing p(container, jit::EngineKind::avx2);
    const PrintfText printed = p.print("many", {by_value(128)}, 1024);
    const std::uint32_t record = 4 + 8 + 4 + 4 + 16 + (p.container == "zebin" ? 4 : 0);
    const std::uint32_t fit = (printf_buffer_bytes - 4) / record;
    CHECK(static_cast<std::uint32_t>(std::count(printed.text.begin(), printed.text.end(), '\n')) == fit);
    CHECK_THAT(printed.text, Catch::StartsWith("0 0,0,0,0\n1 0,0,0,0\n"));
    CHECK(printed.incomplete == by_host("the buffer of 4194304 bytes is full, %u more bytes did not fit",
                                        (128 * 1024 - fit) * record));
  }
}

TEST_CASE("what was printed before a fault is in the report") {
  each([](Printing& p) {
    const auto report = p.prepare("faulty", {by_value(std::int64_t{1} << 40)}, 64).run();
    REQUIRE(report);
    CHECK(report->fault);
    CHECK_THAT(report->printf.text, Catch::StartsWith("item 0\n") && Catch::EndsWith("item 31\n"));
  });
}

TEST_CASE("records that no compiler writes end the text with a reason") {
  const auto incomplete = [](const Records& records) { return records.read().incomplete; };
  CHECK(incomplete(Records() << 77) == "byte 4 of the buffer: expected the number of a string, found 0x4d");
  CHECK(incomplete(Records() << 0 << 15 << 0) ==
        "byte 8 of the buffer: expected the type of an argument, found 0xf");
  CHECK(incomplete(Records() << 0 << 0) ==
        "byte 8 of the buffer: expected the type of an argument, found 0x0");
  CHECK(incomplete(Records() << 0) == "byte 8 of the buffer: expected an argument, found 0x0");
  CHECK(incomplete(Records() << 2 << 11 << 17) == "byte 16 of the buffer: expected a vector, found 0x11");
  CHECK(incomplete(Records() << 2 << 11 << 4 << 0) == "byte 16 of the buffer: expected a vector, found 0x4");
  CHECK(incomplete(Records() << 1 << 5 << 9) ==
        "byte 12 of the buffer: expected the number of a string, found 0x9");
  for (const std::uint32_t taken : {0u, 3u}) {  // less than the size of the counter itself
    Records records;
    records << 0 << 3 << 1;
    records.count(taken);
    CHECK(records.read().text == "");
    CHECK(records.read().incomplete == "");
  }
  // An argument of %s that points to no memory is printed as a pointer.
  CHECK((Records() << 1 << 7 << 0x10 << 0).read().text == "0x10|");
  // The first record was reserved but never written, the third written only in part.
  const PrintfText partial = (Records() << no_dword << no_dword << no_dword << 0 << 3 << 1 << 3 << 3 << 7
                                        << no_dword << no_dword << 0 << 3 << 2)
                                 .read();
  CHECK(partial.text == "a 1\na 2\n");
  CHECK(partial.incomplete == "32 bytes are of calls that did not come to their end");
}

TEST_CASE("forms of conversions") {
  const auto text = [](std::string_view format, const PrintfValue& value) {
    const Conversion conversion = parse_conversion(format);
    CHECK(conversion.characters == format.size());
    std::string result;
    append(result, conversion, value);
    return result;
  };
  using Kind = PrintfValue::Kind;
  const auto integer = [](std::int64_t value, unsigned bytes) {
    const auto bits = static_cast<std::uint64_t>(value) & (~std::uint64_t{0} >> (64 - 8 * bytes));
    return PrintfValue{Kind::Integer, bytes, {bits}, ""};
  };
  CHECK(text("%lu", integer(-1, 4)) == "4294967295");
  CHECK(text("%d", integer(5000000000, 8)) == "705032704");
  CHECK(text("%zu", integer(-1, 8)) == "18446744073709551615");
  CHECK(text("%lld", integer(-7, 8)) == "-7");
  CHECK(text("%f", integer(3, 4)) == "3.000000");
  CHECK(text("%s", integer(3, 4)) == "3");
  CHECK(text("%d", {Kind::Float, 4, {0x40200000}, ""}) == "2");
  CHECK(text("%d", {Kind::Float, 4, {0x7fc00000}, ""}) == "0");
  CHECK(text("%f", {Kind::Float, 8, {0x7ff0000000000000}, ""}) == "inf");
  CHECK(text("%99999999999d", integer(1, 4)).size() == most_width);
  CHECK(text("%.99999999999f", {Kind::Float, 8, {0x7fefffffffffffff}, ""}).size() == 309 + 1 + most_width);
  CHECK(parse_conversion("%").specifier == 0);
  CHECK(parse_conversion("%y").characters == 1);
  CHECK(parse_conversion("%*.*d").extra_arguments == 2);
}
