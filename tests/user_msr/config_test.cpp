// The configuration file: its meaning, and where and how errors are reported.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "runtime/user_msr/config.hpp"
#include "runtime/user_msr/msr_file.hpp"

using namespace eum;
using namespace eum::rt;

namespace {

struct Folder {
  Folder() {
    char name[] = "/tmp/eumulate_config_XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() {
    for (const std::string& file : files) unlink((path + "/" + file).c_str());
    rmdir(path.c_str());
  }
  void write(const std::string& name, const std::string& content) {
    std::ofstream(path + "/" + name, std::ios::binary) << content;
    files.push_back(name);
  }
  std::string path;
  std::vector<std::string> files;
};

std::string message(const std::string& text, const std::string& folder = "/nowhere") {
  Result<MsrConfig> config = parse_msr_config(text, "m.toml", folder);
  return config ? "no error" : config.error().message;
}

const std::string bits = "read = true\nwrite = false\n";

}  // namespace

TEST_CASE("a configuration gives registers and bitmap") {
  Folder folder;
  folder.write("energy", " 0x1F \n");
  Result<MsrConfig> config = parse_msr_config(
      "[[msr]]\naddress = 0x3fff\nname = \"LAST\"\nread = false\nwrite = true\nvalue = -1\nreserved = "
      "\"0xffff000000000000\"\n"
      "[[msr]]\naddress = 16\nread = true\nwrite = false\nsource = \"tsc\"\n"
      "[[msr]]\naddress = 0\nread = true\nwrite = true\nsource = \"file:energy\"\nwritable = false\n"
      "[[msr]]\naddress = 9\nread = false\nwrite = false\nsource = \"counter\"\n",
      "m.toml", folder.path);
  INFO((config ? "" : config.error().message));
  REQUIRE(config);
  REQUIRE(config->msrs.size() == 4);
  CHECK(config->msrs[0].address == 0);
  CHECK(config->msrs[0].source == MsrSource::File);
  CHECK(config->msrs[0].path == folder.path + "/energy");
  CHECK_FALSE(config->msrs[0].writable);
  CHECK(config->msrs[1].source == MsrSource::Counter);
  CHECK(config->msrs[1].name == "msr 0x9");
  CHECK(config->msrs[2].source == MsrSource::Tsc);
  CHECK_FALSE(config->msrs[2].writable);
  CHECK(config->msrs[3].value == ~std::uint64_t{0});
  CHECK(config->msrs[3].reserved == 0xffff000000000000);
  CHECK(config->msrs[3].name == "LAST");
  MsrBitmap expected{};
  expected[2] = 1;
  expected[0] = 1;
  expected[2048] = 1;
  expected[4095] = 0x80;
  CHECK(config->bitmap == expected);
  MsrFile file;
  REQUIRE(file.add_all(*config));
  std::uint64_t value = 0;
  CHECK(read_slot(*file.find_user(0), value));
  CHECK(value == 0x1f);
  CHECK_FALSE(write_slot(*file.find_user(0), 1));
  CHECK(file.find_user(1) == nullptr);
}

TEST_CASE("a bitmap file replaces read and write") {
  Folder folder;
  std::string bytes(4096, '\0');
  bytes[2] = 1;
  folder.write("bitmap", bytes);
  folder.write("short", bytes.substr(1));
  folder.write("long", bytes + "x");
  std::string msr = "[[msr]]\naddress = 0x10\nvalue = 3\n";
  Result<MsrConfig> config = parse_msr_config("bitmap = \"bitmap\"\n" + msr, "m.toml", folder.path);
  REQUIRE(config);
  CHECK(bitmap_allows(config->bitmap.data(), 0x10, x86::Access::Read));
  CHECK_FALSE(bitmap_allows(config->bitmap.data(), 0x10, x86::Access::Write));
  CHECK(message("bitmap = \"short\"\n" + msr, folder.path) ==
        "m.toml:1:10: expected a bitmap file of 4096 bytes, found 4095 bytes");
  CHECK(message("bitmap = \"long\"\n" + msr, folder.path)
            .find("m.toml:1:10: expected a bitmap file of 4096 bytes") == 0);
  CHECK(message("bitmap = \"none\"\n" + msr, folder.path) ==
        "m.toml:1:10: expected a bitmap file of 4096 bytes, found: " + folder.path +
            "/none: cannot be opened");
  CHECK(message("bitmap = 7\n" + msr) ==
        "m.toml:1:10: expected the path of a file of 4096 bytes for `bitmap`, found an integer");
  CHECK(message("bitmap = \"bitmap\"\n" + msr + bits, folder.path)
            .find("m.toml:2:1: expected no `read` and `write`") == 0);
}

