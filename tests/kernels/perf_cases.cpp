// The eight kernels, and two of pictures, at sizes fit for timing: tens to hundreds of milliseconds each on
// PoCL with one core, but for saxpy, which is as large as memory allows and far outside every cache.
#include "tests/kernels/given_kernels.hpp"

namespace eum::kernels {

std::vector<KernelCase> perf_cases() {
  using namespace given;
  return {arx(1 << 20, 10),
          bs("bs", 1 << 22),
          hash(1 << 21),
          mandel("mandel", 1024, 1024, -2.0f, -1.25f, 2.5f, 256, 0.005),
          mandel("mandel2", 1024, 1024, -2.0f, -1.25f, 2.5f, 256, 0.005),
          nbody(6144),
          saxpy("saxpy", 1 << 24, 1 << 24),
          sgemm(512),
          blur(1920, 1080),
          resize(1920, 1080)};
}

}  // namespace eum::kernels
