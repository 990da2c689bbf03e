// Every form of the table, as a one-instruction kernel, must be PTX that ptxas takes: prints the module for
// it.
#include <cstdio>
#include <string>

#include "verify/probe/instruction.h"

int main(int argc, char** argv) {
  const std::string target = argc > 1 ? argv[1] : "sm_90a";
  const auto all = bitwell::probe::probes(target);
  std::fputs(bitwell::probe::probe_module(all, target).c_str(), stdout);
  std::fprintf(stderr, "%zu probes\n", all.size());
}
