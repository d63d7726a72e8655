// The syntax of output options, and files with the expected contents of buffers.
#include "runtime/cli/run/outputs.hpp"

#include <algorithm>
#include <utility>

#include "memory/base/within_host.hpp"
#include "runtime/cli/run/npy.hpp"
#include "runtime/png/image_picture.hpp"

namespace eum::cli {
namespace {

using Kind = OutputRequest::Kind;

/// The argument that INDEX or NAME refers to.
Result<std::size_t> find_argument(std::string_view word, const std::vector<ArgumentText>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!word.empty() && arguments[i].name == word) return i;
  const auto index = parse_count("the number or name of an argument", word);
  if (!index) return index.error();
  if (*index >= arguments.size() || !arguments[*index].may_be_buffer())
    return error("expected the number of a buffer argument, from 0, found {}", *index);
  return static_cast<std::size_t>(*index);
}

/// Parses FILE, or FILE followed by a colon and a tolerance.
Result<void> parse_expectation(OutputRequest& to, std::string_view tail) {
  const auto colon = tail.rfind(':');
  to.path = tail;
  if (colon == std::string_view::npos) return {};
  const std::string_view word = tail.substr(colon + 1);
  if (word.find('=') == std::string_view::npos) return {};
  const auto tolerance = parse_tolerance(word);
  if (!tolerance) return tolerance.error();
  to.tolerance = *tolerance;
  to.path = tail.substr(0, colon);
  return {};
}

Result<OutputRequest> parse(Kind kind, std::string_view option, std::string_view text,
                            const std::vector<ArgumentText>& arguments) {
  OutputRequest request;
  request.kind = kind;
  request.text = fmt::format("{} {}", option, text);
  const auto at = text.find(kind == Kind::Print ? ':' : '=');
  const bool has_tail = at != std::string_view::npos;
  const std::string_view tail = has_tail ? text.substr(at + 1) : std::string_view();
  const auto argument = find_argument(text.substr(0, at), arguments);
  if (!argument) return error("{}: {}", request.text, argument.error().message);
  request.argument = *argument;
  if (kind == Kind::Print) {
    if (!has_tail) return request;
    const auto count = parse_count("a number of elements", tail);
    if (!count) return error("{}: {}", request.text, count.error().message);
    request.count = *count;
    return request;
  }
  if (kind == Kind::Expect) {
    if (auto good = parse_expectation(request, tail); !good)
      return error("{}: {}", request.text, good.error().message);
  } else {
    request.path = tail;
  }
  if (request.path.empty())
    return error("{}: expected INDEX=FILE{}", request.text,
                 kind == Kind::Expect ? "[:ulp=N], [:abs=X] or [:rel=X]" : "");
  return request;
}

std::optional<Failure> read_expected(OutputRequest& request) {
  auto bytes = read_file(request.path);
  if (!bytes) return Failure{ExitCode::BadInput, bytes.error()};
  if (looks_like_npy(*bytes)) {
    const auto array = read_npy(*bytes);
    if (!array) return Failure{ExitCode::BadInput, error("{}: {}", request.path, array.error().message)};
    if (info(array->element).bytes != info(request.element).bytes)
      return Failure{ExitCode::Mismatch,
                     error("{}: expected {} for {}, found {}", request.path, info(request.element).name,
                           request.label, info(array->element).name)};
    bytes->erase(bytes->begin(), bytes->begin() + static_cast<std::ptrdiff_t>(array->offset));
  }
  if (bytes->size() != request.buffer->size())
    return Failure{ExitCode::Mismatch, error("{}: expected {} bytes for {}, found {}", request.path,
                                             request.buffer->size(), request.label, bytes->size())};
  request.expected = std::move(*bytes);
  return std::nullopt;
}

bool wants_png(const OutputRequest& request) {
  const std::string_view path = request.path;
  return path.ends_with(".png") || path.ends_with(".PNG");
}

/// "f32", or for an image "rgba unorm8".
std::string type_text(const OutputRequest& request) {
  if (!request.buffer->image) return std::string(info(request.element).name);
  const rt::ImageDescription& image = request.buffer->image->description;
  return fmt::format("{} {}", rt::info(image.order).name, rt::info(image.data_type).name);
}

}  // namespace

