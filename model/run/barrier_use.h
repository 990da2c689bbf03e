// What bar and barrier say beside their operands (PTX ISA 9.0, 9.7.13.1); the engine ends what they begin.
#pragma once
#include "model/isa/form/op.h"

namespace bitwell::run {

struct BarrierUse : isa::Payload {
  enum class Kind : uint8_t { sync, arrive, red_popc, red_and, red_or };
  Kind kind = Kind::sync;
  bool aligned = false;
  bool counted = false;  // b holds the count of threads
  bool negated = false;  // the predicate of bar.red, in c
  bool reduces() const { return kind >= Kind::red_popc; }
};

}  // namespace bitwell::run
