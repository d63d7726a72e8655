#pragma once
// Text of floating-point immediates as iga64 writes them: decimal if it reads back exactly, else the bits in
// hex. It must not depend on the locale.
#include <cstdint>
#include <string>

namespace eum::gen {

std::string float_text(double value, std::uint64_t bits);  ///< df
std::string float_text(float value, std::uint32_t bits);   ///< f
std::string half_text(std::uint16_t bits);                 ///< hf

}  // namespace eum::gen
