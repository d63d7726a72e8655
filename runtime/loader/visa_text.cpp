// Joins each kernel of a text with its draft, and checks that both come from the same compile.
#include "runtime/loader/visa_text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "frontend/visa/kernel.hpp"
#include "frontend/visa/lower/lower.hpp"
#include "frontend/visa/parser.hpp"

namespace eum::rt {
namespace {

Error at(const std::string& name, const visa::Location& where, const Error& error) {
  return Error{fmt::format("{}:{}:{}: {}", name, where.line, where.column, error.message), error.cause};
}

/// For each kernel or function of a module, the first name of a variable whose address it takes and that
/// nothing defines; empty: there is none. Names used by functions count for kernels too, which may call them.
std::vector<std::string> undefined_names(const visa::Module& module, const Program& program) {
  std::set<std::string_view> defined;
  for (const Symbol& symbol : program.symbols) defined.insert(symbol.name);
  for (const visa::Kernel& kernel : module.kernels) defined.insert(kernel.name);
  std::vector<std::string> names(module.kernels.size());
  std::string of_functions;
  for (std::size_t k = 0; k < module.kernels.size(); ++k) {
    const visa::Kernel& kernel = module.kernels[k];
    for (const visa::Instruction& inst : kernel.instructions) {
      if (inst.opcode != visa::Opcode::faddr) continue;
      const std::string& name = kernel.strings[kernel.operands_of(inst)[0].variable];
      if (names[k].empty() && !defined.contains(name)) names[k] = name;
    }
    if (kernel.is_function && of_functions.empty()) of_functions = names[k];
  }
  for (std::string& name : names)
    if (name.empty()) name = of_functions;
  return names;
}

std::string names_of(const std::vector<KernelDraft>& drafts) {
  std::string names;
  for (const KernelDraft& draft : drafts) names += (names.empty() ? "" : ", ") + draft.kernel.name;
  return names.empty() ? "no kernel" : names;
}

/// Number of inputs that begin where a patch does, if the cross-thread data begins at byte `begin`.
std::size_t inputs_at_patches(const visa::Kernel& kernel, const KernelDraft& draft, std::uint32_t begin) {
  std::set<std::uint32_t> starts;
  for (const auto& [index, argument] : draft.arguments)
    for (const Patch& patch : argument.patches) starts.insert(begin + patch.offset);
  for (const Patch& patch : draft.kernel.implicit) starts.insert(begin + patch.offset);
  return static_cast<std::size_t>(
      std::count_if(kernel.inputs.begin(), kernel.inputs.end(),
                    [&](const visa::Input& input) { return starts.contains(input.offset); }));
}

/// Checks that each input lies where the dispatch stores something.
Result<void> check_inputs(const ParsedText& text, const visa::Kernel& kernel, const Kernel& made) {
  const std::uint64_t payload =
      std::uint64_t{made.text.grf_bytes} + made.per_thread_bytes + made.cross_thread_bytes;
  for (const visa::Input& input : kernel.inputs) {
    const visa::Variable& variable = kernel.variables[input.variable];
    const std::uint64_t size = input.size != 0 ? input.size : variable.bytes();
    if (input.offset + size > payload)
      return at(text.name, input.location,
                error("kernel {}: expected inputs within the {} bytes of payload that the arguments make, "
                      "found {} at bytes {} to {}: text and arguments are not of one compile",
                      kernel.name, payload, variable.name, input.offset, input.offset + size));
  }
  return {};
}

}  // namespace

Result<ParsedText> parse_text(std::string name, std::string source) {
  auto module = visa::parse(source);
  if (!module) return Error{fmt::format("{}:{}", name, module.error().message), module.error().cause};
  if (std::none_of(module->kernels.begin(), module->kernels.end(),
                   [](const visa::Kernel& kernel) { return !kernel.is_function; }))
    return error("{}: expected a kernel, found functions alone", name);
  return ParsedText{std::move(name), std::make_shared<const visa::Module>(std::move(*module)),
                    std::move(source)};
}

Result<unsigned> register_bytes(const std::vector<ParsedText>& texts) {
  unsigned bytes = 0;
  for (const ParsedText& text : texts)
    for (const visa::Kernel& kernel : text.module->kernels) {
      if (kernel.is_function || kernel.name == function_kernel_name) continue;
      const unsigned found = visa::register_bytes(kernel);
      if (bytes != 0 && found != bytes)
        return error("{}: kernel {}: expected registers of {} bytes as in the kernels before, found {}",
                     text.name, kernel.name, bytes, found);
      bytes = found;
    }
  return bytes;
}

namespace {

/// Joins kernels with drafts, text by text.
class Joiner {
 public:
  Joiner(std::vector<KernelDraft> drafts, unsigned grf_bytes, std::string_view arguments, Program& program)
      : described_(names_of(drafts)),
        drafts_(std::move(drafts)),
        grf_bytes_(grf_bytes),
        arguments_(arguments),
        program_(program) {
    for (KernelDraft& draft : drafts_) by_name_.emplace(draft.kernel.name, Candidate{&draft, {}, 0, 0});
  }

