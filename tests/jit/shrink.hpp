#pragma once
// Makes a failing function smaller while it keeps failing.
#include <functional>

#include "frontend/ir/function.hpp"

namespace eum::jit::test {

/// `fails` must hold for `function`; it is asked about well-formed functions only.
ir::Function shrink(const ir::Function& function, const std::function<bool(const ir::Function&)>& fails);

}  // namespace eum::jit::test
