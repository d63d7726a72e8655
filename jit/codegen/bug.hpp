#pragma once
// EngineBug: something that code generation relies on does not hold. A bug of ours, whatever the guest's code
// is.
#include <stdexcept>

namespace eum::jit::codegen {

struct EngineBug : std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace eum::jit::codegen
