// yaml-cpp reports errors by exception, as do the readers below (Failure); no exception leaves
// read_argument_map.
#include "runtime/loader/argument_map.hpp"

#include <yaml-cpp/depthguard.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <string>
#include <utility>

#include "frontend/visa/kernel.hpp"
#include "frontend/visa/lower/lower.hpp"
#include "runtime/loader/yaml_text.hpp"
#include "runtime/loader/ze_info.hpp"

namespace eum::rt {
namespace {

struct Failure {
  Error error;
};

template <class... Args>
[[noreturn]] void fail(const YAML::Mark& mark, fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{error("line {}: {}", mark.line + 1, fmt::format(format, std::forward<Args>(args)...))};
}

std::string held_by(const YAML::Node& node) {
  if (node.IsSequence()) return "a list";
  if (node.IsMap()) return "keys and values";
  return node.IsScalar() ? fmt::format("'{}'", node.Scalar().substr(0, 64)) : "nothing";
}

/// A map in which every key must be known.
class Keys {
 public:
  Keys(YAML::Node node, std::string_view what, std::initializer_list<std::string_view> known)
      : node_(std::move(node)), what_(what) {
    if (!node_.IsMap()) fail(node_.Mark(), "{}: expected keys and values, found {}", what_, held_by(node_));
    std::string names;
    for (const std::string_view name : known) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    for (const auto& entry : node_) {
      if (!entry.first.IsScalar() ||
          std::find(known.begin(), known.end(), entry.first.Scalar()) == known.end())
        fail(entry.first.Mark(), "{}: expected one of {}, found {}", what_, names, held_by(entry.first));
    }
  }

  const YAML::Mark mark() const { return node_.Mark(); }
  bool has(const char* key) const { return static_cast<bool>(node_[key]); }
  YAML::Node at(const char* key) const {
    YAML::Node value = node_[key];
    if (!value) fail(mark(), "{}: expected {}, found none", what_, key);
    return value;
  }
  std::string text(const char* key) const {
    const YAML::Node value = at(key);
    if (!value.IsScalar() || value.Scalar().empty())
      fail(value.Mark(), "{}: {}: expected a name, found {}", what_, key, held_by(value));
    return value.Scalar();
  }
  /// Returns `otherwise` if there is no such key.
  std::uint32_t number(const char* key, std::uint32_t otherwise, std::uint32_t most) const {
    if (!has(key)) return otherwise;
    const YAML::Node value = at(key);
    std::uint32_t result = most;
    bool good = value.IsScalar();
    if (good) {
      const std::string& digits = value.Scalar();
      const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
      good = failure == std::errc{} && end == digits.data() + digits.size() && result <= most;
    }
    if (!good)
      fail(value.Mark(), "{}: {}: expected a number from 0 to {}, found {}", what_, key, most,
           held_by(value));
    return result;
  }
  template <class Visit>
  void for_each(const char* key, Visit visit) const {
    if (!has(key)) return;
    const YAML::Node list = at(key);
    if (list.IsNull()) return;
    if (!list.IsSequence()) fail(list.Mark(), "{}: {}: expected a list, found {}", what_, key, held_by(list));
    for (const YAML::Node& element : list) visit(element);
  }

 private:
  YAML::Node node_;
  std::string what_;
};

constexpr std::uint32_t most = 0x7fffffff;

class KernelReader {
 public:
  KernelReader(const visa::Kernel& text, unsigned grf_bytes) : text_(text), grf_bytes_(grf_bytes) {}

  KernelDraft read(const Keys& keys) {
    Kernel& kernel = draft_.kernel;
    kernel.name = text_.name;
    const auto simd = visa::simd_size(text_);
    if (!simd) fail(keys.mark(), "kernel {}: {}", kernel.name, simd.error().message);
    kernel.simd_size = *simd;
    kernel.slm_bytes = keys.number("slm_bytes", 0, most);
    kernel.barrier_count = keys.number("barriers", 0, most);
    kernel.scratch_bytes = keys.number("scratch_bytes", 0, most);
    const std::uint32_t rows = keys.number("local_ids", 0, 3);
    for (std::size_t d = 0; d < rows; ++d) kernel.local_ids.present[d] = true;
    const std::uint32_t row = std::max<std::uint32_t>(kernel.simd_size * 2, grf_bytes_);
    draft_.data_behind_header = rows == 0;  // offsets count from r0
    cross_thread_ = grf_bytes_ + rows * row;
    keys.for_each("arguments", [&](const YAML::Node& node) { read_argument(node); });
    keys.for_each("dispatch", [&](const YAML::Node& node) { read_item(node); });
    kernel.cross_thread_bytes = (end_ + grf_bytes_ - 1) / grf_bytes_ * grf_bytes_;
    return std::move(draft_);
  }