TEST_CASE("errors say line, column, what was expected and what was found") {
  CHECK(message("") == "m.toml:1:1: expected at least one [[msr]] table, found none");
  CHECK(message("[[msr]]\naddress = \n").find("m.toml:2:") == 0);
  CHECK(message("[.\n").find("m.toml:1:2: expected TOML") == 0);
  CHECK(message("# \xc3\xa4\n[[msr]]\naddress = \xc3\xa4\n") ==
        "m.toml:3:11: expected TOML, found: Error while parsing value: could not determine value type");
  CHECK(message("[\f[msr]]\n") == "m.toml:1:2: expected no control characters, found the byte 0x0c");
  CHECK(message("[msr]\naddress = 1\n").find("m.toml:1:") == 0);
  CHECK(message("[msr]\naddress = 1\n").find("expected [[msr]] tables, found a table") != std::string::npos);
  CHECK(message("msr = [1]\n") == "m.toml:1:8: expected a [[msr]] table, found an integer");
  CHECK(message("other = 1\n") == "m.toml:1:1: expected `bitmap` or [[msr]] tables, found `other`");
  CHECK(message("[[msr]]\n" + bits + "value = 1\n") ==
        "m.toml:1:1: expected `address` in this [[msr]], found none");
  CHECK(message("[[msr]]\naddress = 0x4000\n") ==
        "m.toml:2:11: expected an MSR address from 0 to 0x3fff, found 0x4000");
  CHECK(message("[[msr]]\naddress = -1\n") ==
        "m.toml:2:11: expected an MSR address from 0 to 0x3fff, found -0x1");
  CHECK(message("[[msr]]\naddress = \"x\"\n") ==
        "m.toml:2:11: expected an integer from 0 to 0x3fff for `address`, found a string");
  CHECK(message("[[msr]]\naddress = 1\nread = 1\n") ==
        "m.toml:3:8: expected true or false for `read`, found an integer");
  CHECK(message("[[msr]]\naddress = 0x1c\nvalue = 1\n" + bits) ==
        "m.toml:2:11: expected the address of a register of the configuration's own, found 0x1c, "
        "IA32_USER_MSR_CTL");
  CHECK(message("[[msr]]\naddress = 1\nvalue = 1.5\n") ==
        "m.toml:3:9: expected a 64-bit integer, or one in a string such as \"0xffffffff00000000\", for "
        "`value`, found a float");
  for (std::string wrong : {"0x10000000000000000", "0xzz", "", "-", "-9223372036854775809", "--1", "1e3"})
    CHECK(message("[[msr]]\naddress = 1\nvalue = \"" + wrong + "\"\n") ==
          "m.toml:3:9: expected a 64-bit integer, or one in a string such as \"0xffffffff00000000\", for "
          "`value`, found \"" +
              wrong + "\"");
  CHECK(message("[[msr]]\naddress = 1\nreserved = 0xffffffffffffffff\n") ==
        "m.toml:3:30: expected TOML, found: Error while parsing hexadecimal integer: '0xffffffffffffffff' is "
        "not representable in 64 bits; a number from 2^63 on is written as a string, such as "
        "\"0xffffffffffffffff\"");
  CHECK(message("[[msr]]\naddress = 1\nvalue = -9223372036854775809\n").find("written as a string") !=
        std::string::npos);
  CHECK(message("[[msr]]\naddress = 1\nname = \"a\\nb\"\n") ==
        "m.toml:3:8: expected no control characters in `name`, found some");
  CHECK(message("[[msr]]\naddress = 1\nname = \"\\u009b\"\n") ==
        "m.toml:3:8: expected no control characters in `name`, found some");
  CHECK(message("[[msr]]\naddress = 1\nname = \"\"\n")
            .find("m.toml:3:8: expected a string that is not empty") == 0);
  CHECK(
      message("[[msr]]\naddress = 1\ncolour = 3\n") ==
      "m.toml:3:1: expected address, name, read, write, value, source, reserved or writable, found `colour`");
  CHECK(message("[[msr]]\naddress = 1\nsource = \"clock\"\n") ==
        "m.toml:3:10: expected \"counter\", \"tsc\" or \"file:PATH\" for `source`, found \"clock\"");
  CHECK(message("[[msr]]\naddress = 1\nsource = \"file:none\"\n") ==
        "m.toml:3:10: expected a readable file with a number, found: /nowhere/none: cannot be opened");
  CHECK(message("[[msr]]\naddress = 1\n" + bits) ==
        "m.toml:1:1: expected either `value` or `source` in this [[msr]], found neither");
  CHECK(message("[[msr]]\naddress = 1\nvalue = 1\nsource = \"tsc\"\n" + bits).find("found both") !=
        std::string::npos);
  CHECK(message("[[msr]]\naddress = 1\nsource = \"tsc\"\nwritable = true\n" + bits) ==
        "m.toml:1:1: expected `writable` = false for source \"tsc\", found true");
  // A missing bitmap.
  CHECK(message("[[msr]]\naddress = 1\nvalue = 1\n") ==
        "m.toml:1:1: expected `read`, a bit of the bitmap, or a `bitmap` file, found neither");
  CHECK(message("[[msr]]\naddress = 1\nvalue = 1\nwrite = true\n") ==
        "m.toml:1:1: expected `read`, a bit of the bitmap, or a `bitmap` file, found neither");
  // Overlaps.
  std::string one = "[[msr]]\naddress = 0x10\nvalue = 1\n" + bits;
  CHECK(message(one + "\n" + one) ==
        "m.toml:7:1: expected one [[msr]] for each address, found 0x10 again; first at line 1");
  CHECK(message("[[msr]]\naddress = 1\nvalue = 1\nname = \"A\"\n" + bits +
                "[[msr]]\naddress = 2\nvalue = 1\nname = \"A\"\n" + bits) ==
        "m.toml:7:1: expected one [[msr]] for each name, found \"A\" again; first at line 1");
  Folder folder;
  folder.write("text", "12 34\n");
  CHECK(message("[[msr]]\naddress = 1\nsource = \"file:text\"\n", folder.path)
            .find("expected a decimal or 0x number") != std::string::npos);
  CHECK_FALSE(load_msr_config("/no/such/file"));
  CHECK_FALSE(load_msr_config("/tmp"));
}

