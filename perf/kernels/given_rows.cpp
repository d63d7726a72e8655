// The eight kernels for which targets are set, three sizes of saxpy, and two pictures. No size fits in a
// first-level cache unless the name says so.
#include "perf/kernels/kernels.hpp"
#include "tests/kernels/given_kernels.hpp"

namespace eum::perf {

void add_given_rows(std::vector<PerfKernel>& rows) {
  using namespace kernels::given;
  const auto saxpy_of = [](uint32_t items) {
    return [items] { return saxpy("saxpy", items, static_cast<int32_t>(items)); };
  };
  rows.insert(
      rows.end(),
      {{"arx", "arx.arx", [] { return arx(1 << 20, 10); }, native::arx, 1024},
       {"bs", "bs.bs", [] { return bs("bs", 1 << 22); }, native::bs, 1024},
       {"hash", "hash.hash", [] { return hash(1 << 21); }, native::hash, 1024},
       {"mandel", "mandel.mandel",
        [] { return mandel("mandel", 1024, 1024, -2.0f, -1.25f, 2.5f, 256, 0.005); }, native::mandel, 1024},
       {"mandel2", "mandel2.mandel2",
        [] { return mandel("mandel2", 1024, 1024, -2.0f, -1.25f, 2.5f, 256, 0.005); }, native::mandel2, 1024},
       {"nbody", "nbody.nbody", [] { return nbody(6144); }, native::nbody, 64},
       {"saxpy_64K", "saxpy.saxpy", saxpy_of(1 << 16), native::saxpy, 4096},
       {"saxpy_1M", "saxpy.saxpy", saxpy_of(1 << 20), native::saxpy, 4096},
       {"saxpy_16M", "saxpy.saxpy", saxpy_of(1 << 24), native::saxpy, 4096},
       {"sgemm", "sgemm.sgemm", [] { return sgemm(512); }, native::sgemm, 8},
       {"gaussian_blur", "image_filter.gaussian_blur", [] { return blur(1920, 1080); }},
       {"resize", "image_filter.resize", [] { return resize(1920, 1080); }}});
}

}  // namespace eum::perf
