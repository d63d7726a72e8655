// Structured programs are written front to back, as nested blocks; labels are resolved when the program is
// complete.
#include "tests/frontend/eu/random/programs.hpp"

#include <algorithm>

#include "tests/frontend/gen/encode.hpp"

namespace eum::test {

using namespace gen;
using gen::test::TestWord;

namespace {

// Reserved registers: loop counters, their limits, return addresses.
constexpr unsigned repetition = 127, counters = first_reserved, return_addresses = 120, max_depth = 3;
constexpr unsigned distances = 126, functions = 3;

class Writer {
 public:
  Writer(Family family, unsigned simd, const ProgramShape& shape, std::uint64_t seed)
      : shape_(shape), choice_(seed), source_(family, choice_), messages_(family, choice_) {
    program_.family = family;
    program_.simd = simd;
  }

  Program write();

 private:
  int new_label() {
    program_.labels.push_back(0);
    return static_cast<int>(program_.labels.size()) - 1;
  }
  void bind(int label) { program_.labels[static_cast<std::size_t>(label)] = program_.elements.size(); }
  void add(const Instruction& inst, int jip = Element::nowhere, int uip = Element::nowhere) {
    Element element{inst, jip, uip};
    if (jip != Element::nowhere && shape_.astray && choice_.one_in(6))
      element.astray = choice_.any_of({8, -8, 16, -16, 160, -160, 4, 1 << 20, -(1 << 20)});
    program_.elements.push_back(element);
  }
  Instruction flow(Opcode opcode, bool predicated);
  Operand scalar(unsigned reg, unsigned subreg = 0) {
    Operand op = general(reg, Type::d, subreg);
    op.region = {0, 1, 0};
    return op;
  }

  void block(unsigned length, unsigned depth);
  void conditional(unsigned length, unsigned depth);
  void loop(unsigned length, unsigned depth);
  void unstructured(unsigned length, unsigned depth);
  void jump(unsigned length, unsigned depth);
  void computed(unsigned length, unsigned depth);
  void put_distance(unsigned subreg, int to, int from, int unit);
  void call();
  void other();
  void compiled();

  Family family() const { return program_.family; }

