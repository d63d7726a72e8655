#pragma once
// Program and Kernel: the contents of a binary, independent of its container. Plain data. It must not know
// containers, engines, or where anything is in GPU memory.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/gen/family.hpp"
#include "runtime/image/image_format.hpp"

namespace eum::visa {
struct Module;
}

namespace eum::rt {

/// Container of the code.
enum class Container : std::uint8_t { PatchTokens, PatchTokensElf, Zebin, Visa };

std::string_view container_name(Container container);

/// Item held at a position of the payload (payload_items.def).
enum class PayloadItem : std::uint8_t {
#define PAYLOAD_ITEM(name, ...) name,
#include "runtime/payload_items.def"
#undef PAYLOAD_ITEM
};

enum class PayloadOwner : std::uint8_t { Argument, Implicit };

struct PayloadItemInfo {
  std::string_view name;
  std::string_view zebin;  // arg_type, or empty
  int parameter;           // DATA_PARAMETER number, or -1
  unsigned dims;           // 1 or 3
  PayloadOwner owner;
};

inline constexpr auto payload_items = [] {
  using enum PayloadOwner;
  return std::to_array<PayloadItemInfo>({
#define PAYLOAD_ITEM(name, zebin, parameter, dims, owner) {#name, zebin, parameter, dims, owner},
#include "runtime/payload_items.def"
#undef PAYLOAD_ITEM
  });
}();

constexpr const PayloadItemInfo& info(PayloadItem item) {
  return payload_items[static_cast<std::size_t>(item)];
}

std::optional<PayloadItem> item_of_zebin(std::string_view arg_type);
std::optional<PayloadItem> item_of_parameter(std::uint32_t parameter);

/// One position in the cross-thread data that the dispatch fills in.
struct Patch {
  PayloadItem item = PayloadItem::Value;
  std::uint32_t offset = 0;  // bytes from the start of the cross-thread data
  std::uint32_t size = 0;    // bytes
  std::uint32_t source = 0;  // Value: byte of the argument; three-dimensional items: 4 * dimension;
                             // LocalOffset: alignment of the argument in SLM
  bool operator==(const Patch&) const = default;
};

enum class ArgumentKind : std::uint8_t {
  Unused,        // the binary does not describe it; any value is accepted
  Value,         // bytes
  Pointer,       // __global or __constant
  LocalPointer,  // __local: the caller gives a size
  Image,
  Sampler,
};

enum class AddressQualifier : std::uint8_t { Private, Global, Constant, Local };
enum class AccessQualifier : std::uint8_t { None, ReadOnly, WriteOnly, ReadWrite };

/// "global" and so on, spelled as in OpenCL C without the underscores; "" for private.
std::string_view qualifier_name(AddressQualifier qualifier);

struct ImageParameterInfo {
  std::string_view name;           ///< .ze_info's image_type
  std::optional<ImageType> takes;  ///< nothing: no image can be passed for it
};

/// Image types of parameters; the index is IMAGE_MEMORY_OBJECT_TYPE of patch tokens.
inline constexpr auto image_types = [] {
  using enum ImageType;
  return std::to_array<ImageParameterInfo>({{"image_invalid", {}},
                                            {"image_buffer", image1d_buffer},
                                            {"image_1d", image1d},
                                            {"image_1d_array", image1d_array},
                                            {"image_2d", image2d},
                                            {"image_2d_array", image2d_array},
                                            {"image_3d", image3d},
                                            {"image_cube", {}},
                                            {"image_cube_array", {}},
                                            {"image_2d_depth", image2d},
                                            {"image_2d_array_depth", image2d_array},
                                            {"image_2d_msaa", {}},
                                            {"image_2d_msaa_depth", {}},
                                            {"image_2d_array_msaa", {}},
                                            {"image_2d_array_msaa_depth", {}},
                                            {"image_2d_media", image2d},
                                            {"image_2d_media_block", image2d}});
}();

struct Argument {
  ArgumentKind kind = ArgumentKind::Unused;
  AddressQualifier address = AddressQualifier::Private;
  AccessQualifier access = AccessQualifier::None;  // images
  std::string name;                                // "" if the binary keeps no names
  std::string type_name;                           // "float*", "" if unknown
  std::string type_qualifiers;                     // "const", "" for none
  std::uint32_t size = 0;                          // bytes of a Value; 8 or 4 for pointers
  bool exact_size = false;  // size is the declared one; otherwise it is rounded up to what the payload copies
  bool stateless = false;   // may be accessed by address, not only through its surface
  std::optional<std::uint8_t> binding;  // binding table index of its surface
  std::optional<std::uint8_t> sampler;  // index into Kernel::samplers
  std::uint8_t image_type = 0;          // index into image_types
  std::vector<Patch> patches;           // by offset
};

/// A surface that is not an argument: constants, globals, private memory, printf buffer.
struct ImplicitSurface {
  PayloadItem item = PayloadItem::ConstantBase;
  std::uint8_t binding = 0;
  bool operator==(const ImplicitSurface&) const = default;
};

/// Sampler properties of OpenCL, named as .ze_info does; the values are what kernels get in their payload
/// (SamplerPatchValues of compute-runtime).
enum class SamplerAddress : std::uint8_t {
  none = 0,
  clamp_border = 1,
  clamp_edge = 2,
  repeat = 3,
  mirror = 4
};
enum class SamplerFilter : std::uint8_t { nearest = 0, linear = 1 };

/// SAMPLER_STATE, four dwords as the hardware reads them. Samplers of arguments are zero until dispatch.
using SamplerState = std::array<std::uint32_t, 4>;

/// SAMPLER_STATE of Gen8 and Gen9 with these properties (genxml). Fields that OpenCL does not determine are
/// as the compiler writes them for samplers that a kernel declares (ocloc 22.43).
SamplerState sampler_state(SamplerAddress address, SamplerFilter filter, bool normalized);

/// Memory of the program that gets a GPU address when a device places it.
enum class Segment : std::uint8_t { Constants, Globals, Strings, Functions };
inline constexpr std::size_t segment_count = 4;
std::string_view segment_name(Segment segment);

/// Bytes to be overwritten with the address `segment + addend`.
struct Relocation {
  enum class Kind : std::uint8_t { Address64, AddressLow32, AddressHigh32 };
  Kind kind = Kind::Address64;
  Segment segment = Segment::Constants;
  std::uint64_t offset = 0;  // of the bytes to write, within the code or segment that holds the relocation
  std::uint64_t addend = 0;
  bool operator==(const Relocation&) const = default;
};

/// A file of vISA text.
struct TextFile {
  std::string source;
  std::shared_ptr<const visa::Module> module;  ///< the parsed text
};

/// The text of a kernel that has no machine code.
struct KernelText {
  std::shared_ptr<const TextFile> file;  ///< null: the kernel has machine code
  std::uint32_t kernel = 0;              ///< index in the module
  std::uint32_t instructions = 0;        ///< not counting those of functions
  std::uint32_t grf_bytes = 0;           ///< per general register
};

/// Layout of a thread's local ids: one row of u16 per dimension, padded to whole registers, in r1 and up.
struct LocalIds {
  std::array<bool, 3> present{};  // x, y, z; rows are in this order
  std::array<std::uint8_t, 3> walk{
      0, 1, 2};                 // walk[0] is the dimension that changes fastest from channel to channel
  std::uint32_t row_bytes = 0;  // 2 per channel, at least a register

