// Messages and branch targets.
#include "frontend/gen/check/subject.hpp"

namespace eum::gen::check {
namespace {

bool is_message(const Subject& s) { return is_send(s.format); }

/// The first register after a payload; 0 if it is unknown.
unsigned end_of(const Operand& op, int length) {
  return op.is_grf() && length > 0 ? op.reg + static_cast<unsigned>(length) : 0;
}

unsigned count(const Subject& s) { return info(s.family).grf_count; }

}  // namespace

void rule_send_payload(const Subject& s, Report& found) {
  if (!is_message(s)) return;
  found.when(end_of(s.in.src[0], s.in.send.src0_length) > count(s), Place::Src0);
  if (s.format == Format::SendSplit)
    found.when(end_of(s.in.src[1], s.in.send.src1_length) > count(s), Place::Src1);
}

void rule_send_length(const Subject& s, Report& found) {
  if (is_message(s)) found.when(s.in.send.src0_length == 0, Place::Src0);
}

void rule_send_response(const Subject& s, Report& found) {
  if (is_message(s)) found.when(end_of(s.in.dst, s.in.send.response_length) > count(s), Place::Dst);
}

void rule_send_alignment(const Subject& s, Report& found) {
  if (!is_message(s)) return;
  const auto check = [&](const Operand& op, Place place) {
    if (op.is_grf()) found.when(op.subreg != 0, place);
  };
  check(s.in.dst, Place::Dst);
  for (std::size_t i = 0; i < s.sources().size(); ++i) check(s.in.src[i], source_place(i));
}

void rule_send_overlap(const Subject& s, Report& found) {
  if (s.format != Format::SendSplit) return;
  const unsigned end0 = end_of(s.in.src[0], s.in.send.src0_length);
  const unsigned end1 = end_of(s.in.src[1], s.in.send.src1_length);
  if (end0 == 0 || end1 == 0) return;
  found.when(s.in.src[0].reg < end1 && s.in.src[1].reg < end0, Place::Src1);
}

void rule_send_end_registers(const Subject& s, Report& found) {
  if (!is_message(s) || !s.in.send.eot) return;
  constexpr unsigned first = 112;
  found.when(s.in.src[0].is_grf() && s.in.src[0].reg < first, Place::Src0);
  if (s.format == Format::SendSplit && s.in.send.src1_length != 0)
    found.when(s.in.src[1].is_grf() && s.in.src[1].reg < first, Place::Src1);
}

void rule_send_end_response(const Subject& s, Report& found) {
  if (is_message(s) && s.in.send.eot) found.when(s.in.send.response_length > 0, Place::Dst);
}

void rule_flow_align1(const Subject& s, Report& found) { found.when(is_branch(s.format) && s.in.align16); }

void rule_target_inside(const Subject& s, Report& found) {
  if (s.kernel == nullptr) return;
  for (const gen::Target* target : {&s.in.jip, &s.in.uip})
    if (target->present && s.in.opcode != Opcode::calla) found.when(!s.kernel->begins_at(target->offset));
}

void rule_target_order(const Subject& s, Report& found) {
  if (s.format != Format::Branch2 || !s.in.jip.present || !s.in.uip.present) return;
  found.when(s.in.uip.offset > s.in.offset && s.in.jip.offset > s.in.uip.offset);
}

}  // namespace eum::gen::check
