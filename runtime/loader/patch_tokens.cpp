// The program level of patch tokens: headers, constant and global data, and references between kernels.
#include "runtime/loader/patch_tokens.hpp"

#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/loader/gpu_ids.hpp"
#include "runtime/loader/patch_kernel.hpp"

namespace eum::rt {
namespace {

using patch::Bytes;
using patch::dword;
using patch::Token;

constexpr std::uint32_t magic = 0x494e5443;  // "CTNI" in memory
constexpr std::size_t program_header_bytes = 28, kernel_header_bytes = 40;

// Types in a symbol table (GenSymType).
enum SymbolType : std::uint32_t { Undefined = 1, Function = 2, GlobalVariable = 3, ConstantVariable = 4 };

// A relocation in a kernel's code; its symbol may be defined later in the file.
struct PendingRelocation {
  std::size_t kernel;
  Relocation::Kind kind;
  std::uint32_t offset;
  std::string symbol;
};

class ProgramReader {
 public:
  Result<Program> read(Bytes binary, Container container) {
    if (binary.size() < program_header_bytes) {
      return error("patch tokens: the program header has {} bytes, {} are there", program_header_bytes,
                   binary.size());
    }
    program_.container = container;
    version_ = dword(binary, 1);
    if (version_ != patch::version_without_has_sample && version_ != patch::version_with_has_sample) {
      return error("patch tokens: version {}, expected {} or {}", version_, patch::version_without_has_sample,
                   patch::version_with_has_sample);
    }
    const auto family = family_of_core(dword(binary, 2));
    if (!family) return family.error();
    program_.family = *family;
    program_.pointer_bytes = dword(binary, 3);
    if (program_.pointer_bytes != 4 && program_.pointer_bytes != 8) {
      return error("patch tokens: GPU pointers of {} bytes, expected 4 or 8", program_.pointer_bytes);
    }
    const std::uint32_t kernels = dword(binary, 4), list = dword(binary, 6);
    Bytes rest = binary.subspan(program_header_bytes);
    if (list > rest.size()) {
      return error("patch tokens: a program patch list of {} bytes, {} are left", list, rest.size());
    }
    if (auto done = read_program_tokens(rest.first(list)); !done) return done.error();
    rest = rest.subspan(list);
    for (std::uint32_t k = 0; k < kernels; ++k) {
      if (auto done = read_kernel(k, kernels, rest); !done) return done.error();
    }
    return finish_program();
  }

 private:
  Result<void> read_program_tokens(Bytes list) {
    const auto tokens = patch::read_tokens(list, "program");
    if (!tokens) return tokens.error();
    for (const Token& token : *tokens) {
      switch (token.number) {
        case patch::ALLOCATE_GLOBAL_MEMORY_SURFACE_PROGRAM_BINARY_INFO:
        case patch::ALLOCATE_CONSTANT_MEMORY_SURFACE_PROGRAM_BINARY_INFO: {
          SegmentData& segment = program_.segment(segment_of_surface(token.number));
          if (!segment.bytes.empty()) return error("program: two tokens {}", token.row->name);
          segment.bytes.assign(token.inline_data.begin(), token.inline_data.end());
          break;
        }
        case patch::GLOBAL_POINTER_PROGRAM_BINARY_INFO:
        case patch::CONSTANT_POINTER_PROGRAM_BINARY_INFO:
          pointers_.push_back(token);
          break;
        case patch::GLOBAL_HOST_ACCESS_TABLE:
          break;
        default:
          return error("program: patch token {} {}, which is not emulated", token.number,
                       token.row != nullptr ? token.row->name : "(unknown)");
      }
    }
    for (const Token& token : pointers_) {
      if (auto done = read_pointer(token); !done) return done;
    }
    return {};
  }

  static Segment segment_of_surface(std::uint32_t number) {
    return number == patch::ALLOCATE_GLOBAL_MEMORY_SURFACE_PROGRAM_BINARY_INFO ? Segment::Globals
                                                                               : Segment::Constants;
  }

  // A pointer in initial data: the stored value is an offset in the surface that it points to.
  Result<void> read_pointer(const Token& token) {
    constexpr std::uint32_t to_global = 0, to_constant = 1;
    SegmentData& holder = program_.segment(
        token.number == patch::GLOBAL_POINTER_PROGRAM_BINARY_INFO ? Segment::Globals : Segment::Constants);
    const std::uint64_t offset = token[1] | std::uint64_t{token[2]} << 32;
    const std::uint32_t target = token[3], bytes = program_.pointer_bytes;
    if (offset > holder.bytes.size() || bytes > holder.bytes.size() - offset || target > to_constant) {
      return error("program: {} at {} of {} bytes, into surface {}", token.row->name, offset,
                   holder.bytes.size(), target);
    }
    Relocation r;
    r.kind = bytes == 8 ? Relocation::Kind::Address64 : Relocation::Kind::AddressLow32;
    r.segment = target == to_global ? Segment::Globals : Segment::Constants;
    r.offset = offset;
    std::memcpy(&r.addend, holder.bytes.data() + offset, bytes);
    holder.relocations.push_back(r);
    return {};
  }

