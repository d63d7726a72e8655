#pragma once
// The instructions of vISA: one per row of opcodes.def; their syntax is in rows of forms.def.
#include <cstdint>

namespace eum::visa {

enum class Opcode : std::uint8_t {
#define VISA_OPCODE(name, ...) name,
#include "frontend/visa/opcodes.def"
#undef VISA_OPCODE
};

}  // namespace eum::visa