  ProgramShape shape_;
  Choice choice_;
  InstructionSource source_;
  MessageSource messages_;
  Program program_{};
  std::vector<int> enclosing_{};  ///< where channels parked within a block reconverge
  std::vector<int> loops_{};      ///< label of the while of each loop
  int entry_[functions] = {};
  int halt_ = 0;
  unsigned function_ = 0;  ///< functions from this one on may be called
};

/// A control flow instruction for all channels or a part of them.
Instruction Writer::flow(Opcode opcode, bool predicated) {
  Instruction inst;
  inst.opcode = opcode;
  inst.exec_size = static_cast<std::uint8_t>(program_.simd);
  if (choice_.one_in(12) && program_.simd > 8) {
    inst.exec_size = 8;
    inst.channel_offset = static_cast<std::uint8_t>(8 * choice_.below(program_.simd / 8));
  }
  if (predicated) {
    inst.pred_ctrl = choice_.one_in(6) ? choice_.any_of({PredCtrl::Any4H, PredCtrl::All8H, PredCtrl::AnyV})
                                       : PredCtrl::Sequential;
    inst.pred_inverse = choice_.one_in(2);
    inst.flag_reg = static_cast<std::uint8_t>(choice_.below(2));
  }
  inst.no_mask = choice_.one_in(60);
  inst.jip.present = inst.uip.present = true;
  return inst;
}

void Writer::conditional(unsigned length, unsigned depth) {
  const bool both = choice_.one_in(2), controlled = family() >= Family::Gen8 && choice_.one_in(3);
  const int behind_else = new_label(), end = new_label(), passed = both ? behind_else : end;
  if (controlled) {
    // Channels may be parked at a join before that, where execution continues if no channel takes the branch.
    const int join = new_label();
    if (choice_.one_in(2)) add(flow(Opcode::goto_, true), join, join);
    Instruction fork = flow(Opcode::if_, true);
    fork.branch_ctrl = true;
    add(fork, join, passed);
    enclosing_.push_back(join);
    block(length / 4, depth + 1);
    enclosing_.back() = end;
    bind(join);
    add(flow(Opcode::join, false), end);
  } else {
    add(flow(Opcode::if_, true), passed, end);
    enclosing_.push_back(end);
  }
  block(length / 2, depth + 1);
  if (both) {
    Instruction other = flow(Opcode::else_, false);
    other.branch_ctrl = controlled;
    add(other, end, end);
    bind(behind_else);
    block(length / 2, depth + 1);
  }
  enclosing_.pop_back();
  bind(end);
  add(flow(Opcode::endif, false), enclosing_.back());
}

/// Each channel has its own loop counter.
void Writer::loop(unsigned length, unsigned depth) {
  const int begin = new_label(), end = new_label();
  const unsigned counter = counters + 2 * depth, lanes = std::min(program_.simd, 16u);
  add(plain(Opcode::and_, lanes, general(counter, Type::uw),
            {general(choice_.below(first_reserved), Type::uw), constant(3, Type::uw)}));
  add(plain(Opcode::and_, lanes, general(counter + 1, Type::uw),
            {general(choice_.below(first_reserved), Type::uw), constant(3, Type::uw)}));
  bind(begin);
  enclosing_.push_back(end);
  loops_.push_back(end);
  block(length, depth + 1);
  Operand words = general(counter, Type::w);
  const bool wide = program_.simd == 32;
  if (wide) words = general(counter, Type::b);
  words.region = wide ? Region{16, 16, 1} : Region{8, 8, 1};
  if (program_.simd == 1) words.region = {0, 1, 0};
  Operand to = words;
  to.region = {0, 1, 1};
  Instruction count = plain(Opcode::add, program_.simd, to, {words, constant(0xffff, Type::w)});
  count.no_mask = false;
  Instruction compare = count;
  compare.opcode = Opcode::cmp;
  compare.cond_mod = CondMod::gt;
  compare.dst = {};
  compare.dst.kind = OperandKind::Null;
  compare.dst.file = RegisterFile::Arf;
  compare.dst.type = words.type;
  compare.dst.region = {0, 1, 1};
  compare.src[1] = constant(0, Type::w);
  compare.flag_reg = static_cast<std::uint8_t>(choice_.below(2));
  add(count);
  add(compare);
  loops_.pop_back();
  enclosing_.pop_back();
  bind(end);
  Instruction again = flow(Opcode::while_, true);
  again.pred_ctrl = PredCtrl::Sequential;
  again.pred_inverse = false;
  again.flag_reg = compare.flag_reg;
  add(again, begin);
}

void Writer::unstructured(unsigned length, unsigned depth) {
  const int end = new_label();
  if (exists_on(Opcode::goto_, family()) && choice_.one_in(2)) {
    Instruction leave = flow(Opcode::goto_, true);
    add(leave, end, end);
    enclosing_.push_back(end);
    block(length, depth + 1);
    enclosing_.pop_back();
    bind(end);
    add(flow(Opcode::join, choice_.one_in(10)), enclosing_.back());
    return;
  }
  add(flow(choice_.any_of({Opcode::brc, Opcode::brd}), true), end, end);
  enclosing_.push_back(end);
  block(length, depth + 1);
  enclosing_.pop_back();
  bind(end);
}

/// A forward jump of all channels.
void Writer::jump(unsigned length, unsigned depth) {
  const int end = new_label();
  Instruction inst = flow(Opcode::jmpi, !choice_.one_in(3));
  inst.exec_size = 1;
  inst.channel_offset = 0;
  inst.no_mask = true;
  add(inst, end);
  block(length / 2, depth + 1);
  bind(end);
}

/// Writes a distance to a reserved register; if `from` is nowhere, the offset of `to` in the code.
void Writer::put_distance(unsigned subreg, int to, int from, int unit) {
  Element element{};
  element.inst = plain(Opcode::mov, 1, scalar(distances, subreg), {constant(0, Type::d)});
  element.distance = to;
  element.origin = from;
  element.unit = unit;
  if (choice_.one_in(shape_.astray ? 6 : 60)) element.astray = choice_.any_of({1, 4, 8, 16, -16, 4096});
  program_.elements.push_back(element);
}

/// A forward jump or call whose target is in a register.
void Writer::computed(unsigned length, unsigned depth) {
  const int end = new_label(), from = new_label();
  const bool absolute = exists_on(Opcode::calla, family());
  const Opcode opcode = choice_.any_of({Opcode::jmpi, Opcode::brd, Opcode::brc, Opcode::call,
                                        absolute ? Opcode::calla : Opcode::call, Opcode::mov});
  const bool calls = info(opcode).shape.format == Format::Call;
  const bool place = opcode == Opcode::calla || opcode == Opcode::mov;
  const unsigned callee = std::min(function_, functions - 1);
  const int unit = opcode == Opcode::mov ? 1 : gen::test::distance_unit(opcode, family());
  const int origin = place ? Element::nowhere : from;
  put_distance(0, calls && function_ < functions ? entry_[callee] : end, origin, unit);
  put_distance(1, end, origin, unit);
  Instruction inst = flow(opcode, choice_.one_in(2));
  inst.jip.present = inst.uip.present = false;
  inst.source_count = 1;
  inst.src[0] = scalar(distances);
  if (opcode == Opcode::brc) inst.src[0].region = {2, 2, 1};
  if (calls) {
    inst.has_dst = true;
    inst.dst = general(return_addresses + 2 * callee, Type::ud);
    inst.dst.region = {0, 1, 1};
    inst.channel_offset = 0;
  }
  if (opcode == Opcode::jmpi || opcode == Opcode::mov) {
    inst.exec_size = 1;
    inst.channel_offset = 0;
    inst.no_mask = true;
    if (inst.predicated()) inst.pred_ctrl = PredCtrl::Sequential;
  }
  if (opcode == Opcode::mov) {
    inst.has_dst = true;
    inst.dst = scalar(0);
    inst.dst.file = RegisterFile::Arf;
    inst.dst.arf = Arf::ip;
    inst.dst.type = inst.src[0].type = Type::ud;
    inst.dst.region = {0, 1, 1};
    if (choice_.one_in(2)) inst.cond_mod = CondMod::ne;
    inst.acc_wr_en = choice_.one_in(4);
  }
  bind(from);
  add(inst);
  if (opcode == Opcode::jmpi) bind(from);  // relative to the next instruction
  block(length, depth + 1);
  bind(end);
}

void Writer::call() {
  if (function_ >= functions) return other();
  const unsigned callee = function_ + choice_.below(functions - function_);
  const bool absolute = exists_on(Opcode::calla, family()) && choice_.one_in(3);
  Instruction inst = flow(absolute ? Opcode::calla : Opcode::call, choice_.one_in(3));
  inst.exec_size = static_cast<std::uint8_t>(program_.simd);
  inst.channel_offset = 0;
  inst.has_dst = true;
  inst.dst = general(return_addresses + 2 * callee, Type::ud);
  inst.dst.region = {0, 1, 1};
  add(inst, entry_[callee]);
}

void Writer::other() {
  const Opcode opcode =
      choice_.any_of({Opcode::nop, Opcode::wait, Opcode::halt, Opcode::break_, Opcode::cont});
  if (opcode == Opcode::nop) {
    Instruction inst;
    inst.opcode = Opcode::nop;
    return add(inst);
  }
  if (opcode == Opcode::wait) {
    Instruction inst;
    inst.opcode = Opcode::wait;
    inst.no_mask = true;
    inst.source_count = 1;
    inst.src[0] = scalar(0, choice_.below(3));
    inst.src[0].type = Type::ud;
    inst.src[0].file = RegisterFile::Arf;
    inst.src[0].arf = Arf::n;
    return add(inst);
  }
  if (opcode == Opcode::halt) return add(flow(opcode, !choice_.one_in(8)), enclosing_.back(), halt_);
  if (loops_.empty()) return;
  add(flow(opcode, !choice_.one_in(8)), enclosing_.back(), loops_.back());
}

/// A word from a compiled kernel, possibly compacted.
void Writer::compiled() {
  const std::vector<TestWord>& words = corpus_of(family());
  const TestWord& word = words[choice_.below(words.size())];
  const Result<Instruction> decoded = decode(word, 0, family());
  if (!decoded || !computes(decoded->opcode, family())) return;
  if (decoded->has_dst && (decoded->dst.is_arf(Arf::ip) || decoded->dst.is_arf(Arf::cr))) return;
  Element element{};
  element.inst = *decoded;
  element.word = word;
  program_.elements.push_back(std::move(element));
}

void Writer::block(unsigned length, unsigned depth) {
  for (unsigned n = 0; n < length; ++n) {
    const unsigned kind = choice_.below(100);
    if (shape_.messages && kind < 8) {
      for (const Instruction& inst : messages_.next()) add(inst);
    } else if (kind < 12) {
      compiled();
    } else if (!shape_.flow || kind < 75 || depth >= max_depth) {
      const Instruction inst = source_.computing();
      add(inst);
      // A computed address register seldom holds a valid address.
      if (inst.dst.is_arf(Arf::a) && !choice_.one_in(8)) {
        Operand addresses = general(0, Type::uw);
        addresses.file = RegisterFile::Arf;
        addresses.arf = Arf::a;
        const unsigned lanes = family() >= Family::Gen8 ? 16 : 8;
        add(plain(Opcode::and_, lanes, addresses, {addresses, constant(0x7f8, Type::uw)}));
        add(plain(Opcode::or_, lanes, addresses, {addresses, constant(0x200, Type::uw)}));
      }
    } else if (kind < 82) {
      conditional(length / 2, depth);
    } else if (kind < 87) {
      loop(length / 3, depth);
    } else if (kind < 91) {
      unstructured(length / 3, depth);
    } else if (kind < 93) {
      if (choice_.one_in(2))
        jump(length / 3, depth);
      else
        computed(length / 3, depth);
    } else if (kind < 96) {
      call();
    } else {
      other();
    }
  }
}

Program Writer::write() {
  halt_ = new_label();
  for (int& entry : entry_) entry = new_label();
  enclosing_ = {halt_};
  const int begin = new_label();
  const auto end = [&] { add(messages_.end()); };
  if (shape_.repetitions > 1) add(plain(Opcode::mov, 1, scalar(repetition), {constant(0, Type::d)}));
  bind(begin);
  block(shape_.length, 0);
  bind(halt_);
  add(flow(Opcode::halt, false), halt_, halt_);
  program_.elements.back().inst.no_mask = false;
  program_.labels.push_back(program_.elements.size());
  program_.elements.back().jip = program_.elements.back().uip = static_cast<int>(program_.labels.size()) - 1;
  if (shape_.repetitions > 1) {
    Instruction count = plain(Opcode::add, 1, scalar(repetition), {scalar(repetition), constant(1, Type::d)});
    add(count);
    Instruction compare = count;
    compare.opcode = Opcode::cmp;
    compare.cond_mod = CondMod::lt;
    compare.flag_reg = compare.flag_subreg = 1;
    compare.dst = {};
    compare.dst.kind = OperandKind::Null;
    compare.dst.file = RegisterFile::Arf;
    compare.dst.type = Type::d;
    compare.dst.region = {0, 1, 1};
    compare.src[1] = constant(shape_.repetitions, Type::d);
    add(compare);
    Instruction again = flow(Opcode::jmpi, true);
    again.pred_ctrl = PredCtrl::Sequential;
    again.pred_inverse = false;
    again.flag_reg = again.flag_subreg = 1;
    again.exec_size = 1;
    again.channel_offset = 0;
    again.no_mask = true;
    add(again, begin);
  }
  end();
  for (unsigned n = 0; n < functions && shape_.flow; ++n) {
    function_ = n + 1;
    bind(entry_[n]);
    enclosing_ = {new_label()};
    block(6, max_depth - 1);
    bind(enclosing_.back());
    Instruction back = flow(Opcode::ret, choice_.one_in(4));
    back.source_count = 1;
    back.src[0] = general(return_addresses + 2 * n, Type::ud);
    back.src[0].region = {2, 2, 1};
    back.exec_size = static_cast<std::uint8_t>(program_.simd);
    back.channel_offset = 0;
    add(back);
    end();
  }
  return std::move(program_);
}

}  // namespace

Program random_program(Family family, unsigned simd, const ProgramShape& shape, std::uint64_t seed) {
  return Writer(family, simd, shape, seed).write();
}

}  // namespace eum::test
