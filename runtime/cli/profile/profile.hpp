#pragma once
// A sampler's counts per guest instruction of a kernel. It must not know how samples are taken.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/cli/profile/sampler.hpp"
#include "runtime/translation.hpp"

namespace eum::cli {

struct Profile {
  struct Instruction {
    std::uint32_t ip = 0;
    std::string text;
    std::uint64_t own = 0;     ///< samples in its host code
    std::uint64_t called = 0;  ///< in functions that its host code calls
  };
  std::vector<Instruction> instructions;  ///< all instructions of the kernel, in order
  std::uint64_t beside = 0;               ///< samples in translated code that belongs to no instruction
  std::uint64_t outside = 0;              ///< samples elsewhere: dispatch, and other host code

  std::uint64_t samples() const;
};

/// An error says which instruction does not decode.
Result<Profile> make_profile(const rt::KernelCode& kernel, const jit::HostMap& map,
                             const Sampler::Counts& counts);

/// Every instruction with its share of all samples.
std::string profile_text(const Profile& profile);
nlohmann::json profile_json(const Profile& profile);

}  // namespace eum::cli
