// The tables of lsc_rules.hpp.
#include "frontend/visa/lower/lsc_rules.hpp"

#include <algorithm>
#include <iterator>

#include "frontend/visa/lsc_form.hpp"

namespace eum::visa {
namespace {

using enum LscOp;
using U = eu::LscOperation;
using A = mem::AtomicOp;
using K = LscKind;

constexpr LscOpRule op_rules[] = {
    {load, K::Load, U::Load, {}},
    {load_strided, K::Load, U::LoadStrided, {}},
    {load_quad, K::Load, U::Load, U::TypedLoad},
    {load_block2d, K::Load, U::LoadBlock2d, U::TypedLoadBlock},
    {store, K::Store, U::Store, {}},
    {store_strided, K::Store, U::StoreStrided, {}},
    {store_quad, K::Store, U::Store, U::TypedStore},
    {store_block2d, K::Store, U::StoreBlock2d, U::TypedStoreBlock},
    {atomic_iinc, K::Atomic, U::Atomic, U::TypedAtomic, A::inc},
    {atomic_idec, K::Atomic, U::Atomic, U::TypedAtomic, A::dec},
    {atomic_load, K::Atomic, U::Atomic, U::TypedAtomic, A::load},
    {atomic_store, K::Atomic, U::Atomic, U::TypedAtomic, A::mov},
    {atomic_iadd, K::Atomic, U::Atomic, U::TypedAtomic, A::add},
    {atomic_isub, K::Atomic, U::Atomic, U::TypedAtomic, A::sub},
    {atomic_smin, K::Atomic, U::Atomic, U::TypedAtomic, A::imin},
    {atomic_smax, K::Atomic, U::Atomic, U::TypedAtomic, A::imax},
    {atomic_umin, K::Atomic, U::Atomic, U::TypedAtomic, A::umin},
    {atomic_umax, K::Atomic, U::Atomic, U::TypedAtomic, A::umax},
    {atomic_icas, K::Atomic, U::Atomic, U::TypedAtomic, A::cmpwr},
    {atomic_fadd, K::Atomic, U::Atomic, U::TypedAtomic, A::fadd},
    {atomic_fsub, K::Atomic, U::Atomic, U::TypedAtomic, A::fsub},
    {atomic_fmin, K::Atomic, U::Atomic, U::TypedAtomic, A::fmin},
    {atomic_fmax, K::Atomic, U::Atomic, U::TypedAtomic, A::fmax},
    {atomic_fcas, K::Atomic, U::Atomic, U::TypedAtomic, A::fcmpwr},
    {atomic_and, K::Atomic, U::Atomic, U::TypedAtomic, A::and_},
    {atomic_or, K::Atomic, U::Atomic, U::TypedAtomic, A::or_},
    {atomic_xor, K::Atomic, U::Atomic, U::TypedAtomic, A::xor_},
    {load_status, K::Load, U::Status, {}},
    {store_uncompressed, K::Store, U::Store, {}},
    {ccs_update, K::Other, {}, {}},
    {read_state_info, K::Other, {}, {}},
    {apndctr_atomic_add, K::Atomic, U::AppendCounter, {}, A::add},
    {apndctr_atomic_sub, K::Atomic, U::AppendCounter, {}, A::sub},
    {fence, K::Other, U::Fence, U::Fence},
};
static_assert(std::size(op_rules) == lsc_op_count);
static_assert(
    [] {
      for (std::size_t i = 0; i < std::size(op_rules); ++i)
        if (op_rules[i].op != static_cast<LscOp>(i)) return false;
      return true;
    }(),
    "one row an operation, in the order of lsc_ops.def");

using enum LscDataSize;
using T = ir::Type;
// Vectors and atomics have 32 or 64 bits; 16-bit atomics are held in dwords. Blocks: the finaliser's maximum
// number. Transposed: its maximum width of the single block.
constexpr LscDataRule data_rules[] = {
    // size, memory, unit, high half, vectors, atomics, blocks, transposed
    {d8, T::u8, T::u8, false, false, false, 4, 32},       //
    {d16, T::u16, T::u16, false, false, false, 4, 32},    //
    {d32, T::u32, T::u32, false, true, true, 2, 16},      //
    {d64, T::u64, T::u64, false, true, true, 1, 8},       //
    {d8u32, T::u8, T::u32, false, false, false, 0, 0},    //
    {d16u32, T::u16, T::u32, false, false, true, 0, 0},   //
    {d16u32h, T::u16, T::u32, true, false, false, 0, 0},  //
};
static_assert(std::size(data_rules) + 1 == std::size(lsc_data_size_names));

struct CachingRule {
  LscCaching l1, l3;
  bool loads, stores, atomics;
};
using enum LscCaching;
// The document's table; it does not mention atomics, which do not use the first level.
constexpr CachingRule caching_rules[] = {
    // L1, L3, loads, stores, atomics
    {df, df, true, true, true},    //
    {uc, uc, true, true, true},    //
    {st, uc, true, true, false},   //
    {uc, ca, true, false, false},  //
    {ca, uc, true, false, false},  //
    {ca, ca, true, false, false},  //
    {st, ca, true, false, false},  //
    {ri, ca, true, false, false},  //
    {uc, wb, false, true, true},   //
    {wt, uc, false, true, false},  //
    {wt, wb, false, true, false},  //
    {st, wb, false, true, false},  //
    {wb, wb, false, true, false},  //
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
  if (row == std::end(caching_rules)) return false;
  return kind == LscKind::Load ? row->loads : kind == LscKind::Atomic ? row->atomics : row->stores;
}

std::span<const LscAddressSize> address_sizes(LscUnit unit, LscAddressModel model) {
  for (const AddressRule& row : address_rules)
    if (row.unit == unit && row.model == model) return row.sizes;
  return {};
}

}  // namespace eum::visa
