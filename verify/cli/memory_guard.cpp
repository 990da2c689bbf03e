#include "verify/cli/memory_guard.h"

#include <unistd.h>

#include "verify/cli/command.h"
#include "verify/cli/report/table.h"
#include "verify/launch/output/partial_files.h"

namespace bitwell::cli {

verify::MemoryWatch stopped_before_the_machine(const std::string& what) {
  const uint64_t left = verify::memory_left();
  return {left, [what, left](uint64_t touched) {
            end_progress();
            note("bitwell: " + verify::out_of_memory(what, touched, left));
            verify::remove_partial_files();
            _exit(unusable);
          }};
}

}  // namespace bitwell::cli
