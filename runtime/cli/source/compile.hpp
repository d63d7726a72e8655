#pragma once
// OpenCL C source into a zebin and vISA text by the vendor's offline compiler, ocloc, and the cache of what
// it made. It must not know what is done with them.
#include <string>
#include <utility>

#include "memory/base/result.hpp"

namespace eum::cli {

struct Source {
  std::string file;
  std::string device;   ///< as ocloc spells it: "bxt", "pvc"
  std::string options;  ///< of the OpenCL C compiler
};

/// A folder with what the compiler made. It is the cache's, or goes with the object.
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

/// What is in the cache ($XDG_CACHE_HOME/eumulate, else ~/.cache/eumulate) for this source, these options,
/// this device and this ocloc, or what ocloc makes of it. Source that includes files is compiled each time.
/// Any number of processes may do so at once. What the compiler says of an error is printed.
Result<Compiled> compile(const Source& source);

}  // namespace eum::cli
