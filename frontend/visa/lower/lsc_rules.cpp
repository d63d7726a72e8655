// The tables.
#include "frontend/visa/lower/lsc_rules.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "frontend/visa/lsc_form.hpp"

namespace eum::visa {
namespace {

using enum LscOp;
using U = eu::LscOperation;
using A = mem::AtomicOp;
using K = LscKind;

constexpr std::array op_rules{
    LscOpRule{load, K::Load, U::Load, {}},
    LscOpRule{load_strided, K::Load, U::LoadStrided, {}},
    LscOpRule{load_quad, K::Load, U::Load, U::TypedLoad},
    LscOpRule{load_block2d, K::Load, U::LoadBlock2d, U::TypedLoadBlock},
    LscOpRule{store, K::Store, U::Store, {}},
    LscOpRule{store_strided, K::Store, U::StoreStrided, {}},
    LscOpRule{store_quad, K::Store, U::Store, U::TypedStore},
    LscOpRule{store_block2d, K::Store, U::StoreBlock2d, U::TypedStoreBlock},
    LscOpRule{atomic_iinc, K::Atomic, U::Atomic, U::TypedAtomic, A::inc},
    LscOpRule{atomic_idec, K::Atomic, U::Atomic, U::TypedAtomic, A::dec},
    LscOpRule{atomic_load, K::Atomic, U::Atomic, U::TypedAtomic, A::load},
    LscOpRule{atomic_store, K::Atomic, U::Atomic, U::TypedAtomic, A::mov},
    LscOpRule{atomic_iadd, K::Atomic, U::Atomic, U::TypedAtomic, A::add},
    LscOpRule{atomic_isub, K::Atomic, U::Atomic, U::TypedAtomic, A::sub},
    LscOpRule{atomic_smin, K::Atomic, U::Atomic, U::TypedAtomic, A::imin},
    LscOpRule{atomic_smax, K::Atomic, U::Atomic, U::TypedAtomic, A::imax},
    LscOpRule{atomic_umin, K::Atomic, U::Atomic, U::TypedAtomic, A::umin},
    LscOpRule{atomic_umax, K::Atomic, U::Atomic, U::TypedAtomic, A::umax},
    LscOpRule{atomic_icas, K::Atomic, U::Atomic, U::TypedAtomic, A::cmpwr},
    LscOpRule{atomic_fadd, K::Atomic, U::Atomic, U::TypedAtomic, A::fadd},
    LscOpRule{atomic_fsub, K::Atomic, U::Atomic, U::TypedAtomic, A::fsub},
    LscOpRule{atomic_fmin, K::Atomic, U::Atomic, U::TypedAtomic, A::fmin},
    LscOpRule{atomic_fmax, K::Atomic, U::Atomic, U::TypedAtomic, A::fmax},
    LscOpRule{atomic_fcas, K::Atomic, U::Atomic, U::TypedAtomic, A::fcmpwr},
    LscOpRule{atomic_and, K::Atomic, U::Atomic, U::TypedAtomic, A::and_},
    LscOpRule{atomic_or, K::Atomic, U::Atomic, U::TypedAtomic, A::or_},
    LscOpRule{atomic_xor, K::Atomic, U::Atomic, U::TypedAtomic, A::xor_},
    LscOpRule{load_status, K::Load, U::Status, {}},
    LscOpRule{store_uncompressed, K::Store, U::Store, {}},
    LscOpRule{ccs_update, K::Other, {}, {}},
    LscOpRule{read_state_info, K::Other, {}, {}},
    LscOpRule{apndctr_atomic_add, K::Atomic, U::AppendCounter, {}, A::add},
    LscOpRule{apndctr_atomic_sub, K::Atomic, U::AppendCounter, {}, A::sub},
    LscOpRule{fence, K::Other, U::Fence, U::Fence},
};
static_assert(op_rules.size() == lsc_op_count);
static_assert(
    [] {
      for (std::size_t i = 0; i < op_rules.size(); ++i)
        if (op_rules[i].op != static_cast<LscOp>(i)) return false;
      return true;
    }(),
    "one row an operation, in the order of lsc_ops.def");

using enum LscDataSize;
using T = ir::Type;
// Vectors and atomics are those of 32 and 64 bits; atomics of 16 bits lie in dwords. Blocks: as many as the
// finaliser takes, transposed one whose rows of registers are at most so many.
constexpr std::array data_rules{
    //          size     memory  unit    high   vector atomic blocks transposed
    LscDataRule{d8, T::u8, T::u8, false, false, false, 4, 32},
    LscDataRule{d16, T::u16, T::u16, false, false, false, 4, 32},
    LscDataRule{d32, T::u32, T::u32, false, true, true, 2, 16},
    LscDataRule{d64, T::u64, T::u64, false, true, true, 1, 8},
    LscDataRule{d8u32, T::u8, T::u32, false, false, false, 0, 0},
    LscDataRule{d16u32, T::u16, T::u32, false, false, true, 0, 0},
    LscDataRule{d16u32h, T::u16, T::u32, true, false, false, 0, 0},
};
static_assert(data_rules.size() + 1 == std::size(lsc_data_size_names));

struct CachingRule {
  LscCaching l1, l3;
  bool loads, stores, atomics;
};
using enum LscCaching;
// The document's table; atomics, of which it is silent, do not use the first level.
constexpr std::array caching_rules{
    //          L1  L3  loads  stores atomics
    CachingRule{df, df, true, true, true},   CachingRule{uc, uc, true, true, true},
    CachingRule{st, uc, true, true, false},  CachingRule{uc, ca, true, false, false},
    CachingRule{ca, uc, true, false, false}, CachingRule{ca, ca, true, false, false},
    CachingRule{st, ca, true, false, false}, CachingRule{ri, ca, true, false, false},
    CachingRule{uc, wb, false, true, true},  CachingRule{wt, uc, false, true, false},
    CachingRule{wt, wb, false, true, false}, CachingRule{st, wb, false, true, false},
    CachingRule{wb, wb, false, true, false},
};

using S = LscAddressSize;
constexpr LscAddressSize narrow[] = {S::a16, S::a32}, wide[] = {S::a32, S::a64};
struct AddressRule {
  LscUnit unit;
  LscAddressModel model;
  std::span<const LscAddressSize> sizes;
};
constexpr AddressRule address_rules[] = {
    {LscUnit::ugm, LscAddressModel::flat, wide}, {LscUnit::ugm, LscAddressModel::bss, wide},
    {LscUnit::ugm, LscAddressModel::ss, wide},   {LscUnit::ugm, LscAddressModel::bti, wide},
    {LscUnit::ugm, LscAddressModel::arg, wide},  {LscUnit::ugml, LscAddressModel::flat, wide},
    {LscUnit::ugml, LscAddressModel::bss, wide}, {LscUnit::ugml, LscAddressModel::ss, wide},
    {LscUnit::ugml, LscAddressModel::bti, wide}, {LscUnit::slm, LscAddressModel::flat, narrow},
    {LscUnit::tgm, LscAddressModel::bss, wide},  {LscUnit::tgm, LscAddressModel::ss, wide},
    {LscUnit::tgm, LscAddressModel::bti, wide},
};

}  // namespace

const LscOpRule& rule(LscOp op) { return op_rules[static_cast<std::size_t>(op)]; }

const LscDataRule& rule(LscDataSize size) { return data_rules[static_cast<std::size_t>(size) - 1]; }

bool allows(LscKind kind, LscCaching l1, LscCaching l3) {
  const auto row =
      std::ranges::find_if(caching_rules, [&](const CachingRule& r) { return r.l1 == l1 && r.l3 == l3; });
  if (row == caching_rules.end()) return false;
  return kind == LscKind::Load ? row->loads : kind == LscKind::Atomic ? row->atomics : row->stores;
}

std::span<const LscAddressSize> address_sizes(LscUnit unit, LscAddressModel model) {
  for (const AddressRule& row : address_rules)
    if (row.unit == unit && row.model == model) return row.sizes;
  return {};
}

}  // namespace eum::visa
