// Lookups in gpu_ids.def.
#include "runtime/loader/gpu_ids.hpp"

#include <array>
#include <string>
#include <string_view>

namespace eum::rt {
namespace {

struct Core {
  std::uint32_t number;
  std::string_view name;
};

constexpr auto cores = std::to_array<Core>({
#define GPU_CORE(number, name) {number, name},
#define GPU_PRODUCT(...)
#include "runtime/loader/gpu_ids.def"
#undef GPU_CORE
#undef GPU_PRODUCT
});

struct Product {
  std::uint32_t number;
  std::string_view name;
  std::uint32_t core;
};

constexpr auto products = std::to_array<Product>({
#define GPU_CORE(...)
#define GPU_PRODUCT(number, name, core) {number, name, core},
#include "runtime/loader/gpu_ids.def"
#undef GPU_CORE
#undef GPU_PRODUCT
});

constexpr const Core* find_core(std::uint32_t number) {
  for (const Core& core : cores) {
    if (core.number == number) return &core;
  }
  return nullptr;
}

constexpr bool every_product_has_a_core() {
  for (const Product& product : products) {
    if (find_core(product.core) == nullptr) return false;
  }
  return true;
}
static_assert(every_product_has_a_core(), "a GPU_PRODUCT row names a core without a GPU_CORE row");

std::string known_families() {
  std::string names;
  for (const gen::FamilyInfo& family : gen::family_table) {
    if (!names.empty()) names += ", ";
    names += family.name;
  }
  return names;
}

Result<gen::Family> family_of(const Core& core, std::string_view product) {
  if (const auto family = gen::parse_family(core.name)) return *family;
  return error("the binary is for {}{}{}; supported are: {}", product, product.empty() ? "" : ", ", core.name,
               known_families());
}

}  // namespace

Result<gen::Family> family_of_core(std::uint32_t core) {
  if (const Core* found = find_core(core)) return family_of(*found, "");
  return error("the binary is for unknown GPU core {}; supported are: {}", core, known_families());
}

Result<gen::Family> family_of_product(std::uint32_t product) {
  for (const Product& p : products) {
    if (p.number == product) return family_of(*find_core(p.core), p.name);
  }
  return error("the binary is for unknown GPU product {}; supported are: {}", product, known_families());
}

}  // namespace eum::rt
