// Anchors are detected in the parser's events, before anything is built from them.
#include "runtime/loader/yaml_text.hpp"

#include <yaml-cpp/eventhandler.h>

#include <sstream>

namespace eum::rt {
namespace {

class NoAnchors final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { check(mark, anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override { check(mark, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string&) override {
    check(mark, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check(mark, anchor);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check(mark, anchor);
  }
  void OnMapEnd() override {}

 private:
  static void check(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) throw AnchorFound{mark.line + 1, mark.column + 1};
  }
};

}  // namespace

YAML::Node parse_yaml(const std::string& text) {
  if (text.find('&') != std::string::npos) {
    std::istringstream stream(text);
    NoAnchors handler;
    YAML::Parser(stream).HandleNextDocument(handler);
  }
  return YAML::Load(text);
}

}  // namespace eum::rt
