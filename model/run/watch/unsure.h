// Guards that hang on a value that was never written. Where nothing but registers hangs on one, no bit is
// guessed and nothing is a fault: what may or may not be written counts as never written.
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/isa/form/program.h"

namespace bitwell::run {

class Context;

// What a thread may do between a branch and the op where all ways from it meet again.
struct Ways {
  bool pass = false;           // they meet, and all that they do is write registers
  uint32_t meet = 0;           // pc, where they do
  std::vector<uint32_t> rows;  // that some way writes
  int decides = -1;            // else: the line of an op that does more, on some of the ways alone; or -1
};

// Of the branch at `pc`.
Ways ways_from(const isa::Function& function, uint32_t pc);

// Whether all that the op does is write registers: arithmetic, or a load by threads of their own.
bool writes_registers_alone(const isa::Function& function, const isa::Op& op);
// Calls f(row) for each register that such an op writes.
template <class F>
void each_result(const isa::Op& op, const F& f) {
  for (const uint32_t row : {op.d, op.d2})
    if (row != isa::kSink) f(row);
  if (op.results != nullptr)
    for (const uint32_t row : *op.results)
      if (row != isa::kSink) f(row);
}

// Of an op whose guard `unknown` of the `active` lanes do not know: those that execute it. Of the others a
// result counts as never written; those that would branch stand in Context::unsure. Throws Fault where more
// than registers hangs on the guard.
uint32_t guarded_by_unknown(const isa::Op& op, Context& context, uint32_t active, uint32_t unknown);
// Of the branch at which the split stands: the pc that `lanes` go to, who do not know its guard.
uint32_t pass_ways(Context& context, uint32_t lanes);

// Lanes of a load that know where. The address of the others, which a branch so passed was to write, may be
// good whatever the branch hangs on: they load nothing, and the result counts as never written.
uint32_t loads_there(const isa::Op& op, Context& context, uint32_t mask);

// Those of the branches of a program that were asked for, each found once. For one host thread.
class KnownWays {
 public:
  const Ways& of(const isa::Program& program, int function, uint32_t pc);

 private:
  std::map<std::pair<int, uint32_t>, Ways> all_;
};

}  // namespace bitwell::run
