// The corpus of real kernels: what to run (binary, kernel, range, arguments) and the expected results, as
// data. Independent of the emulator and of any other way to run a kernel: tests, perf and demos link it. The
// expected buffers come from plain C++ written from each kernel's meaning; pocl_check.cpp confirms them on
// PoCL.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace eum::kernels {

using Bytes = std::vector<std::byte>;

/// One row of manifest.def. A reason is empty if there is no obstacle.
struct KernelFile {
  std::string_view stem;
  std::string_view source;        ///< src/SOURCE.cl
  std::string_view options;       ///< for the OpenCL compiler
  std::string_view zebin_reason;  ///< why there is no bin/STEM.zebin.bin
  std::string_view pvc_reason;    ///< why there is no visa/STEM.pvc.ze_info
  std::string_view pocl_reason;   ///< why PoCL cannot run it
};

enum class Container : uint8_t { PatchTokens, Zebin };

/// The devices for which there is vISA text (compile_visa.sh).
enum class VisaDevice : uint8_t { Bxt, Pvc };

/// One row of devices.def.
struct KernelDevice {
  std::string_view name;    ///< ocloc's name
  std::string_view family;  ///< of its machine code
};

/// Patch token binaries that the compiler made for a device: DIRECTORY/STEM.patch.bin.
struct DeviceBinaries {
  KernelDevice device;
  std::string directory;
};

std::span<const KernelFile> kernel_files();
std::span<const KernelDevice> kernel_devices();
/// Where the binaries for the device are kept.
DeviceBinaries binaries_for(const KernelDevice& device);
/// Why the file does not compile for the device; empty if it does.
std::string_view reason_against(const KernelFile& file, const KernelDevice& device);
/// The row with that stem, or null.
const KernelFile* find_kernel_file(std::string_view stem);
/// Absolute paths of the OpenCL C source and of the binary.
std::string source_path(const KernelFile& file);
std::string binary_path(const KernelFile& file, Container container);
std::string binary_path(const KernelFile& file, const DeviceBinaries& binaries);
/// Path of a kernel's vISA text.
std::string visa_path(const KernelFile& file, std::string_view kernel, VisaDevice device);
/// Path of the description of the arguments of the file's kernels: .ze_info, or a zebin where that is
/// insufficient.
std::string visa_map_path(const KernelFile& file, VisaDevice device);

enum class Element : uint8_t { U8, S8, U16, S16, U32, S32, U64, S64, F16, F32, F64 };

/// Bytes of one element.
constexpr size_t element_size(Element element) {
  constexpr std::array<uint8_t, 11> sizes{1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
  return sizes[static_cast<size_t>(element)];
}

/// Permitted error of floating point elements: the largest of the three applies. Integers are exact, except
/// for those with Buffer::unit. `share` is the part of a buffer's elements, of any type, that may differ
/// without bound: only for inherently chaotic kernels, 0 elsewhere.
struct Tolerance {
  double ulp = 0;  ///< units in the last place of the expected value
  double absolute = 0;
  double relative = 0;
  double share = 0;
};

enum class Role : uint8_t { In, Out, InOut };

/// A value as the bytes of OpenCL's layout (a 3-vector occupies 4 elements).
struct Scalar {
  Bytes bytes;
};

/// Global or constant memory. `bytes` are the contents before the run, whatever its role; an `In` buffer must
/// be unchanged afterwards. Buffers that are written end in elements that no work item may touch.
struct Buffer {
  Bytes bytes;
  Role role = Role::In;
  Element element = Element::U32;
  bool any_order = false;  ///< compared as a multiset of elements
  double unit = 0;         ///< value of 1 in a normalised integer; 0: a plain integer
};

/// A __local pointer argument: bytes of SLM.
struct LocalMemory {
  uint32_t size = 0;
};

enum class ImageDimension : uint8_t { D1, D2, D3, Array1D, Array2D, Buffer };

/// An image; `bytes` are its texels, tightly packed, level after level, and `element` is the type of their
/// channels. Order and type are OpenCL's numbers. There is no guard, since nothing outside an image can be
/// written.
struct Image : Buffer {
  ImageDimension dimension = ImageDimension::D2;
  uint32_t width = 1, height = 1;
  uint32_t depth = 1;   ///< slices, or elements of an array
  uint32_t levels = 1;  ///< mip levels
  uint32_t order = 0;   ///< cl_channel_order
  uint32_t type = 0;    ///< cl_channel_type
};

enum class Address : uint8_t { None, ClampToEdge, Clamp, Repeat, MirroredRepeat };

struct Sampler {
  bool linear = false;
  Address address = Address::None;
  bool normalized = false;
};

using Arg = std::variant<Scalar, Buffer, LocalMemory, Image, Sampler>;

/// The memory of an argument, or null.
inline const Buffer* memory_of(const Arg& arg) {
  if (const auto* image = std::get_if<Image>(&arg)) return image;
  return std::get_if<Buffer>(&arg);
}

struct KernelCase {
  std::string name{};    ///< unique: file.kernel, and .variant if there are several
  std::string file{};    ///< stem of a manifest row
  std::string kernel{};  ///< name in the source
  uint32_t dimensions = 1;
  std::array<uint32_t, 3> global{1, 1, 1};  ///< work items
  std::array<uint32_t, 3> local{0, 0, 0};   ///< work items in a group; all 0: the driver's choice
  std::array<uint32_t, 3> offset{0, 0, 0};
  std::vector<Arg> args{};
  Tolerance tolerance{};
  /// The memory after the run does not depend on the order in which groups and threads run.
  bool order_free = true;
  /// How many instructions are executed depends on how often channels meet at an address, and in which order.
  bool retries = false;
  /// Why PoCL 3.1, which runs the file's kernels, does not conform to OpenCL here. Empty if it does.
  std::string_view pocl_reason{};
  /// Turns the initial buffers (by argument; empty for arguments without memory) into the expected ones.
  void (*reference)(const KernelCase& kernel_case, std::vector<Bytes>& buffers) = nullptr;

  /// Whether argument `index` is a buffer or an image, whose contents are compared after the run.
  bool check(size_t index) const { return index < args.size() && memory_of(args[index]) != nullptr; }
};

/// Every case, in the order of the manifest's themes. Deterministic.
std::vector<KernelCase> corpus();
/// Each image format in each dimension, read with each filter, address mode and kind of coordinate, and
/// written.
std::vector<KernelCase> image_matrix();

/// The memory of each argument before and after the run; empty for arguments without memory.
std::vector<Bytes> initial_buffers(const KernelCase& kernel_case);
std::vector<Bytes> expected_buffers(const KernelCase& kernel_case);

/// Empty if `got` are the expected contents of argument `index`, otherwise one line with the case, the
/// argument and the first wrong element. The first form runs the reference; the second takes the result of
/// expected_buffers().
std::string compare(const KernelCase& kernel_case, size_t index, std::span<const std::byte> got);
std::string compare(const KernelCase& kernel_case, size_t index, std::span<const std::byte> got,
                    const std::vector<Bytes>& expected);

}  // namespace eum::kernels
