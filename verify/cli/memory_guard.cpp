#include "verify/cli/memory_guard.h"

#include <unistd.h>

#include "verify/cli/command.h"
#include "verify/launch/output/partial_files.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {
using terminal::end_progress;
using terminal::note;

launch::MemoryWatch stopped_before_the_machine(const std::string& what) {
  const uint64_t left = launch::memory_left();
  return {left, [what, left](uint64_t touched) {
            end_progress();
            note("bitwell: " + launch::out_of_memory(what, touched, left));
            launch::remove_partial_files();
            _exit(unusable);
          }};
}

}  // namespace bitwell::cli
