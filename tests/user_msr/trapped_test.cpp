// A trap classified while another thread patches the site: every way in which two reads of its bytes can fall
// between the steps of the patch.
#include <catch2/catch.hpp>
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

/// The memory of a program at each moment of a patch, as patch_site orders its steps. Moment 0: another
/// thread is about to patch; 1: the stub is written; 2: the state says so; 3: the trap byte stands; 4 to 7:
/// the jump's displacement comes byte by byte; 8: its opcode; 9: the state says so.
class Patch {
 public:
  static constexpr int moments = 10;

  /// `displacement` is chosen so that mixtures of both are instructions too, but others.
  Patch(const Instruction& instruction, std::int32_t displacement) {
    REQUIRE(sites_.create());
    x86::Encoded encoded = x86::encode(instruction);
    length_ = encoded.length;
    site_ = sites_.add(address, [&](Site& site) {
      site.length = encoded.length;
      site.instruction = instruction;
    });
    REQUIRE(site_);
    stub_ = address + jump_bytes + static_cast<std::uint64_t>(std::int64_t{displacement});
    std::vector<std::uint8_t> bytes(encoded.view().begin(), encoded.view().end());
    bytes.resize(x86::max_length, 0x90);
    auto low = static_cast<std::uint32_t>(displacement);
    for (int m = 0; m < moments; ++m) {
      if (m == 3) bytes[0] = trap_byte;
      if (m >= 4 && m <= 7)
        bytes[static_cast<unsigned>(m) - 3] = static_cast<std::uint8_t>(low >> (8 * (m - 4)));
      if (m == 8) bytes[0] = jump_opcode;
      contents_.push_back(bytes);
    }
  }

  void set_moment(int m) {
    site_->stub = m >= 1 ? stub_ : 0;
    site_->state = m < 2 ? SiteState::Known : m < 9 ? SiteState::Patching : SiteState::Patched;
  }
  std::uint8_t byte(int moment, std::size_t i) const {
    return contents_[static_cast<std::size_t>(moment)][i];
  }
  SiteTable& sites() { return sites_; }
  std::uint8_t length() const { return length_; }

 private:
  SiteTable sites_;
  Site* site_ = nullptr;
  std::uint64_t stub_ = 0;
  std::uint8_t length_ = 0;
  std::vector<std::vector<std::uint8_t>> contents_;
};

/// When what is read: the five bytes that change, then the table of sites, then the five bytes again.
using Schedule = std::array<int, 2 * jump_bytes + 1>;

/// Reads by a schedule. What a third or later read sees no schedule says: it sees the end of the patch.
class ScheduledReads {
 public:
  ScheduledReads(Patch& patch, const Schedule& schedule) : patch_(patch), schedule_(schedule) {}

  std::size_t operator()(std::uint64_t at, std::span<std::uint8_t> to) {
    REQUIRE(at == address);
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::size_t place = reads_ * (jump_bytes + 1) + std::min(i, jump_bytes - 1);
      to[i] = patch_.byte(reads_ < 2 ? schedule_[place] : Patch::moments - 1, i);
    }
    patch_.set_moment(reads_ == 0 ? schedule_[jump_bytes] : Patch::moments - 1);
    ++reads_;
    return to.size();
  }

 private:
  Patch& patch_;
  const Schedule& schedule_;
  std::size_t reads_ = 0;
};

/// Calls `visit` with every schedule in which time does not go back.
template <class Visit>
void each_schedule(Schedule& schedule, std::size_t place, Visit visit) {
  if (place == schedule.size()) return visit(schedule);
  for (int m = place == 0 ? 0 : schedule[place - 1]; m < Patch::moments; ++m) {
    schedule[place] = m;
    each_schedule(schedule, place + 1, visit);
  }
}

bool is_right(const Trapped& trapped, const Instruction& instruction, const Patch& patch) {
  if (trapped.kind == Trapped::Retry) return true;
  return trapped.kind == Trapped::Access && trapped.instruction == instruction &&
         trapped.length == patch.length();
}

struct Site0 {
  Instruction instruction;
  std::int32_t displacement;
};

}  // namespace

TEST_CASE(
    "a trap during another thread's patch is the site's access, or executes again; in every interleaving") {
  // c4 e7 7b f8 c0 under e9 c7 7a f8 c1: other registers and the other direction; f2 0f 38 f8 c8 under
  // e9 0f 38 f8 08: ENQCMD, which is the program's own SIGILL.
  const Site0 site = GENERATE(Site0{{Form::UrdmsrImm, 0, 0, 0x11}, static_cast<std::int32_t>(0xc1f87ac7)},
                              Site0{{Form::UrdmsrReg, 0, 1, 0}, 0x08f8380f},
                              Site0{{Form::UwrmsrReg, 9, 14, 0}, static_cast<std::int32_t>(0xd0f8380f)});
  Patch patch(site.instruction, site.displacement);
  std::size_t schedules = 0, wrong_at_once = 0, wrong = 0;
  Schedule schedule{};
  each_schedule(schedule, 0, [&](const Schedule& moments) {
    ++schedules;
    ScheduledReads once(patch, moments), steady(patch, moments);
    CodeBytes code;
    code.count = once(address, std::span(code.bytes));
    wrong_at_once += !is_right(classify_trap(patch.sites(), address, code.span()), site.instruction, patch);
    Trapped trapped = classify_stable(patch.sites(), address, code, steady);
    bool is_good = is_right(trapped, site.instruction, patch);
    // What is patched next is compared with these bytes.
    if (trapped.kind == Trapped::Access && trapped.is_whole)
      for (std::size_t i = 0; i < jump_bytes; ++i) is_good &= code.bytes[i] == patch.byte(0, i);
    wrong += !is_good;
  });
  CHECK(schedules == 167960);  // 20 over 9
  CHECK(wrong_at_once > 0);    // one read is not enough: the test can fail
  CHECK(wrong == 0);
}

TEST_CASE("a trap behind segment prefixes is the same site's") {
  Patch patch({Form::UrdmsrImm, 3, 0, 0x11}, 0x1000);
  auto classified = [&](int moment, std::initializer_list<std::uint8_t> prefixes) {
    patch.set_moment(moment);
    std::vector<std::uint8_t> code(prefixes);
    for (std::size_t i = 0; i < patch.length(); ++i) code.push_back(patch.byte(moment, i));
    return classify_trap(patch.sites(), address - prefixes.size(), code);
  };
  for (std::initializer_list<std::uint8_t> prefixes :
       {std::initializer_list<std::uint8_t>{}, {0x2e}, {0x2e, 0x3e, 0x64}}) {
    Trapped whole = classified(0, prefixes), trap = classified(5, prefixes), retry = classified(9, prefixes);
    CHECK(whole.kind == Trapped::Access);
    CHECK(whole.is_whole);
    CHECK(trap.kind == Trapped::Access);
    CHECK_FALSE(trap.is_whole);
    CHECK(retry.kind == Trapped::Retry);
    for (const Trapped& t : {whole, trap}) {
      CHECK(t.instruction == Instruction{Form::UrdmsrImm, 3, 0, 0x11});
      CHECK(t.length == 9 + prefixes.size());
      CHECK(t.segment_prefixes == prefixes.size());
    }
  }
  // The trap byte where no patch is under way is the program's own.
  patch.set_moment(9);
  const std::vector<std::uint8_t> push_es{trap_byte, 0x90, 0x90, 0x90, 0x90, 0x90};
  CHECK(classify_trap(patch.sites(), address, push_es).kind == Trapped::NotOurs);
  CHECK(classify_trap(patch.sites(), address, {}).kind == Trapped::NotOurs);
}
