#include "memory/image/coordinate.hpp"

#include <algorithm>
#include <cmath>

namespace eum::mem::image {

namespace {

/// Beyond every texel; floats up to this magnitude have a fraction or are integers that fit.
constexpr float farthest = 16777216;

float reduce(float s, AddressControl mode) {
  switch (mode) {
    case AddressControl::WRAP:
      return s - std::floor(s);
    case AddressControl::MIRROR:
      return std::fabs(s - 2 * std::nearbyint(s * 0.5f));
    case AddressControl::MIRROR_ONCE:
      return std::fabs(s);
    default:
      return s;
  }
}

unsigned face_of(const std::array<float, 3>& direction) {
  const float x = std::fabs(direction[0]), y = std::fabs(direction[1]), z = std::fabs(direction[2]);
  const unsigned major = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
  return 2 * major + (std::signbit(direction[major]) ? 1 : 0);
}

}  // namespace

float texel_position(float coordinate, const Axis& axis) {
  float u = axis.normalized ? reduce(coordinate, axis.mode) : coordinate;
  if (std::isnan(u)) u = 0;
  if (axis.normalized) u *= static_cast<float>(axis.size);
  if (axis.offset != 0) u += static_cast<float>(axis.offset);
  if (axis.mode == AddressControl::HALF_BORDER) u = std::clamp(u, 0.0f, static_cast<float>(axis.size));
  return std::clamp(u, -farthest, farthest);
}

Tap nearest_tap(float position) { return {static_cast<std::int32_t>(std::floor(position)), 0, false}; }

Tap linear_tap(float position) {
  const float v = position - 0.5f, first = std::floor(v);
  const float weight = std::nearbyint((v - first) * 256);
  return {static_cast<std::int32_t>(first), static_cast<std::uint32_t>(weight), true};
}

std::int32_t wrap_index(AddressControl mode, std::int32_t index, std::uint32_t size) {
  const auto n = static_cast<std::int32_t>(size);
  const auto modulo = [](std::int32_t i, std::int32_t m) { return i % m < 0 ? i % m + m : i % m; };
  switch (mode) {
    case AddressControl::WRAP:
      return modulo(index, n);
    case AddressControl::MIRROR: {
      const std::int32_t i = modulo(index, 2 * n);
      return i < n ? i : 2 * n - 1 - i;
    }
    case AddressControl::MIRROR_ONCE:
      return std::min(index < 0 ? -1 - index : index, n - 1);
    case AddressControl::CLAMP_BORDER:
    case AddressControl::HALF_BORDER:
      return index < 0 || index >= n ? border_index : index;
    case AddressControl::CLAMP:
    case AddressControl::CUBE:
      break;
  }
  return std::clamp(index, 0, n - 1);
}

std::uint32_t array_index(float coordinate, std::uint32_t count) {
  if (!(coordinate > 0) || count == 0) return 0;
  const float last = static_cast<float>(count - 1);
  return static_cast<std::uint32_t>(std::min(std::nearbyint(coordinate), last));
}

CubePosition cube_position(const std::array<float, 3>& direction) {
  CubePosition position;
  position.face = face_of(direction);
  const CubeFace& face = cube_faces[position.face];
  const float major = std::fabs(direction[face.major]);
  position.s = std::fma(face.s_sign * direction[face.s] / major, 0.5f, 0.5f);
  position.t = std::fma(face.t_sign * direction[face.t] / major, 0.5f, 0.5f);
  return position;
}

std::array<float, 2> cube_gradient(unsigned face_index, const std::array<float, 3>& direction,
                                   const std::array<float, 3>& delta) {
  const CubeFace& face = cube_faces[face_index];
  const float major = std::fabs(direction[face.major]), d_major = face.major_sign * delta[face.major];
  const auto derivative = [&](unsigned axis, float sign) {
    const float c = sign * direction[axis], d = sign * delta[axis];
    return 0.5f * ((d - c / major * d_major) / major);  // derivative of c / major
  };
  return {derivative(face.s, face.s_sign), derivative(face.t, face.t_sign)};
}

CubeTexel cross_edge(CubeTexel texel, std::int32_t size) {
  const auto outside = [&](std::int32_t i) { return i < 0 || i >= size; };
  if (outside(texel.x) && outside(texel.y)) texel.x = std::clamp(texel.x, 0, size - 1);
  if (!outside(texel.x) && !outside(texel.y)) return texel;
  // The texel's centre in half texels from the middle of the face. A coordinate outside the face becomes the
  // major one of the neighbour; the distance beyond the edge becomes depth on the neighbour.
  const CubeFace& face = cube_faces[texel.face];
  std::array<std::int32_t, 3> point{};
  const auto sign = [](float s) { return s < 0 ? -1 : 1; };
  const std::int32_t s = 2 * texel.x + 1 - size, t = 2 * texel.y + 1 - size;
  const std::int32_t beyond = std::max(std::abs(s), std::abs(t)) - size;
  point[face.s] = sign(face.s_sign) * std::clamp(s, -size, size);
  point[face.t] = sign(face.t_sign) * std::clamp(t, -size, size);
  point[face.major] = sign(face.major_sign) * (size - beyond);
  const unsigned major = outside(texel.x) ? face.s : face.t;
  const unsigned next = 2 * major + (point[major] < 0 ? 1 : 0);
  const CubeFace& to = cube_faces[next];
  return {next, (sign(to.s_sign) * point[to.s] + size - 1) / 2,
          (sign(to.t_sign) * point[to.t] + size - 1) / 2};
}

}  // namespace eum::mem::image
