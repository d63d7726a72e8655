// The Image attribute: the operation of a sample or an atomic, the surface, and the other options of the op.
#include <bit>

#include "frontend/ir/attribute.hpp"

namespace eum::ir {
namespace {

constexpr unsigned most_coordinates = 4, all_components = 15;
constexpr unsigned most_registers = 31;  // of a response; a payload has one fewer

bool is_media(Op op) { return op == Op::media_read || op == Op::media_write; }
bool is_typed(Op op) { return op == Op::typed_read || op == Op::typed_write || op == Op::typed_atomic; }

bool parse_option(InstReader& r, std::string_view word) {
  if (r.in.peek_word() != word) return false;
  r.in.word(word);
  return true;
}

bool parse_operation(InstReader& r, ImageAccess& image) {
  if (r.inst.op == Op::sample) {
    const auto op = mem::image::parse_sample_op(r.in.peek_word());
    if (!op) return r.in.fail("an operation of the sampler");
    image.sample = *op;
  } else {
    const auto op = mem::parse_atomic(r.in.peek_word());
    if (!op) return r.in.fail("an atomic operation");
    image.atomic = *op;
  }
  r.in.word("an operation");
  return true;
}

/// The word before the surface operand.
const char* surface_word(const ImageAccess& image) {
  if (!image.bindless) return "surface";
  return image.heap == mem::image::SurfaceHeap::States ? "states" : "bindless";
}

bool parse_surface(InstReader& r, ImageAccess& image) {
  const std::string_view word = r.in.peek_word();
  image.bindless = word == "bindless" || word == "states";
  if (word == "states") image.heap = mem::image::SurfaceHeap::States;
  if (word != "surface" && !image.bindless) return r.in.numbered("surface", 255, image.surface);
  image.surface_is_operand = true;
  return r.in.keyword(surface_word(image)) && r.in.expect('[') && r.next_value() && r.in.expect(']');
}

Result<void> expect(std::string_view what, unsigned least, unsigned most, unsigned found) {
  if (found >= least && found <= most) return {};
  if (least == most) return error("expected {} {}, found {}", least, what, found);
  return error("expected {} to {} {}, found {}", least, most, what, found);
}

/// Checks the number of results and of `operands`, which excludes surface and scalars.
Result<void> verify_counts(const Inst& inst, const ImageAccess& image, unsigned operands) {
  const auto components = static_cast<unsigned>(std::popcount(image.components));
  const auto both = [&](Result<void> first, Result<void> second) { return first ? second : first; };
  const unsigned results = inst.result_count;
  switch (inst.op) {
    case Op::sample:
      return both(expect("parameters", 0, mem::image::info(image.sample).parameters.count, operands),
                  expect("results", 0, 4, results));
    case Op::typed_read:
      return both(expect("coordinates", image.coordinates, image.coordinates, operands),
                  expect("results", components, components, results));
    case Op::typed_write:
      return expect("coordinates and components", image.coordinates + components,
                    image.coordinates + components, operands);
    case Op::typed_atomic: {
      const unsigned wanted = image.coordinates + mem::info(image.atomic).operands;
      return both(expect("coordinates and sources", wanted, wanted, operands),
                  expect("results", 0, 1, results));
    }
    case Op::media_read:
      return both(expect("registers to write", 0, 0, operands),
                  expect("results", 1, most_registers, results));
    default:
      return expect("registers to write", 1, most_registers, operands);
  }
}

}  // namespace

void print_Image(InstText& t) {
  t.separate(", ");
  if (t.inst.imm >= t.function.images.size()) return;
  const ImageAccess& image = t.function.image(t.inst);
  if (t.inst.op == Op::sample) t.append("{} ", mem::image::info(image.sample).name);
  if (t.inst.op == Op::typed_atomic) t.append("{} ", mem::info(image.atomic).name);
  if (image.surface_is_operand) {
    t.append("{}[", surface_word(image));
    t.next_value();
    t.out += ']';
  } else {
    t.append("surface{}", image.surface);
  }
  if (t.inst.op == Op::sample)
    t.append(" sampler{}{}{}", image.sampler, image.scalars != 0 ? " header" : "", image.half ? " half" : "");
  if (image.counter)
    t.out += " counter";
  else if (is_typed(t.inst.op))
    t.append(" coordinates {}", image.coordinates);
  if (is_typed(t.inst.op) && t.inst.op != Op::typed_atomic) t.append(" components {:#x}", image.components);
  if (is_media(t.inst.op) && image.vertical_stride != 0) t.append(" stride {}", image.vertical_stride);
}

bool parse_Image(InstReader& r) {
  Cursor& in = r.in;
  const Op op = r.inst.op;
  ImageAccess image;
  if (!r.item()) return false;
  if ((op == Op::sample || op == Op::typed_atomic) && !parse_operation(r, image)) return false;
  if (!parse_surface(r, image)) return false;
  if (op == Op::sample) {
    if (!in.numbered("sampler", 255, image.sampler)) return false;
    if (parse_option(r, "header")) image.scalars = sample_header_scalars;
    image.half = parse_option(r, "half");
  }
  if (op == Op::typed_atomic) image.counter = parse_option(r, "counter");
  if (is_typed(op) && !image.counter &&
      !(in.keyword("coordinates") && in.number(image.coordinates, most_coordinates)))
    return false;
  if (is_typed(op) && op != Op::typed_atomic &&
      !(in.keyword("components") && in.number(image.components, all_components)))
    return false;
  if (is_media(op)) {
    image.scalars = media_scalars;
    if (parse_option(r, "stride") && !in.number(image.vertical_stride, 7)) return false;
  }
  r.function.set_image(r.inst, image);
  return true;
}

Result<void> verify_Image(const Function& f, const Inst& inst) {
  if (inst.imm >= f.images.size())
    return error("expected an image access below {}, found {}", f.images.size(), inst.imm);
  const ImageAccess& image = f.image(inst);
  if (static_cast<std::size_t>(image.sample) >= mem::image::sample_op_table.size())
    return error("expected an operation of the sampler, found {}", static_cast<unsigned>(image.sample));
  if (static_cast<std::size_t>(image.atomic) >= mem::atomic_table.size())
    return error("expected an atomic operation, found {}", static_cast<unsigned>(image.atomic));
  const unsigned least = is_media(inst.op) ? media_scalars : 0;
  const unsigned most = inst.op == Op::sample ? sample_header_scalars : least;
  if (image.scalars != least && image.scalars != most)
    return error("expected {} or {} operands of one lane, found {}", least, most, image.scalars);
  if (image.coordinates > most_coordinates || image.components > all_components)
    return error("expected up to 4 coordinates and components, found {} and {:#x}", image.coordinates,
                 image.components);
  if (image.counter && (inst.op != Op::typed_atomic || image.coordinates != 0))
    return error("expected an atomic without coordinates on a counter");
  if (is_typed(inst.op) && !image.counter && image.coordinates == 0)
    return error("expected coordinates, found none");
  if (image.bindless && !image.surface_is_operand)
    return error("expected an operand that says where the state of a bindless surface is");
  if (!image.bindless && image.heap != mem::image::SurfaceHeap::Bindless)
    return error("expected a heap of surface states of bindless surfaces only");
  const unsigned front = image.scalars + (image.surface_is_operand ? 1u : 0u);
  if (inst.arg_count < front) return error("expected {} operands or more, found {}", front, inst.arg_count);
  return verify_counts(inst, image, inst.arg_count - front);
}

}  // namespace eum::ir
