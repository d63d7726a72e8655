#pragma once
// The compiled kernels that the runtime tests load.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace binaries {

inline std::vector<std::byte> read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// tests/runtime/bin/NAME.bin
inline std::vector<std::byte> own(const std::string& name) {
  return read(std::filesystem::path(EUMULATE_SOURCE_DIR "/tests/runtime/bin") / (name + ".bin"));
}

/// tests/kernels/bin/NAME.bin
inline std::vector<std::byte> corpus(const std::string& name) {
  return read(std::filesystem::path(EUMULATE_SOURCE_DIR "/tests/kernels/bin") / (name + ".bin"));
}

/// The paths, without ".patch.bin", of the files in tests/kernels/bin and tests/runtime/bin that exist both
/// as STEM.patch.bin and as STEM.zebin.bin.
inline std::vector<std::string> pairs() {
  std::vector<std::string> stems;
  constexpr std::string_view ending = ".patch.bin";
  for (const char* folder : {"/tests/kernels/bin", "/tests/runtime/bin"}) {
    for (const auto& entry : std::filesystem::directory_iterator(std::string(EUMULATE_SOURCE_DIR) + folder)) {
      const std::string path = entry.path().string();
      if (!path.ends_with(ending)) continue;
      const std::string stem = path.substr(0, path.size() - ending.size());
      if (std::filesystem::exists(stem + ".zebin.bin")) stems.push_back(stem);
    }
  }
  return stems;
}

}  // namespace binaries
