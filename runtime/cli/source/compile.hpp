#pragma once
// Compiles OpenCL C source to a zebin and vISA text with the vendor's offline compiler, ocloc, and caches the
// results. It must not know what is done with them.
#include <string>
#include <utility>

#include "memory/base/result.hpp"

namespace eum::cli {

struct Source {
  std::string file;
  std::string device;   ///< in ocloc's spelling: "bxt", "pvc"
  std::string options;  ///< for the OpenCL C compiler
};

/// A folder with the compiler's output. It belongs to the cache, or is deleted with the object.
class Compiled {
 public:
  Compiled(std::string folder, bool temporary) : folder_(std::move(folder)), temporary_(temporary) {}
  Compiled(Compiled&& other) noexcept
      : folder_(std::move(other.folder_)), temporary_(std::exchange(other.temporary_, false)) {}
  Compiled& operator=(Compiled&&) = delete;
  ~Compiled();

  const std::string& folder() const { return folder_; }
  std::string binary() const;

 private:
  std::string folder_;
  bool temporary_;
};

/// Returns the entry in the cache ($XDG_CACHE_HOME/eumulate, else ~/.cache/eumulate) for this source, these
/// options, this device and this ocloc, or compiles the source. Source that includes files is compiled each
/// time. Any number of processes may do this at once. The compiler's error messages are printed.
Result<Compiled> compile(const Source& source);

}  // namespace eum::cli