 private:
  struct Place {
    std::uint32_t offset, size;  // of the cross-thread data
  };

  bool has_place(const Keys& keys) const { return keys.has("variable") || keys.has("offset"); }

  Place place(const Keys& keys) {
    std::uint64_t offset = 0, size = 0;
    if (keys.has("variable")) {
      if (keys.has("offset")) fail(keys.mark(), "expected variable or offset, found both");
      const std::string name = keys.text("variable");
      const auto input = std::find_if(text_.inputs.begin(), text_.inputs.end(), [&](const visa::Input& one) {
        return text_.variables[one.variable].name == name;
      });
      if (input == text_.inputs.end())
        fail(keys.at("variable").Mark(), "kernel {}: expected a variable of an .input line, found '{}'",
             text_.name, name);
      const std::uint64_t bytes = input->size != 0 ? input->size : text_.variables[input->variable].bytes();
      const std::uint32_t at = keys.number("at", 0, most);
      if (at >= bytes) fail(keys.mark(), "expected at below the {} bytes of {}, found {}", bytes, name, at);
      offset = std::uint64_t{input->offset} + at;
      size = keys.has("size") ? keys.number("size", 0, most) : bytes - at;
      if (size > bytes - at)
        fail(keys.mark(), "expected at most the {} bytes of {} behind {}, found a size of {}", bytes - at,
             name, at, size);
    } else {
      offset = keys.number("offset", 0, most);
      if (!keys.has("offset") || !keys.has("size"))
        fail(keys.mark(), "expected variable, or offset and size, found {}",
             keys.has("offset") ? "offset alone" : "neither");
      size = keys.number("size", 0, most);
    }
    constexpr std::uint64_t most_payload = 256 * 64;
    if (offset < cross_thread_ || offset + size > most_payload)
      fail(keys.mark(), "expected a place from byte {}, behind r0 and local ids, to {}, found bytes {} to {}",
           cross_thread_, most_payload, offset, offset + size);
    const auto at = static_cast<std::uint32_t>(offset - cross_thread_);
    end_ = std::max(end_, at + static_cast<std::uint32_t>(size));
    return {at, static_cast<std::uint32_t>(size)};
  }

  /// An address has 4 or 8 bytes.
  Place address(const Keys& keys) {
    const Place found = place(keys);
    if (found.size != 4 && found.size != 8)
      fail(keys.mark(), "expected an address of 4 or 8 bytes, found {}", found.size);
    return found;
  }

  void read_argument(const YAML::Node& node) {
    const Keys keys(node, "argument",
                    {"kind", "name", "type", "variable", "at", "offset", "size", "surface", "alignment"});
    const auto index = static_cast<std::uint32_t>(draft_.arguments.size());
    Argument& argument = draft_.arguments[index];
    if (keys.has("name")) argument.name = keys.text("name");
    if (keys.has("type")) argument.type_name = keys.text("type");
    const std::string kind = keys.text("kind");
    if (kind == "value") {
      argument.kind = ArgumentKind::Value;
      const Place at = place(keys);
      argument.size = at.size;
      argument.exact_size = true;
      argument.patches.push_back({PayloadItem::Value, at.offset, at.size, 0});
    } else if (kind == "buffer") {
      argument.kind = ArgumentKind::Pointer;
      argument.address = AddressQualifier::Global;
      if (!has_place(keys) && !keys.has("surface"))
        fail(keys.mark(), "expected the variable of the buffer's address, or its surface, found neither");
      if (has_place(keys)) {
        const Place at = address(keys);
        argument.stateless = true;
        argument.patches.push_back({PayloadItem::Pointer, at.offset, at.size, 0});
      }
      if (keys.has("surface")) argument.binding = static_cast<std::uint8_t>(keys.number("surface", 0, 239));
    } else if (kind == "local") {
      argument.kind = ArgumentKind::LocalPointer;
      argument.address = AddressQualifier::Local;
      const Place at = address(keys);
      argument.patches.push_back(
          {PayloadItem::LocalOffset, at.offset, at.size, keys.number("alignment", 16, 4096)});
    } else {
      fail(keys.at("kind").Mark(), "expected kind value, buffer or local, found '{}'", kind);
    }
  }

