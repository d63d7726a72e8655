// Kinds and texts of faults, and the memory near a fault's address.
#include "runtime/fault_report.hpp"

#include <map>
#include <utility>

namespace eum::rt {
namespace {

struct KindText {
  std::string_view name;  // FaultReport::kind
  std::string_view text;
};

KindText kind_text(jit::FaultKind kind) {
  switch (kind) {
    case jit::FaultKind::None:
      return {"none", "no fault"};
    case jit::FaultKind::Unsupported:
      return {"unsupported", "unsupported"};
    case jit::FaultKind::Illegal:
      return {"illegal", "illegal instruction"};
    case jit::FaultKind::Breakpoint:
      return {"breakpoint", "breakpoint"};
    case jit::FaultKind::Software:
      return {"software_exception", "software exception"};
    case jit::FaultKind::ExternalHalt:
      return {"external_halt", "external halt"};
    case jit::FaultKind::RegisterMessage:
    case jit::FaultKind::Refused:
      return {"unsupported", "message that is not supported"};
    case jit::FaultKind::OutOfBounds:
      return {"out_of_bounds", "stateless access outside the memory that is mapped for it"};
    case jit::FaultKind::OutOfScratch:
      return {"out_of_scratch", "access beyond the scratch space of the thread"};
    case jit::FaultKind::Image:
      return {"unsupported", "image message that is not supported"};
    case jit::FaultKind::Misaligned:
      return {"misaligned", "atomic at an address that is no multiple of its size"};
    case jit::FaultKind::BadRegister:
      return {"bad_register", "indirect access beyond the register file"};
    case jit::FaultKind::BadJump:
      return {"bad_jump", "jump to where no instruction begins that control can reach"};
  }
  return {"unknown", "unknown fault"};
}

bool is_access(jit::FaultKind kind) {
  return kind == jit::FaultKind::OutOfBounds || kind == jit::FaultKind::OutOfScratch ||
         kind == jit::FaultKind::Misaligned || kind == jit::FaultKind::BadRegister;
}

std::optional<FaultReport::NearRegion> near_region(const mem::AddressSpace& space, std::uint64_t address) {
  const mem::Region* region = space.nearest(address);
  if (region == nullptr) return std::nullopt;
  return FaultReport::NearRegion{region->name, region->address, region->size};
}

std::string text_of(const FaultReport::NearRegion& region, std::uint64_t address) {
  return fmt::format(" ({} {} [{:#x}, {:#x}))",
                     address - region.address < region.bytes ? "in"
                     : address < region.address              ? "before"
                                                             : "the nearest below is",
                     region.name, region.address, region.address + region.bytes);
}

std::string fault_text(const jit::Fault& fault, const TranslatedKernel& translated,
                       const FaultReport& report) {
  const std::string_view text = kind_text(fault.kind).text;
  switch (fault.kind) {
    case jit::FaultKind::Unsupported:
    case jit::FaultKind::Illegal:
    case jit::FaultKind::Breakpoint:
    case jit::FaultKind::Software:
    case jit::FaultKind::ExternalHalt:
    case jit::FaultKind::RegisterMessage:
      if (fault.address < translated.traps.size()) return single_spaced(translated.traps[fault.address]);
      return std::string(text);
    case jit::FaultKind::BadJump:
      return fmt::format("{}: {:#x}", text, fault.address);
    case jit::FaultKind::Image:
      return fmt::format("{}: {}", text, fault.reason);
    case jit::FaultKind::Refused:
      return fault.reason;
    default:
      if (!is_access(fault.kind)) return std::string(text);
      return fmt::format("{}: {} bytes at {:#x}{}, lane {}", text, fault.bytes, fault.address,
                         report.region ? text_of(*report.region, fault.address) : "", fault.lane);
  }
}

/// "threads 1, 2 at 0x88: (W) wait ...; thread 3 at 0x120: ..."
std::string text_of(const std::vector<FaultReport::Place>& waiting) {
  std::map<std::uint32_t, std::vector<const FaultReport::Place*>> by_ip;
  for (const FaultReport::Place& place : waiting) by_ip[place.ip].push_back(&place);
  std::string text;
  for (const auto& [ip, places] : by_ip) {
    text += fmt::format("{}thread{}", text.empty() ? "" : "; ", places.size() == 1 ? "" : "s");
    for (const auto* place : places)
      text += fmt::format("{} {}", place == places[0] ? "" : ",", place->thread);
    text += fmt::format(" at {:#x}: {}", ip, places[0]->instruction);
  }
  return text;
}

void describe_instruction(const GuestFault& fault, const KernelCode& kernel,
                          const TranslatedKernel& translated, const FaultScene& scene, std::string_view where,
                          FaultReport& to) {
  const jit::Fault& f = fault.fault;
  to.kind = kind_text(f.kind).name;
  to.ip = f.guest_ip;
  to.instruction = instruction_text(kernel, f.guest_ip);
  if (is_access(f.kind)) {
    to.lane = f.lane;
    to.bytes = f.bytes;
    to.address = f.address;
    const bool by_address = f.kind == jit::FaultKind::OutOfBounds || f.kind == jit::FaultKind::Misaligned;
    if (scene.space != nullptr && by_address) to.region = near_region(*scene.space, f.address);
  } else if (f.kind == jit::FaultKind::BadJump) {
    to.address = f.address;
  }
  // A trap's text already contains the instruction.
  const bool trapped = jit::has_text(f.kind);
  to.message = fmt::format("{}: {}; thread {} of {}, instruction at {:#x}{}", kernel.name,
                           fault_text(f, translated, to), fault.thread, where, f.guest_ip,
                           trapped ? std::string() : ": " + to.instruction);
}

}  // namespace

FaultReport report(const GuestFault& fault, const KernelCode& kernel, const TranslatedKernel& translated,
                   const FaultScene& scene) {
  FaultReport report;
  report.group = fault.group;
  report.thread = fault.thread;
  const std::string where = fmt::format("group {},{},{}", fault.group[0], fault.group[1], fault.group[2]);
  switch (fault.cause) {
    case GuestFault::Cause::Instruction:
      describe_instruction(fault, kernel, translated, scene, where, report);
      break;
    case GuestFault::Cause::Deadlock:
      report.kind = "deadlock";
      for (const GuestFault::Waiter& waiter : fault.waiters) {
        const std::uint32_t ip = instruction_before(kernel, waiter.next_ip);
        report.waiting.push_back({waiter.thread, ip, instruction_text(kernel, ip)});
      }
      report.message =
          fmt::format("{}: barrier deadlock in {}: {} threads wait, {} have ended; {}", kernel.name, where,
                      fault.waiters.size(), fault.ended, text_of(report.waiting));
      break;
    case GuestFault::Cause::Budget:
      report.kind = "budget";
      report.ip = scene.ip;
      report.instruction = instruction_text(kernel, scene.ip);
      report.message =
          fmt::format("{}: thread {} of {} has used up its budget of {} instructions, at {:#x}: {}",
                      kernel.name, fault.thread, where, scene.budget, scene.ip, report.instruction);
      break;
  }
  return report;
}

}  // namespace eum::rt
