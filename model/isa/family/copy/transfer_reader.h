// The operands of a copy instruction as one lane gives them.
#pragma once
#include "model/isa/family/transfer.h"
#include "model/run/context.h"
#include "model/run/shared_place.h"

namespace bitwell::isa {

class TransferReader {
 public:
  TransferReader(const Op& op, run::Context& context, int lane) : op_(op), context_(context), lane_(lane) {}

  uint64_t address(const AddressOperand& a) const {
    return a.narrow ? static_cast<uint32_t>(word(a.source) + a.offset)
                    : context_.row<uint64_t>((*op_.sources)[a.source])[lane_] + a.offset;
  }
  uint32_t word(size_t source) const { return context_.row<uint32_t>((*op_.sources)[source])[lane_]; }
  uint16_t half(size_t source) const { return context_.row<uint16_t>((*op_.sources)[source])[lane_]; }
  const std::byte* bytes(size_t source, size_t each) const {
    return context_.row<std::byte>((*op_.sources)[source]) + each * static_cast<size_t>(lane_);
  }
  run::SharedPlace shared(const AddressOperand& a, uint64_t size, uint64_t align) const {
    return run::shared_place(context_, lane_, address(a), a.space, size, align);
  }
  // A run of global memory; `address` counts generically.
  machine::Region* global(uint64_t address, uint64_t size, const char* what) const {
    machine::Region* r = context_.cta.grid.global.find(address, size);
    if (r == nullptr)
      throw machine::Fault(std::string(what) + " of " + std::to_string(size) + " bytes at global address " +
                               std::to_string(address) + " is in no buffer, " +
                               context_.cta.grid.global.describe(address),
                           lane_);
    return r;
  }

 private:
  const Op& op_;
  run::Context& context_;
  int lane_;
};

inline void require_sources(const Op& op, run::Context& context, uint32_t mask) {
  for (const uint32_t r : *op.sources) context.require_defined(r, mask, "an operand of an asynchronous copy");
}

}  // namespace bitwell::isa
