// Optimisations by name: which can be disabled, and what a wrong name gives.
#include "jit/optimisations.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "jit/passes/passes.hpp"
#include "tests/jit/text_cases.hpp"

using namespace eum;
using namespace eum::jit;
using Names = std::vector<std::string>;

TEST_CASE("optimisations have names of their own, and by them each is disabled alone") {
  std::set<std::string_view> names{every_optimisation};
  for (const OptimisationInfo& row : optimisation_table) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.doc.empty());
    CHECK(Optimisations()[row.optimisation]);
    const auto left = without(Names{std::string(row.name)});
    REQUIRE(static_cast<bool>(left) == row.can_be_disabled());
    if (!left) continue;
    for (const OptimisationInfo& other : optimisation_table)
      CHECK((*left)[other.optimisation] == (other.optimisation != row.optimisation));
  }
}

TEST_CASE("several optimisations are disabled, or all; what is needed stays") {
  const auto two = without(Names{"linear", "distances"});
  REQUIRE(two);
  CHECK_FALSE((*two)[Optimisation::linear]);
  CHECK_FALSE((*two)[Optimisation::distances]);
  CHECK((*two)[Optimisation::forward_state]);
  CHECK(*two == *without(Names{"distances", "linear", "linear"}));
  const auto none = without(Names{"all"});
  REQUIRE(none);
  for (const OptimisationInfo& row : optimisation_table)
    CHECK((*none)[row.optimisation] == !row.can_be_disabled());
}

TEST_CASE("an optimisation that is unknown or needed is an error that lists the others") {
  const auto message = [](const std::string& name) {
    const auto left = without(Names{"linear", name});
    REQUIRE_FALSE(left);
    return left.error().message;
  };
  CHECK(message("speed") == "expected all or one of " + optimisation_names() + ", found 'speed'");
  CHECK(message("") == "expected all or one of " + optimisation_names() + ", found ''");
  CHECK(message("widen") ==
        "expected all or one of " + optimisation_names() + ", found widen, which is needed");
  CHECK(optimisation_names().find("expand_math") == std::string::npos);
  CHECK(optimisation_names().find("few_lanes") != std::string::npos);
}

TEST_CASE("a disabled pass does not run, and one that is needed does") {
  constexpr std::string_view text = R"(b0: ip 0x0 count 1
  %a = reg_read.f32x8 r1<1;1,0>
  %b = exp2.f32x8 %a
  %c = reg_read.f32x8 r1<1;1,0>
  %d = add.f32x8 %b, %c
  reg_write.f32x8 r2<1;1,0>, %d
  exit
)";
  const auto reads = [&](Optimisations optimisations) {
    ir::Function function = test::function_of_text(text);
    REQUIRE(run_pipeline(function, {.optimisations = optimisations, .verify = true}));
    std::size_t count = 0;
    for (const ir::Inst& inst : function.blocks[0].insts) {
      CHECK(inst.op != ir::Op::exp2);
      count += inst.op == ir::Op::reg_read;
    }
    return count;
  };
  CHECK(reads({}) == 1);
  CHECK(reads(*without(Names{"forward_state"})) == 2);
  CHECK(reads(*without(Names{"all"})) == 2);
}
