// A GPU asked, and its answers held against the simulator's.
#pragma once
#include <cstdint>
#include <span>

#include "verify/prove/question.h"

namespace bitwell::prove {

// Runs a launch; its buffers then hold what it left. Throws machine::Fault where the kernel or the GPU stops,
// machine::InputError where the text is refused.
using RunLaunch = std::function<void(const SharedText&, launch::Launch&)>;

struct Reply {
  enum class Kind {
    agrees,
    differs,    // `detail`: the first word that differs
    left_open,  // as the manual leaves it; `detail`: how many words differ
    refused,    // the simulator or the GPU's driver would not run it; `detail`: why
    stopped,    // the GPU stopped here; `detail`: how
    not_asked   // it had stopped before
  };
  std::string part, name;
  Kind kind = Kind::not_asked;
  std::string digest;  // of what the GPU left; empty where it left nothing
  std::string detail;
  uint64_t bytes = 0;  // compared
};

// Told before each question: how many are done, of how many, and which is next. Called by one thread at a
// time.
using AskProgress = std::function<void(size_t done, size_t all, const std::string& now)>;

// Every question of a part, on `threads` host threads (0: all); `ask` is called by one at a time. Empty:
// nobody is asked, and the replies are the simulator's own.
std::vector<Reply> prove(const Part& part, const RunLaunch& ask, const AskProgress& progress, int threads);

// What the simulator makes of the text's entry: the other side of every comparison, and of a rehearsal.
void simulate_launch(const SharedText& text, launch::Launch& launch);

}  // namespace bitwell::prove