  Result<void> read_kernel(std::uint32_t index, std::uint32_t count, Bytes& rest) {
    if (rest.size() < kernel_header_bytes) {
      return error("patch tokens: kernel {} of {}: its header has {} bytes, {} are left", index, count,
                   kernel_header_bytes, rest.size());
    }
    const std::uint32_t name_bytes = dword(rest, 3), list_bytes = dword(rest, 4), code_bytes = dword(rest, 5),
                        general_bytes = dword(rest, 6), dynamic_bytes = dword(rest, 7),
                        surface_bytes = dword(rest, 8), unpadded_bytes = dword(rest, 9);
    rest = rest.subspan(kernel_header_bytes);
    const std::uint64_t total =
        std::uint64_t{name_bytes} + code_bytes + general_bytes + dynamic_bytes + surface_bytes + list_bytes;
    if (total > rest.size() || unpadded_bytes > code_bytes) {
      return error("patch tokens: kernel {} of {}: {} bytes ({} of {} code), {} are left", index, count,
                   total, unpadded_bytes, code_bytes, rest.size());
    }
    const auto take = [&rest](std::uint32_t bytes) {
      const Bytes taken = rest.first(bytes);
      rest = rest.subspan(bytes);
      return taken;
    };
    std::string name = patch::text_of(take(name_bytes));
    const Bytes code = take(code_bytes).first(unpadded_bytes);
    take(general_bytes);
    const Bytes dynamic_heap = take(dynamic_bytes);
    const Bytes surface_heap = take(surface_bytes);
    const Bytes list = take(list_bytes);

    patch::KernelReader reader(version_, dynamic_heap, surface_heap);
    if (auto done = reader.read(std::move(name), code, list); !done) return done;
    const bool is_kernel = reader.draft.kernel.name != function_kernel_name;
    for (const patch::Entry& entry : reader.relocations) {
      if (const auto kind = relocation_kind(entry.type); kind && is_kernel) {
        pending_.push_back({drafts_.size(), *kind, entry.offset, entry.name});
      } else {
        reader.draft.reject(fmt::format("it has a relocation of type {} to {}", entry.type, entry.name));
      }
    }
    for (const patch::Entry& entry : reader.symbols) {
      switch (entry.type) {
        case Function:
          program_.symbols.push_back({entry.name, Segment::Functions, entry.offset, entry.size});
          break;
        case GlobalVariable:
          program_.symbols.push_back({entry.name, Segment::Globals, entry.offset, entry.size});
          break;
        case ConstantVariable:
          program_.symbols.push_back({entry.name, Segment::Constants, entry.offset, entry.size});
          break;
        default:
          break;
      }
    }
    if (is_kernel) {
      drafts_.push_back(std::move(reader.draft));
    } else {
      program_.segment(Segment::Functions).bytes = std::move(reader.draft.kernel.code);
    }
    return {};
  }

  Result<Program> finish_program() {
    std::map<std::string_view, const Symbol*> symbols;
    for (const Symbol& s : program_.symbols) symbols.emplace(s.name, &s);
    for (const PendingRelocation& r : pending_) {
      KernelDraft& draft = drafts_[r.kernel];
      if (const auto found = symbols.find(r.symbol); found != symbols.end()) {
        const Symbol& symbol = *found->second;
        draft.kernel.relocations.push_back({r.kind, symbol.segment, r.offset, symbol.offset});
      } else {
        draft.reject(fmt::format("it refers to {}, which the program does not define", r.symbol));
      }
    }
    for (KernelDraft& draft : drafts_) {
      auto kernel = finish(std::move(draft), program_.family);
      if (!kernel) return kernel.error();
      program_.kernels.push_back(std::move(*kernel));
    }
    return std::move(program_);
  }

  Program program_;
  std::uint32_t version_ = 0;
  std::vector<Token> pointers_;
  std::vector<KernelDraft> drafts_;
  std::vector<PendingRelocation> pending_;
};

}  // namespace

bool looks_like_patch_tokens(Bytes binary) { return binary.size() >= 4 && dword(binary, 0) == magic; }

Result<Program> load_patch_tokens(Bytes binary, Container container) {
  return ProgramReader().read(binary, container);
}

}  // namespace eum::rt
