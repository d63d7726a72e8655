// From op to emitter: rows of AVX2 and those that replace them.
#include "jit/avx2/emit/pick.hpp"
#include "jit/avx512/emit/emit.hpp"

namespace eum::jit::avx512::emit {
namespace {

constexpr avx2::emit::Table with_own_rows() {
  avx2::emit::Table rows = avx2::emit::native_table();
#define AVX512_EMITTER(name) rows[static_cast<std::size_t>(ir::Op::name)] = &emit_##name;
#include "jit/avx512/emit/rows.def"
#undef AVX512_EMITTER
  return rows;
}

}  // namespace

constinit const avx2::emit::Table table = with_own_rows();

}  // namespace eum::jit::avx512::emit