  Result<void> add(ParsedText text) {
    const auto shared = std::make_shared<const ParsedText>(std::move(text));
    for (std::size_t k = 0; k < shared->module->kernels.size(); ++k) {
      const visa::Kernel& kernel = shared->module->kernels[k];
      if (kernel.is_function || kernel.name == function_kernel_name) continue;
      const auto found = by_name_.find(kernel.name);
      if (found == by_name_.end())
        return error("{}: kernel {}: expected one of those that {} describes ({})", shared->name, kernel.name,
                     arguments_, described_);
      const auto simd = visa::simd_size(kernel);
      if (!simd) return error("{}: kernel {}: {}", shared->name, kernel.name, simd.error().message);
      Candidate& candidate = found->second;
      candidate.found = *simd;
      if (*simd != candidate.draft->kernel.simd_size) continue;
      if (candidate.text == nullptr) order_.push_back(&candidate);
      candidate.text = shared;
      candidate.kernel = k;
    }
    return {};
  }

  Result<void> finish_all() {
    for (const auto& [name, candidate] : by_name_)
      if (candidate.text == nullptr && candidate.found != 0)
        return error("kernel {}: expected text for SIMD{} as in {}, found SIMD{}", name,
                     candidate.draft->kernel.simd_size, arguments_, candidate.found);
    for (Candidate* candidate : order_)
      if (auto done = finish_one(*candidate); !done) return done;
    return {};
  }

 private:
  struct Candidate {
    KernelDraft* draft;
    std::shared_ptr<const ParsedText> text;  // null: no text has the draft's SIMD size
    std::size_t kernel;                      // index in the text
    unsigned found;                          // SIMD size of the last text with this name; 0: no text
  };
  struct File {
    std::shared_ptr<const TextFile> file;
    std::vector<std::string> undefined;  // by kernel
  };

  File& file_of(const ParsedText& text) {
    File& file = files_[&text];
    if (!file.file) {
      file.file = std::make_shared<const TextFile>(TextFile{text.source, text.module});
      file.undefined = undefined_names(*text.module, program_);
    }
    return file;
  }

  Result<void> finish_one(Candidate& candidate) {
    const ParsedText& text = *candidate.text;
    const visa::Kernel& kernel = text.module->kernels[candidate.kernel];
    KernelDraft draft = std::move(*candidate.draft);
    const auto target = visa::target(*text.module, candidate.kernel, grf_bytes_);
    if (!target) return error("{}: kernel {}: {}", text.name, kernel.name, target.error().message);
    const File& file = file_of(text);
    draft.kernel.text = {file.file, static_cast<std::uint32_t>(candidate.kernel),
                         static_cast<std::uint32_t>(kernel.instructions.size()), grf_bytes_};
    draft.kernel.grf_count = target->grf_count;
    // The text does not name the GPU that it was written for: choose the layout that matches more inputs.
    if (draft.kernel.local_ids.rows() == 0)
      draft.data_behind_header =
          inputs_at_patches(kernel, draft, grf_bytes_) > inputs_at_patches(kernel, draft, 2 * grf_bytes_);
    if (const std::string& name = file.undefined[candidate.kernel]; !name.empty())
      draft.reject(fmt::format(
          "it takes the address of {}, of which {} says nothing; a zebin of the same compile does", name,
          arguments_));
    auto made = finish(std::move(draft), {grf_bytes_, target->grf_count});
    if (!made) return error("{}: {}", arguments_, made.error().message);
    if (auto good = check_inputs(text, kernel, *made); !good) return good;
    program_.kernels.push_back(std::move(*made));
    return {};
  }

  const std::string described_;
  std::vector<KernelDraft> drafts_;
  const unsigned grf_bytes_;
  const std::string_view arguments_;
  Program& program_;
  std::map<std::string, Candidate> by_name_;
  std::vector<Candidate*> order_;
  std::map<const ParsedText*, File> files_;
};

}  // namespace

Result<void> add_text_kernels(std::vector<ParsedText> texts, std::vector<KernelDraft> drafts,
                              unsigned grf_bytes, std::string_view arguments, Program& program) {
  program.container = Container::Visa;
  Joiner joiner(std::move(drafts), grf_bytes, arguments, program);
  for (ParsedText& text : texts)
    if (auto added = joiner.add(std::move(text)); !added) return added;
  return joiner.finish_all();
}

}  // namespace eum::rt
