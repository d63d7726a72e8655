#pragma once
// EngineBug: an invariant of code generation does not hold. This is a bug of the engine, whatever the guest's
// code is.
#include <stdexcept>

namespace eum::jit::codegen {

struct EngineBug : std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace eum::jit::codegen