Result<std::vector<OutputRequest>> parse_outputs(const KernelOptions& options,
                                                 const std::vector<ArgumentText>& arguments) {
  std::vector<OutputRequest> requests;
  const std::tuple<Kind, std::string_view, const std::vector<std::string>&> kinds[] = {
      {Kind::Dump, "--dump", options.dumps},
      {Kind::Print, "--print", options.prints},
      {Kind::Expect, "--expect", options.expects}};
  for (const auto& [kind, option, texts] : kinds)
    for (const std::string& text : texts) {
      auto request = parse(kind, option, text, arguments);
      if (!request) return request.error();
      requests.push_back(std::move(*request));
    }
  return requests;
}

std::optional<Failure> prepare_output(OutputRequest& request, const RunBuffer* buffer,
                                      const rt::Argument& parameter) {
  if (buffer == nullptr)
    return Failure{ExitCode::Mismatch, error("{}: argument {} is no buffer", request.text, request.argument)};
  request.buffer = buffer;
  request.element =
      buffer->element ? *buffer->element : element_of_parameter(parameter).value_or(Element::u32);
  request.label = fmt::format("argument {} ({})", request.argument, type_text(request));
  if (request.kind == Kind::Dump && wants_png(request)) {
    if (!buffer->image)
      return Failure{ExitCode::Mismatch,
                     error("{}: expected an image for a PNG file, argument {} is a buffer", request.text,
                           request.argument)};
    if (auto good = png::fits_png(buffer->image->description); !good)
      return Failure{ExitCode::Mismatch, error("{}: {}", request.text, good.error().message)};
  }
  if (request.kind == Kind::Expect) return read_expected(request);
  if (request.kind == Kind::Dump) {
    auto file = OutputFile::open(request.path);
    if (!file) return Failure{ExitCode::BadInput, file.error()};
    request.file.emplace(std::move(*file));
  }
  return std::nullopt;
}

Result<void> take_contents(OutputRequest& request) {
  if (!request.buffer->image) return {};
  return within_host(request.label, [&]() -> Result<void> {
    request.texels.resize(request.buffer->size());
    request.buffer->image->download(request.texels);
    return {};
  });
}

std::string element_text(const OutputRequest& request, std::uint64_t index) {
  const unsigned unit = request.buffer->unit();
  std::string text;
  for (unsigned i = 0; i < unit; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ",",
                        value_text(request.element, request.contents(), index * unit + i));
  return text;
}

Result<void> write_dump(OutputRequest& request) {
  const auto bytes = request.contents();
  if (wants_png(request)) {
    const auto picture = png::picture_of(request.buffer->image->description, bytes);
    if (!picture) return error("{}: {}", request.text, picture.error().message);
    const auto file = png::write(*picture);
    if (!file) return error("{}: {}", request.text, file.error().message);
    return request.file->write({*file});
  }
  if (!request.path.ends_with(".npy")) return request.file->write({bytes});
  const unsigned size = info(request.element).bytes;
  const std::string header = npy_header(request.element, bytes.size() / size);
  return request.file->write({std::as_bytes(std::span(header)), bytes.first(bytes.size() / size * size)});
}

std::string difference_text(const OutputRequest& request, const Comparison& comparison) {
  std::string text = fmt::format("{} differs from {} in {} of {} elements: ", request.label, request.path,
                                 comparison.different, comparison.elements);
  for (std::size_t i = 0; i < comparison.first.size(); ++i)
    text += fmt::format("{}[{}] is {}, expected {}", i == 0 ? "" : "; ", comparison.first[i].index,
                        comparison.first[i].found, comparison.first[i].expected);
  return text + (comparison.different > comparison.first.size() ? "; ..." : "");
}

}  // namespace eum::cli
