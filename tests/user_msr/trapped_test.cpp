// Classification of a trap while another thread rewrites the site: every interleaving of the reads of its
// bytes, its entry and the clock with the steps of a patch and of its removal.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <vector>

#include "frontend/x86/encoder.hpp"
#include "runtime/user_msr/native/patcher.hpp"
#include "runtime/user_msr/native/trapped.hpp"

using namespace eum;
using namespace eum::rt::native;
using x86::Form;
using x86::Instruction;

namespace {

constexpr std::uint64_t address = 0x401000;

/// A site and a program's memory at each moment, step by step, in the order of patcher.cpp.
class History {
 public:
  /// `displacement` is chosen so that mixtures of the two instructions are valid instructions, but different
  /// ones.
  History(const Instruction& instruction, std::int32_t displacement) {
    REQUIRE(sites_.create());
    x86::Encoded encoded = x86::encode(instruction);
    original_.assign(encoded.view().begin(), encoded.view().end());
    original_.resize(x86::max_length, 0x90);
    site_ = sites_.add(address, [&](Site& site) {
      site.length = encoded.length;
      site.instruction = instruction;
      std::ranges::copy(encoded.view(), site.original.begin());
    });
    REQUIRE(site_);
    std::uint64_t stub = address + jump_bytes + static_cast<std::uint64_t>(std::int64_t{displacement});
    jump_ = original_;
    jump_[0] = jump_opcode;
    for (unsigned i = 0; i < 4; ++i)
      jump_[1 + i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(displacement) >> (8 * i));
    moments_.push_back({original_, 0, SiteState::Known, 0});
    step([&](Moment& m) { m.stub = stub; });
  }

  /// `tail_steps`: the number of steps in which the bytes after the first are written.
  void patch(int tail_steps) { rewrite(jump_, tail_steps, SiteState::Patched); }
  void restore(int tail_steps) { rewrite(original_, tail_steps, SiteState::Known); }

  int moments() const { return static_cast<int>(moments_.size()); }
  void set_moment(int m) {
    site_->stub = at(m).stub;
    site_->state = at(m).state;
  }
  std::uint8_t byte(int m, std::size_t i) const { return at(m).bytes[i]; }
  std::uint64_t time(int m) const { return at(m).time; }
  SiteTable& sites() { return sites_; }
  const Site& site() const { return *site_; }

 private:
  struct Moment {
    std::vector<std::uint8_t> bytes;
    std::uint64_t stub;
    SiteState state;
    std::uint64_t time;
  };
  const Moment& at(int m) const { return moments_[static_cast<std::size_t>(m)]; }
  template <class Change>
  void step(Change change) {
    moments_.push_back(moments_.back());
    change(moments_.back());
  }
  void rewrite(const std::vector<std::uint8_t>& to, int tail_steps, SiteState after) {
    step([](Moment& m) { m.state = SiteState::Patching; });
    step([](Moment& m) { ++m.time; });
    step([](Moment& m) { m.bytes[0] = trap_byte; });
    for (int i = 0; i < tail_steps; ++i)
      step([&](Moment& m) {
        for (std::size_t k = 1; k < jump_bytes; ++k)
          if (static_cast<int>(k - 1) * tail_steps / 4 == i) m.bytes[k] = to[k];
      });
    step([&](Moment& m) { m.bytes[0] = to[0]; });
    step([](Moment& m) { ++m.time; });
    step([&](Moment& m) { m.state = after; });
  }

  SiteTable sites_;
  Site* site_ = nullptr;
  std::vector<std::uint8_t> original_, jump_;
  std::vector<Moment> moments_;
};

/// The moment of each read: the clock, the five bytes that change, the entry of the site, the clock again.
using Schedule = std::array<int, jump_bytes + 3>;

/// Reads by a schedule. Any later reads see the last moment.
class ScheduledReads {
 public:
  ScheduledReads(History& history, const Schedule& schedule) : history_(history), schedule_(schedule) {}

  std::uint64_t now() const {
    std::size_t read = clock_reads_++;
    return history_.time(read == 0 ? schedule_.front() : read == 1 ? schedule_.back() : last());
  }
  std::size_t operator()(std::uint64_t, std::span<std::uint8_t> to) {
    bool is_first = code_reads_++ == 0;
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = history_.byte(is_first ? schedule_[1 + std::min(i, jump_bytes - 1)] : last(), i);
    history_.set_moment(is_first ? schedule_[1 + jump_bytes] : last());
    return to.size();
  }

