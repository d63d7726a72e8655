// Parsing of text: the fields that lowering reads.
#include <catch2/catch.hpp>

#include "frontend/visa/form.hpp"
#include "frontend/visa/parser.hpp"
#include "frontend/visa/suffix.hpp"
#include "frontend/visa/variable.hpp"
#include "tests/frontend/visa/texts.hpp"

namespace eum::visa::test {
namespace {

/// A kernel of one instruction after the label.
struct One {
  explicit One(std::string_view line) {
    auto parsed = parse(kernel_with(line));
    INFO((parsed ? "" : parsed.error().message));
    REQUIRE(parsed);
    module = std::move(*parsed);
  }
  const Kernel& kernel() const { return module.kernels[0]; }
  const Instruction& inst() const { return kernel().instructions.back(); }
  const Operand& operand(std::size_t i) const { return kernel().operands_of(inst())[i]; }
  const Operand& operand(LscOperand place) const { return operand(static_cast<std::size_t>(place)); }
  const Lsc& lsc() const { return kernel().lsc[inst().lsc]; }
  std::string_view name(const Operand& op) const { return kernel().variables[op.variable].name; }
  Module module;
};

}  // namespace

TEST_CASE("an instruction has its predicate, mask, saturation and operands") {
  const One one("(!P.any) add.sat (M5_NM, 16) V(1,2)<2> (-abs)W(0,3)<8;4,2> -2:w");
  const Instruction& inst = one.inst();
  CHECK(inst.opcode == Opcode::add);
  CHECK(inst.predicate.inverse);
  CHECK(inst.predicate.combine == Predicate::Combine::Any);
  CHECK(one.kernel().variables[inst.predicate.variable].name == "P");
  CHECK(inst.exec_size == 16);
  CHECK(inst.channel_offset == 16);
  CHECK(inst.no_mask);
  CHECK(inst.saturate);
  CHECK(inst.location.line == first_line);
  REQUIRE(inst.operand_count == 3);
  CHECK(one.operand(0).kind == OperandKind::General);
  CHECK(one.operand(0).row == 1);
  CHECK(one.operand(0).column == 2);
  CHECK(one.operand(0).region.horizontal == 2);
  CHECK(one.operand(1).modifier == SourceModifier::NegAbs);
  CHECK(one.operand(1).region == Region{8, 4, 2});
  CHECK(one.name(one.operand(1)) == "W");
  CHECK(one.operand(2).kind == OperandKind::Immediate);
  CHECK(one.operand(2).type == Type::w);
  CHECK(one.operand(2).immediate == 0xfffe);
}

TEST_CASE("%null is Null in every place") {
  CHECK(One("mov (M1, 8) %null(0,0)<1> V(0,0)<1;1,0>").operand(0).kind == OperandKind::Null);
  CHECK(One("svm_gather.4.1 (M1, 8) Q.0 %null.0").operand(1).kind == OperandKind::Null);
  CHECK(One("lsc_load.ugm (M1, 8) %null:d32 flat[Q]:a64").operand(LscOperand::Dst).kind == OperandKind::Null);
}

TEST_CASE("raw operands count bytes") {
  const One one("svm_gather.4.1 (M1, 8) Q.64 W.6");
  CHECK(one.operand(0).kind == OperandKind::Raw);
  CHECK(one.operand(0).column == 64);
  CHECK(one.operand(1).column == 6);
}

TEST_CASE("addresses, indirect operands and states") {
  const One indirect("mov (M1, 8) r[A(3),-4]<2>:f r[A(1),8]<1,0>:uw");
  CHECK(indirect.operand(0).kind == OperandKind::Indirect);
  CHECK(indirect.operand(0).column == 3);
  CHECK(indirect.operand(0).offset == -4);
  CHECK(indirect.operand(0).type == Type::f);
  CHECK(indirect.operand(1).region == Region{Region::no_stride, 1, 0});
  const One address("addr_add (M1, 8) A(2)<1> &V[64] W(0,0)<1;1,0>");
  CHECK(address.operand(0).kind == OperandKind::Address);
  CHECK(address.operand(0).column == 2);
  CHECK(address.operand(1).kind == OperandKind::AddressOf);
  CHECK(address.operand(1).offset == 64);
  const One state("movs (M1_NM, 1) T(0) V(0,0)<0;1,0>");
  CHECK(state.operand(0).kind == OperandKind::State);
}

TEST_CASE("predefined variables come first, T0 to T5 have names too") {
  const One one("gather_scaled.2 (M1, 8) T0 0x0:ud V.0 V.32");
  CHECK(one.operand(0).kind == OperandKind::Name);
  CHECK(one.operand(0).variable == id(PredefinedVariable::slm));
  CHECK(one.inst().suffix[0] == 2);
  CHECK(One("gather_scaled.2 (M1, 8) T5 0x0:ud V.0 V.32").operand(0).variable ==
        id(PredefinedVariable::scratch));
  for (std::size_t i = 0; i < predefined_count; ++i) {
    CHECK(one.kernel().variables[i].name == predefined_table[i].text);
    CHECK(one.kernel().variables[i].predefined);
  }
  CHECK(one.kernel().variables[predefined_count].name == "V");
}

TEST_CASE("suffixes stand in the order of the form") {
  CHECK(One("bfn.x96 (M1, 8) V(0,0)<1> V(0,0)<1;1,0> V(0,0)<1;1,0> 0x0:d").inst().suffix[0] == 0x96);
  const One atomic("svm_atomic.maxsint.64 (M1, 8) Q.0 %null.0 Q.64 %null.0");
  CHECK(static_cast<AtomicOperation>(atomic.inst().suffix[0]) == AtomicOperation::maxsint);
  CHECK(atomic.inst().suffix[1] == 64);
  const One dpas("dpas.bf.tf32.8.4 (M1, 8) V.0 V.0 V.0 V(0,0)");
  CHECK(static_cast<Precision>(dpas.inst().suffix[0]) == Precision::bf);
  CHECK(static_cast<Precision>(dpas.inst().suffix[1]) == Precision::tf32);
  CHECK(dpas.inst().suffix[2] == 8);
  CHECK(dpas.inst().suffix[3] == 4);
  const One media("media_ld.top (32,4) T 3 V(0,0)<0;1,0> V(0,1)<0;1,0> V.0");
  CHECK(media.inst().suffix == std::array<std::uint32_t, 6>{2, 32, 4, 3});
  const One sample("sample_lz.cps.RG (M1, 8) 0x0:uw S T V.0 F.0");
  CHECK(sample.inst().suffix[0] == static_cast<std::uint32_t>(SamplerFlag::cps));
  CHECK(sample.inst().suffix[1] == 3);
  CHECK(One("oword_ld (4) T 0x0:ud V.0").inst().suffix[1] == 4);
  CHECK(One("fence_global.EL1").inst().suffix[0] == 0x41);
}

TEST_CASE("logic is of predicates where the destination is one") {
  const One one("xor (M1, 16) P P2 P");
  CHECK(one.operand(0).kind == OperandKind::Predicate);
  CHECK(one.operand(2).kind == OperandKind::Predicate);
}

TEST_CASE("lsc instructions: address, shape, caching, absent operands") {
  const One load("lsc_load.slm.ca.uc (M1, 16) V:d32x4t bss(V(0,2),0x3)[0x4*W.4-0x10]:a32");
  CHECK(load.inst().opcode == Opcode::lsc);
  CHECK(load.lsc().op == LscOp::load);
  CHECK(load.lsc().unit == LscUnit::slm);
  CHECK(load.lsc().l1 == LscCaching::ca);
  CHECK(load.lsc().l3 == LscCaching::uc);
  CHECK(load.lsc().model == LscAddressModel::bss);
  CHECK(load.lsc().surface_index == 3);
  CHECK(load.lsc().scale == 4);
  CHECK(load.lsc().offset == -16);
  CHECK(load.lsc().address_size == LscAddressSize::a32);
  CHECK(load.lsc().data_size == LscDataSize::d32);
  CHECK(load.lsc().elements == 4);
  CHECK(load.lsc().transposed);
  REQUIRE(load.inst().operand_count == lsc_operand_count);
  CHECK(load.operand(LscOperand::Surface).kind == OperandKind::General);
  CHECK(load.operand(LscOperand::Surface).column == 2);
  CHECK(load.operand(LscOperand::Address0).kind == OperandKind::Raw);
  CHECK(load.operand(LscOperand::Address0).column == 4);
  CHECK(!load.operand(LscOperand::Data0).present());

  const One block("lsc_load_block2d.ugm (M1, 1) V:d8.2x16x8tn flat[Q,V.1,0x20,V.3,V.4+2,V.5-1]");
  CHECK(block.lsc().blocks == 2);
  CHECK(block.lsc().width == 16);
  CHECK(block.lsc().height == 8);
  CHECK(block.lsc().transposed);
  CHECK(!block.lsc().vnni);
  CHECK(block.lsc().offset == 2);
  CHECK(block.lsc().offset_y == -1);
  CHECK(block.operand(LscOperand::Address2).kind == OperandKind::Immediate);
  CHECK(block.operand(LscOperand::Address5).column == 5);

  const One strided("lsc_store_strided.ugm (M1, 8) flat[Q.16,0x20]:a64 V:d32");
  CHECK(strided.operand(LscOperand::Address0).kind == OperandKind::General);
  CHECK(strided.operand(LscOperand::Address0).column == 2);
  CHECK(strided.operand(LscOperand::Address1).immediate == 0x20);
  CHECK(strided.operand(LscOperand::Data0).kind == OperandKind::Raw);

  const One typed("lsc_load_quad.tgm (M1, 8) V:d32.xw bti(0x4)[V+1,V.32]:a32");
  CHECK(typed.lsc().channel_mask == 9);
  CHECK(typed.lsc().offset == 1);
  CHECK(typed.operand(LscOperand::Surface).immediate == 4);
  CHECK(typed.operand(LscOperand::Address1).column == 32);
  CHECK(!typed.operand(LscOperand::Address2).present());

  const One fence("lsc_fence.ugm.flushl3.sysrel");
  CHECK(fence.lsc().fence == LscFenceOp::flushl3);
  CHECK(fence.lsc().scope == LscFenceScope::sysrel);
}

TEST_CASE("labels name the instruction at which they stand") {
  const One one("goto (M1, 8) later\nbarrier\nlater:\nret (M1, 1)");
  const Kernel& kernel = one.kernel();
  REQUIRE(kernel.labels.size() == 2);
  CHECK(kernel.labels[1].name == "later");
  CHECK(kernel.instructions[kernel.labels[1].instruction].opcode == Opcode::label);
  CHECK(kernel.labels[1].instruction == 4);
}

TEST_CASE("an alias lies at the sum of its offsets in the variable with the storage") {
  const auto module = parse(kernel_with("ret (M1, 1)\n.decl B v_type=G type=b num_elts=4 alias=<W, 8>"));
  REQUIRE(module);
  const Kernel& kernel = module->kernels[0];
  const Kernel::Place place = kernel.place(static_cast<VariableId>(kernel.variables.size() - 1));
  CHECK(kernel.variables[place.root].name == "V");
  CHECK(place.offset == 40);
}

}  // namespace eum::visa::test