TEST_CASE("numbers of 64 bits are integers or strings; `write` is false where it is absent") {
  struct Row {
    const char* text;
    std::uint64_t value;
  };
  for (const Row& row : {Row{"3", 3}, Row{"-1", ~std::uint64_t{0}}, Row{"0x7fffffffffffffff", INT64_MAX},
                         Row{"\"0xffffffffffffffff\"", ~std::uint64_t{0}},
                         Row{"\"18446744073709551615\"", ~std::uint64_t{0}}, Row{"\"-1\"", ~std::uint64_t{0}},
                         Row{"\"-9223372036854775808\"", std::uint64_t{1} << 63}, Row{"\"-0\"", 0}}) {
    INFO(row.text);
    Result<MsrConfig> config = parse_msr_config(
        fmt::format("[[msr]]\naddress = 1\nread = true\nvalue = {0}\nreserved = {0}\n", row.text), "m.toml",
        "/nowhere");
    REQUIRE(config);
    CHECK(config->msrs[0].value == row.value);
    CHECK(config->msrs[0].reserved == row.value);
    CHECK(bitmap_allows(config->bitmap.data(), 1, x86::Access::Read));
    CHECK_FALSE(bitmap_allows(config->bitmap.data(), 1, x86::Access::Write));
  }
}

