// Addresses of a module's variables, and its functions by index, for one entry.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/isa/form/program.h"
#include "model/isa/form/type.h"
#include "model/isa/form/variable.h"
#include "model/machine/memory/memory.h"
#include "model/ptx/syntax.h"

namespace bitwell::isa {

struct ModuleVariable {
  const ptx::Variable* variable;
  uint64_t address;
  uint64_t size;
};

struct ModuleLayout {
  // The layout for `entry`, or for everything in the module when `entry` is empty. Throws InputError for an
  // unknown target, version or entry, or a variable that cannot be laid out.
  ModuleLayout(const ptx::Module& module, const std::string& entry, const machine::ModulePlace& place = {});

  const ptx::Module& module;
  int sm = 0;
  std::string suffix;  // "", "a" or "f"
  std::map<std::string, ModuleVariable> variables;
  std::vector<const ptx::Function*> functions;             // one a name, the definition if there is one
  std::vector<bool> reachable;                             // by function
  std::map<const ptx::Variable*, uint64_t> shared_places;  // of .shared variables inside function bodies
  // The system's part of shared memory, which stands in front of the kernel's own where its place is asked
  // for.
  uint64_t reserved_shared = 0;
  uint64_t shared_size = 0;     // static, the kernel's own
  uint64_t dynamic_shared = 0;  // where dynamic shared memory starts

  int find_function(std::string_view name) const;
  std::vector<GlobalVariable> globals() const;
  std::vector<SharedVariable> shared_variables() const;

 private:
  void index_functions();
  void reach(const std::string& entry);
  void place_variables(const std::string& entry, const machine::ModulePlace& where);
  std::map<std::string, int, std::less<>> function_at_;  // by name
  std::unordered_set<std::string_view> names_;           // every name that a reachable function uses
};

}  // namespace bitwell::isa
