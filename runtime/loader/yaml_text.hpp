#pragma once
// YAML that others wrote, as a document of yaml-cpp. It must not know what the keys mean.
#include <yaml-cpp/yaml.h>

#include <string>

namespace eum::rt {

/// Thrown; both count from 1.
struct AnchorFound {
  int line, column;
};

/// Throws YAML::Exception, and AnchorFound: an alias makes of a few bytes any number, in memory and in time,
/// and no compiler writes one, so that anchors are refused.
YAML::Node parse_yaml(const std::string& text);

}  // namespace eum::rt
