#pragma once
// Reads one kernel of the patch token container: its heaps and its token list, into a draft.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/loader/draft.hpp"
#include "runtime/loader/patch_token_list.hpp"

namespace eum::rt::patch {

// SExecutionEnvironment has HasSample after its sixth field from 1082 on.
inline constexpr std::uint32_t version_without_has_sample = 1081, version_with_has_sample = 1082;

/// Reads one kernel. The heaps must outlive it.
class KernelReader {
 public:
  KernelReader(std::uint32_t version, Bytes dynamic_heap, Bytes surface_heap)
      : version_(version), dynamic_heap_(dynamic_heap), surface_heap_(surface_heap) {}

  /// Walks the list once for what other tokens refer to (binding table, samplers), then once for everything.
  Result<void> read(std::string name, Bytes code, Bytes list);

  KernelDraft draft;               // not finished
  std::vector<Entry> symbols;      // PROGRAM_SYMBOL_TABLE
  std::vector<Entry> relocations;  // PROGRAM_RELOCATION_TABLE, in the kernel's code

 private:
  Result<void> read_binding_table(const Token& token);
  Result<void> read_samplers(const Token& token);
  // Tokens name surfaces by the offset of their state in the heap; the binding table contains the same
  // offsets.
  std::optional<std::uint8_t> binding_at(std::uint32_t surface_offset) const;
  void add_implicit_surface(PayloadItem item, std::uint32_t surface_offset, std::uint32_t offset,
                            std::uint32_t size);
  Result<void> read_token(const Token& token);
  Result<void> append_entries(const Token& token, std::size_t fields, std::vector<Entry>& to);
  Result<void> read_image(const Token& token);
  Result<void> read_sampler(const Token& token);
  Result<void> read_data_parameter(const Token& token);
  Result<void> read_environment(const Token& token);
  Result<void> read_argument_info(const Token& token);
  Result<void> read_string(const Token& token);

  std::uint32_t version_;
  Bytes dynamic_heap_;
  Bytes surface_heap_;
  std::string where_;
  std::vector<std::uint32_t> bindings_;  // surface state offset by binding table index
  std::uint32_t sampler_offset_ = 0;
  std::set<std::uint32_t> stateful_only_;
  bool private_per_thread_ = false;
  bool environment_seen_ = false;
  bool payload_seen_ = false;
};

}  // namespace eum::rt::patch