TEST_CASE("a configuration is UTF-8, with or without a byte order mark") {
  Folder folder;
  folder.write("w\xc3\xa4rme", "7");
  const std::string text =
      "# gr\xc3\xbc\xc3\x9f\x65\n[[msr]]\naddress = 1\nname = \"Z\xc3\xa4hler\"  # \"\xc3\xbc\" "
      "\xe2\x82\xac\nvalue = 1\n" +
      bits +
      "[[msr]]\naddress = 2\nname = 'W\xc3\xa4rme ~`^ \\u00e4'  # \xf0\x9f\x94\xa5\nsource = "
      "\"file:w\xc3\xa4rme\"\nread = true\n";
  for (const std::string mark : {"", "\xef\xbb\xbf"}) {
    Result<MsrConfig> config = parse_msr_config(mark + text, "m.toml", folder.path);
    INFO((config ? "" : config.error().message));
    REQUIRE(config);
    CHECK(config->msrs[0].name == "Z\xc3\xa4hler");
    CHECK(config->msrs[1].name == "W\xc3\xa4rme ~`^ \\u00e4");
    CHECK(config->msrs[1].path == folder.path + "/w\xc3\xa4rme");
    // Columns count characters, also after non-ASCII ones.
    CHECK(message(mark + ("[[msr]]\nname = \"\xc3\xa4\xe2\x82\xac\" x\n")).find("m.toml:2:13: ") == 0);
    CHECK(message(mark + ("# \xc3\xa4\n\n[[msr]]\n\"\xc3\xa4\xc3\xb6\" = 1\n")) ==
          "m.toml:4:1: expected address, name, read, write, value, source, reserved or writable, found "
          "`\xc3\xa4\xc3\xb6`");
    CHECK(message(mark + ("[[msr]]\naddress = 1\nsource = \"\xc3\xa4\"\n")) ==
          "m.toml:3:10: expected \"counter\", \"tsc\" or \"file:PATH\" for `source`, found \"\xc3\xa4\"");
  }
  // An escape sequence produces a character that occurs nowhere else in the text.
  Result<MsrConfig> escaped = parse_msr_config(
      "# \xc3\xa4\n[[msr]]\naddress = 1\nname = \"\\u007e41\\U00000060e4\\u00e4\"\nvalue = 1\n" + bits,
      "m.toml", "/nowhere");
  REQUIRE(escaped);
  CHECK(escaped->msrs[0].name == "~41`e4\xc3\xa4");
  // Invalid UTF-8: truncated, overlong, a surrogate, too large, a stray continuation byte.
  for (const char* wrong :
       {"\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xe2\x82", "\xff"})
    CHECK(message(std::string("\xc3\xa4 = \"") + wrong + "\"\n") ==
          fmt::format("m.toml:1:6: expected UTF-8, found the byte {:#04x}",
                      static_cast<unsigned char>(*wrong)));
  CHECK(message("# \xc3\xa4 ~`^|@$%&;?!\n").find("m.toml:1:1: expected fewer different characters") == 0);
}

TEST_CASE("numbers of files") {
  auto parse = [](std::string_view text) -> std::optional<std::uint64_t> {
    std::uint64_t value;
    if (!parse_number(text.data(), text.size(), value)) return std::nullopt;
    return value;
  };
  CHECK(parse("0") == 0);
  CHECK(parse(" 42\r\n") == 42);
  CHECK(parse("0xFFFFFFFFFFFFFFFF") == ~std::uint64_t{0});
  CHECK(parse("18446744073709551615") == ~std::uint64_t{0});
  for (std::string_view bad :
       {"", " ", "x", "0x", "-1", "1 2", "12a", "0x1g", "18446744073709551616", "0x10000000000000000"})
    CHECK_FALSE(parse(bad));
}
