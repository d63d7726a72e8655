// Converts counts by host byte to counts by guest instruction, and those to a disassembly with shares.
#include "runtime/cli/profile/profile.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/cli/output.hpp"

namespace eum::cli {
namespace {

/// Fewer samples say little: at this number a share of one in ten is known to within a third.
constexpr std::uint64_t few_samples = 100;

std::string share(std::uint64_t part, std::uint64_t all) {
  return part == 0 ? "" : fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(all));
}

}  // namespace

std::uint64_t Profile::samples() const {
  std::uint64_t sum = beside + outside;
  for (const Instruction& instruction : instructions) sum += instruction.own + instruction.called;
  return sum;
}

Result<Profile> make_profile(const rt::KernelCode& kernel, const jit::HostMap& map,
                             const Sampler::Counts& counts) {
  Profile profile;
  profile.outside = counts.outside;
  auto texts = rt::instruction_texts(kernel);
  if (!texts) return texts.error();
  for (rt::InstructionText& one : *texts) profile.instructions.push_back({one.ip, std::move(one.text)});
  for (std::size_t i = 0; i < map.places.size(); ++i) {
    const jit::HostPlace& place = map.places[i];
    const std::size_t end = i + 1 < map.places.size() ? map.places[i + 1].offset : map.bytes;
    std::uint64_t own = 0, called = 0;
    for (std::size_t at = place.offset; at < end; ++at) {
      own += counts.own[at];
      called += counts.called[at];
    }
    const auto found = std::lower_bound(
        profile.instructions.begin(), profile.instructions.end(), place.guest_ip,
        [](const Profile::Instruction& instruction, std::uint32_t ip) { return instruction.ip < ip; });
    if (found == profile.instructions.end() || found->ip != place.guest_ip) {
      profile.beside += own + called;
      continue;
    }
    found->own += own;
    found->called += called;
  }
  return profile;
}

std::string profile_text(const Profile& profile) {
  const std::uint64_t all = profile.samples();
  const auto part = [all](std::uint64_t samples) { return samples == 0 ? "0 %" : share(samples, all); };
  std::string text =
      fmt::format("profile: {} samples, {} outside of translated code, {} in it beside instructions\n", all,
                  part(profile.outside), part(profile.beside));
  if (all < few_samples) text += "few samples: --repeat runs the kernel more often\n";
  text += "    share    calls  instruction\n";
  for (const Profile::Instruction& instruction : profile.instructions)
    text += fmt::format("{:>9}{:>9}  {:#07x}  {}\n", share(instruction.own, all),
                        share(instruction.called, all), instruction.ip, instruction.text);
  return visible_lines(text);
}

nlohmann::json profile_json(const Profile& profile) {
  nlohmann::json result = {{"samples", profile.samples()},
                           {"outside", profile.outside},
                           {"beside_instructions", profile.beside},
                           {"instructions", nlohmann::json::array()}};
  for (const Profile::Instruction& instruction : profile.instructions)
    result["instructions"].push_back({{"ip", instruction.ip},
                                      {"text", instruction.text},
                                      {"samples", instruction.own},
                                      {"samples_in_calls", instruction.called}});
  return result;
}

}  // namespace eum::cli
