// Completes environments.
#include "runtime/user_msr/native/child_environment.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "runtime/user_msr/native/variables.hpp"

namespace eum::rt::native {
namespace {

constexpr char preload_name[] = "LD_PRELOAD=";

/// "NAME=value" of this process's variable, or an empty string.
std::string assignment(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::string(name) + "=" + value : "";
}

/// The entry that begins with `start`, or null.
const char* find(char* const* environment, std::string_view start) {
  for (; environment && *environment; ++environment)
    if (std::string_view(*environment).starts_with(start)) return *environment;
  return nullptr;
}

/// Whether the list in LD_PRELOAD contains the library.
bool has_library(std::string_view list, std::string_view library) {
  for (std::size_t at = 0; (at = list.find(library, at)) != std::string_view::npos; ++at) {
    std::size_t end = at + library.size();
    bool begins = at == 0 || list[at - 1] == ':' || list[at - 1] == ' ';
    if (begins && (end == list.size() || list[end] == ':' || list[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

void ChildEnvironment::remember() {
  const char* library = std::getenv(library_variable);
  if (!library || !std::getenv(config_variable)) return;
  library_ = library;
  config_ = assignment(config_variable);
  config_name_ = std::string(config_variable) + "=";
  others_ = {assignment(library_variable), assignment(trace_variable), assignment(patch_variable),
             assignment(cpuid_variable)};
}

std::size_t ChildEnvironment::count(char* const* environment) {
  std::size_t count = 0;
  while (environment && environment[count]) ++count;
  return count;
}

std::size_t ChildEnvironment::text_bytes(char* const* environment) const {
  const char* before = find(environment, preload_name);
  return sizeof preload_name + library_.size() + 1 + (before ? std::strlen(before) : 0);
}

char* const* ChildEnvironment::build(char* const* environment, char** to, char* text) const {
  const char* preload = find(environment, preload_name);
  const char* list = preload ? preload + sizeof preload_name - 1 : "";
  bool has_config = find(environment, config_name_) != nullptr;
  if (has_config && has_library(list, library_)) return environment;

  char** end = to;
  for (; environment && *environment; ++environment)
    if (*environment != preload) *end++ = *environment;
  *end++ = text;
  for (std::string_view part : {std::string_view(preload_name), std::string_view(library_),
                                std::string_view(*list ? ":" : ""), std::string_view(list)}) {
    std::memcpy(text, part.data(), part.size());
    text += part.size();
  }
  *text = '\0';
  if (!has_config) {  // an environment built from nothing
    *end++ = const_cast<char*>(config_.c_str());
    for (const std::string& other : others_)
      if (!other.empty()) *end++ = const_cast<char*>(other.c_str());
  }
  *end = nullptr;
  return to;
}

}  // namespace eum::rt::native
