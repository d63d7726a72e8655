#pragma once
// Closure: a callable whose captures are in an arena, which must outlive it. Translation makes thousands of
// them, and copies none.
#include <memory_resource>
#include <utility>

namespace eum::jit::codegen {

class Closure {
 public:
  template <class Call>
  Closure(std::pmr::memory_resource& arena, Call call)
      : captures_(new (arena.allocate(sizeof(Call), alignof(Call))) Call(std::move(call))),
        call_([](void* captures) { (*static_cast<Call*>(captures))(); }),
        destroy_([](void* captures) { static_cast<Call*>(captures)->~Call(); }) {}
  Closure(Closure&& other) noexcept
      : captures_(std::exchange(other.captures_, nullptr)), call_(other.call_), destroy_(other.destroy_) {}
  Closure& operator=(Closure&&) = delete;
  ~Closure() {
    if (captures_ != nullptr) destroy_(captures_);
  }

  void operator()() const { call_(captures_); }

 private:
  void* captures_;
  void (*call_)(void*);
  void (*destroy_)(void*);
};

}  // namespace eum::jit::codegen
