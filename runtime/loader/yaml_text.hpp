#pragma once
// Parses untrusted YAML into a document of yaml-cpp. It must not know what the keys mean.
#include <yaml-cpp/yaml.h>

#include <string>

namespace eum::rt {

/// Thrown; line and column count from 1.
struct AnchorFound {
  int line, column;
};

/// Throws YAML::Exception, and AnchorFound: aliases can expand a few bytes to any size, in memory and in
/// time, and no compiler writes them, so anchors are refused.
YAML::Node parse_yaml(const std::string& text);

}  // namespace eum::rt
