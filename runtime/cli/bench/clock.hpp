#pragma once
// Reads two clocks at once: wall-clock time, and processor time of all threads of this process.
namespace eum::cli {

struct Instant {
  double wall = 0, cpu = 0;  ///< seconds

  static Instant now();
  Instant operator-(const Instant& other) const { return {wall - other.wall, cpu - other.cpu}; }
  Instant operator/(double count) const { return {wall / count, cpu / count}; }
};

}  // namespace eum::cli
