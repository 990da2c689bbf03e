#include "verify/cli/report/stdout_aside.h"

#include <unistd.h>

#include <cstdio>

namespace bitwell::cli {

StdoutAside::StdoutAside() {
  std::fflush(stdout);
  kept_ = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
}

StdoutAside::~StdoutAside() {
  std::fflush(stdout);
  dup2(kept_, STDOUT_FILENO);
  close(kept_);
}

}  // namespace bitwell::cli