 private:
  int last() const { return history_.moments() - 1; }
  History& history_;
  const Schedule& schedule_;
  mutable std::size_t clock_reads_ = 0;
  std::size_t code_reads_ = 0;
};

/// Calls `visit` with every schedule whose moments do not decrease.
template <class Visit>
void each_schedule(Schedule& schedule, std::size_t place, int moments, Visit visit) {
  if (place == schedule.size()) return visit(schedule);
  for (int m = place == 0 ? 0 : schedule[place - 1]; m < moments; ++m) {
    schedule[place] = m;
    each_schedule(schedule, place + 1, moments, visit);
  }
}

bool is_right(const Trapped& trapped, const Site& site) {
  if (trapped.kind == Trapped::Retry) return true;
  return trapped.kind == Trapped::Access && trapped.instruction == site.instruction &&
         trapped.length == site.length;
}

struct Site0 {
  Instruction instruction;
  std::int32_t displacement;
};
// c4 e7 7b f8 c0 under e9 c7 7a f8 c1: different registers and the opposite direction; f2 0f 38 f8 c8 under
// e9 0f 38 f8 08: ENQCMD, which is the program's own SIGILL.
const Site0 deceptive_sites[] = {{{Form::UrdmsrImm, 0, 0, 0x11}, static_cast<std::int32_t>(0xc1f87ac7)},
                                 {{Form::UrdmsrReg, 0, 1, 0}, 0x08f8380f},
                                 {{Form::UwrmsrReg, 9, 14, 0}, static_cast<std::int32_t>(0xd0f8380f)}};

struct Outcome {
  std::size_t schedules = 0, wrong_at_once = 0, wrong = 0;
};

Outcome classify_in_every_schedule(History& history) {
  Outcome outcome;
  Schedule schedule{};
  each_schedule(schedule, 0, history.moments(), [&](const Schedule& moments) {
    ++outcome.schedules;
    ScheduledReads once(history, moments), stable(history, moments);
    CodeBytes code;
    code.count = once(address, std::span(code.bytes));
    outcome.wrong_at_once +=
        !is_right(classify_trap(history.sites(), address, code.span(), false), history.site());
    Trapped trapped = classify_stable(history.sites(), stable, address, code, std::ref(stable));
    bool is_good = is_right(trapped, history.site());
    // The next patch is compared with these bytes.
    if (trapped.kind == Trapped::Access && trapped.is_whole)
      is_good &= std::ranges::equal(code.span().first(trapped.length), history.site().bytes());
    outcome.wrong += !is_good;
  });
  return outcome;
}

}  // namespace

TEST_CASE(
    "a trap while another thread patches is the site's access, or executes again; in every interleaving") {
  const Site0& site = deceptive_sites[GENERATE(0, 1, 2)];
  History history(site.instruction, site.displacement);
  history.patch(4);
  Outcome outcome = classify_in_every_schedule(history);
  CHECK(outcome.schedules == 75582);  // 19 choose 8
  CHECK(outcome.wrong_at_once > 0);   // a single read is insufficient: the test can fail
  CHECK(outcome.wrong == 0);
}

TEST_CASE("a trap while another thread undoes a patch is the site's access; in every interleaving") {
  const Site0& site = deceptive_sites[GENERATE(0, 1, 2)];
  History history(site.instruction, site.displacement);
  history.patch(1);
  int undoing = history.moments() - 1;
  history.restore(4);
  CHECK(history.moments() - undoing == 11);
  Outcome outcome = classify_in_every_schedule(history);
  CHECK(outcome.wrong_at_once > 0);
  CHECK(outcome.wrong == 0);
}

TEST_CASE("a trap while a site is patched, undone and patched again; in every interleaving") {
  History history(deceptive_sites[1].instruction, deceptive_sites[1].displacement);
  history.patch(1);
  history.restore(1);
  history.patch(1);
  Outcome outcome = classify_in_every_schedule(history);
  CHECK(outcome.schedules == 5852925);  // 30 choose 8
  CHECK(outcome.wrong == 0);
}