  void read_item(const YAML::Node& node) {
    const Keys keys(node, "dispatch", {"item", "variable", "at", "offset", "size"});
    const std::string name = keys.text("item");
    const auto item = item_of_zebin(name);
    if (!item || info(*item).owner != PayloadOwner::Implicit) {
      std::string names;
      for (const PayloadItemInfo& row : payload_items)
        if (row.owner == PayloadOwner::Implicit && !row.zebin.empty())
          names += fmt::format("{}{}", names.empty() ? "" : ", ", row.zebin);
      fail(keys.at("item").Mark(), "expected one of {}, found '{}'", names, name);
    }
    const Place at = place(keys);
    if (info(*item).dims == 1) {
      draft_.kernel.implicit.push_back({*item, at.offset, at.size, 0});
      return;
    }
    // A variable may be larger than its items.
    const std::uint32_t size = std::min(at.size, 12u);
    if (size % 4 != 0) fail(keys.mark(), "{}: expected 4, 8 or 12 bytes, found {}", name, at.size);
    for (std::uint32_t d = 0; d < size; d += 4)
      draft_.kernel.implicit.push_back({*item, at.offset + d, 4, d});
  }

  const visa::Kernel& text_;
  const std::uint32_t grf_bytes_;
  std::uint32_t cross_thread_ = 0;  // its offset in bytes from r0
  std::uint32_t end_ = 0;           // end of the items in it
  KernelDraft draft_;
};

std::vector<KernelDraft> read_document(const YAML::Node& document, const std::vector<ParsedText>& texts,
                                       unsigned grf_bytes) {
  const Keys top(document, "the map of arguments", {"kernels"});
  std::vector<KernelDraft> drafts;
  top.at("kernels");
  top.for_each("kernels", [&](const YAML::Node& node) {
    const Keys keys(node, "kernel",
                    {"name", "local_ids", "slm_bytes", "barriers", "scratch_bytes", "arguments", "dispatch"});
    const std::string name = keys.text("name");
    const visa::Kernel* found = nullptr;
    std::string names;
    for (const ParsedText& text : texts)
      for (const visa::Kernel& kernel : text.module->kernels) {
        if (kernel.is_function) continue;
        names += (names.empty() ? "" : ", ") + kernel.name;
        if (kernel.name == name) found = &kernel;
      }
    if (found == nullptr)
      fail(keys.at("name").Mark(), "expected a kernel of the text ({}), found '{}'", names, name);
    for (const KernelDraft& draft : drafts)
      if (draft.kernel.name == name) fail(keys.at("name").Mark(), "kernel {} is described twice", name);
    drafts.push_back(KernelReader(*found, grf_bytes).read(keys));
  });
  return drafts;
}

}  // namespace

Result<std::vector<KernelDraft>> read_argument_map(std::string_view text,
                                                   const std::vector<ParsedText>& kernels,
                                                   unsigned grf_bytes) {
  if (text.size() > most_ze_info_bytes)
    return error("expected at most {} bytes, found {}", most_ze_info_bytes, text.size());
  try {
    return read_document(parse_yaml(std::string(text)), kernels, grf_bytes);
  } catch (const Failure& failure) {
    return failure.error;
  } catch (const AnchorFound& anchor) {
    return error("line {}: column {}: expected no anchor, found one", anchor.line, anchor.column);
  } catch (const YAML::DeepRecursion& e) {
    return error("line {}: lists and keys in each other deeper than {} levels, expected at most 4",
                 e.mark.line + 1, e.depth());
  } catch (const YAML::Exception& e) {
    return error("line {}: {}", e.mark.line + 1, e.msg);
  }
}

}  // namespace eum::rt
