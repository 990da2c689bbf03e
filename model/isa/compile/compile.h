// Syntax -> checked program.
#pragma once
#include <string>
#include <vector>

#include "model/isa/form/program.h"
#include "model/machine/memory/memory.h"
#include "model/ptx/syntax.h"

namespace bitwell::isa {

// One thing found wrong or noteworthy in a PTX file.
struct Finding {
  enum class Kind { invalid, unsupported, contractible, approximate } kind;
  int line;
  std::string what;
  machine::CudaPlace cuda{};
};

// The program that runs `entry`. Throws InputError (no such entry, text that is not valid PTX, with line) or
// Unsupported (by name, with line) at the first.
// `place`: where the module's variables are, for one that shares a memory with others
// (model/isa/compile/module.h).
Program compile(const ptx::Module& module, const std::string& entry,
                Approximate approximate = Approximate::h200, const machine::ModulePlace& place = {});

// Everything in the module, or in `entry` and what it calls, that is invalid, unsupported, contractible by
// ptxas or approximate; in order of lines. Throws InputError for an entry that is not there.
std::vector<Finding> check(const ptx::Module& module, const std::string& entry = "");

// Entry names in the order of the file.
std::vector<std::string> entries(const ptx::Module& module);

}  // namespace bitwell::isa