  unsigned rows() const { return unsigned{present[0]} + unsigned{present[1]} + unsigned{present[2]}; }
  bool operator==(const LocalIds&) const = default;
};

using Size3 = std::array<std::uint32_t, 3>;

struct Kernel {
  std::string name;
  std::vector<std::byte> code;          // without trailing padding; empty for vISA text
  std::vector<Relocation> relocations;  // in code
  KernelText text;
  std::uint32_t simd_size = 0;  // 8, 16 or 32
  std::uint32_t grf_count = 0;
  std::uint32_t slm_bytes = 0;  // declared in the kernel; __local arguments are additional
  std::uint32_t barrier_count = 0;
  std::uint32_t scratch_bytes = 0;  // per thread, a power of two from 1 KB, or 0
  std::uint32_t private_bytes = 0;  // per work-item, at PrivateBase
  Size3 required_local_size{};      // all 0: the caller chooses
  LocalIds local_ids;
  std::uint32_t per_thread_bytes = 0;    // between r0 and the cross-thread data, a multiple of a register
  std::uint32_t cross_thread_bytes = 0;  // a multiple of a register
  std::vector<Argument> arguments;       // by index
  std::vector<Patch> implicit;           // by offset
  std::vector<ImplicitSurface> surfaces;
  std::vector<SamplerState> samplers;
  std::array<std::uint32_t, 4> border_color{};  // for all samplers, red to alpha: bits of f32, or integers
  std::vector<std::string> printf_strings;  // patch tokens: by index; zebin keeps them in Segment::Strings
  std::string unsupported;                  // "" or why no dispatch of it can work
};

/// Initial contents, followed by `zero_bytes` zeros that the binary does not hold.
struct SegmentData {
  std::vector<std::byte> bytes;
  std::uint64_t zero_bytes = 0;
  std::vector<Relocation> relocations;

  std::uint64_t size() const { return bytes.size() + zero_bytes; }
};

/// A named position in a segment, such as a program scope variable that host code may look up.
struct Symbol {
  std::string name;
  Segment segment = Segment::Globals;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct Program {
  gen::Family family = gen::Family::Gen9;  // of machine code; for vISA text see KernelText
  Container container = Container::PatchTokens;
  std::uint32_t pointer_bytes = 8;
  std::string build_options;  // of the OpenCL compiler; "" if the container does not say
  std::vector<Kernel> kernels;
  std::array<SegmentData, segment_count> segments;
  std::vector<Symbol> symbols;

  SegmentData& segment(Segment s) { return segments[static_cast<std::size_t>(s)]; }
  const SegmentData& segment(Segment s) const { return segments[static_cast<std::size_t>(s)]; }
  const Kernel* find(std::string_view kernel) const;
  /// Whether groups at the ends of a range may be smaller: from OpenCL C 2.0 on, unless the options forbid
  /// it.
  bool allows_remainder() const;
};

/// Whether work-items may learn how they are grouped, other than by group and local ids: the kernel has
/// barriers or local memory, or asks for the size or number of groups. If not, groups may be smaller at the
/// ends of a range that comes without a local size.
bool observes_groups(const Kernel& kernel);
/// "" or why no launch of the kernel can work.
std::string cannot_run(const Kernel& kernel);
/// The target of the code: "Gen9", or for vISA text "registers of 64 bytes".
std::string target_name(const Program& program);
/// "no kernel x: expected one of a, b"
std::string no_such_kernel(const Program& program, std::string_view name);
/// "x: global const float*", or "#1: pointer" if the binary keeps no names.
std::string describe_argument(const Kernel& kernel, std::size_t index);
/// "a: float, x: global const float*, n: int"
std::string describe_arguments(const Kernel& kernel);

}  // namespace eum::rt