TEST_CASE("a trap behind redundant prefixes is the same site's") {
  History history({Form::UrdmsrImm, 3, 0, 0x11}, 0x1000);
  history.patch(4);
  const Site& site = history.site();
  auto classified = [&](int moment, std::initializer_list<std::uint8_t> prefixes) {
    history.set_moment(moment);
    std::vector<std::uint8_t> code(prefixes);
    for (std::size_t i = 0; i < site.length; ++i) code.push_back(history.byte(moment, i));
    return classify_trap(history.sites(), address - prefixes.size(), code,
                         RewriteClock::is_rewriting(history.time(moment)));
  };
  for (std::initializer_list<std::uint8_t> prefixes :
       {std::initializer_list<std::uint8_t>{}, {0x2e}, {0x67}, {0x2e, 0x3e, 0x67, 0x64}}) {
    Trapped whole = classified(0, prefixes), trap = classified(6, prefixes), retry = classified(11, prefixes);
    CHECK(whole.kind == Trapped::Access);
    CHECK(whole.is_whole);
    CHECK(trap.kind == Trapped::Access);
    CHECK_FALSE(trap.is_whole);
    CHECK(retry.kind == Trapped::Retry);
    for (const Trapped& t : {whole, trap}) {
      CHECK(t.instruction == Instruction{Form::UrdmsrImm, 3, 0, 0x11});
      CHECK(t.length == 9 + prefixes.size());
      CHECK(t.prefixes == prefixes.size());
    }
  }
  // A trap byte without a patch in progress is the program's own.
  history.set_moment(11);
  const std::vector<std::uint8_t> push_es{trap_byte, 0x90, 0x90, 0x90, 0x90, 0x90};
  CHECK(classify_trap(history.sites(), address, push_es, false).kind == Trapped::NotOurs);
  CHECK(classify_trap(history.sites(), address, {}, false).kind == Trapped::NotOurs);
}

TEST_CASE("the prefixes before a site are those that the instruction does not need") {
  SiteTable sites;
  REQUIRE(sites.create());
  struct Row {
    std::vector<std::uint8_t> code;
    unsigned prefixes;
  };
  const Row rows[] = {{{0xf2, 0x0f, 0x38, 0xf8, 0xc8}, 0},
                      {{0xf2, 0x48, 0x0f, 0x38, 0xf8, 0xc8}, 0},  // this REX has no effect but must be kept
                      {{0x66, 0xf2, 0x0f, 0x38, 0xf8, 0xc8}, 1},
                      {{0x67, 0x48, 0xf2, 0x0f, 0x38, 0xf8, 0xc8}, 2},
                      {{0xf3, 0xf2, 0x0f, 0x38, 0xf8, 0xc8}, 1},  // a write, except in the last one
                      {{0xf2, 0x66, 0x0f, 0x38, 0xf8, 0xc8}, 0},  // without F2 it is MOVDIR64B
                      {{0xf2, 0xf2, 0x41, 0x0f, 0x38, 0xf8, 0xc8}, 1},
                      {{0x2e, 0x67, 0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 0x11, 0, 0, 0}, 2}};
  for (const Row& row : rows) {
    Trapped trapped = classify_trap(sites, address, row.code, false);
    INFO("code " << unsigned{row.code[0]} << ' ' << unsigned{row.code[1]});
    CHECK(trapped.kind == Trapped::Access);
    CHECK(trapped.length == row.code.size());
    CHECK(unsigned{trapped.prefixes} == row.prefixes);
  }
}

TEST_CASE("of the instructions that stood at an address, the one that is patched is served") {
  SiteTable sites;
  REQUIRE(sites.create());
  auto add = [&](std::uint32_t msr) {
    Instruction instruction{Form::UrdmsrImm, 0, 0, msr};
    x86::Encoded encoded = x86::encode(instruction);
    return sites.add(address, [&](Site& site) {
      site.length = encoded.length;
      site.instruction = instruction;
      std::ranges::copy(encoded.view(), site.original.begin());
    });
  };
  Site* older = add(0x10);
  add(0x15);  // by a late thread, while the other's jump is in place
  sites.set_stub(*older, address + jump_bytes + 0x1000);
  std::vector<std::uint8_t> code{jump_opcode, 0x00, 0x10, 0, 0, 0x10, 0, 0, 0};
  older->state = SiteState::Patched;
  CHECK(classify_trap(sites, address, code, false).kind == Trapped::Retry);
  older->state = SiteState::Patching;
  code[0] = trap_byte;
  Trapped trapped = classify_trap(sites, address, code, true);
  CHECK(trapped.kind == Trapped::Access);
  CHECK(trapped.instruction.msr == 0x10);
}
