// The code that a host program has registered: modules, their kernels and variables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/arch.h"
#include "model/ptx/syntax.h"
#include "verify/driver/fat_binary.h"

namespace bitwell::driver {

struct Module;

struct Kernel {
  Module* module = nullptr;
  std::string name;                    // of the entry in PTX
  uint32_t dynamic_shared = 48 << 10;  // the most that a launch may ask for
  bool non_portable_cluster = false;  // whether it may ask for more CTAs in a cluster than every device takes
};

struct Symbol {
  Module* module = nullptr;
  std::string name;
  uint64_t bytes = 0;
  bool constant = false;
  std::optional<std::vector<std::byte>> value{};  // none: as the module has it
};

// One parameter of an entry.
struct Parameter {
  std::string type;  // ".u64"
  uint64_t at = 0, bytes = 0;
};

// What an entry's head says.
struct Head {
  std::vector<Parameter> parameters;
  std::map<std::string, std::vector<int64_t>> directives;  // .maxntid, .reqnctapercluster, ...
};

struct Module {
  FatBinary code;
  int number = 0;
  std::vector<std::unique_ptr<Kernel>> kernels{};
  std::vector<std::unique_ptr<Symbol>> symbols{};

  // The PTX for a device: of those that run there, what was made for the newest. Throws what is missing.
  const std::string& ptx(int sm);
  // Of an entry of that PTX. Throws where it has none of this name.
  const Head& head(const std::string& entry, int sm);
  bool has_variable(const std::string& name, int sm) { return variable(name, sm) != nullptr; }
  bool is_initialised(const std::string& name, int sm) {
    const ptx::Variable* const v = variable(name, sm);
    return v != nullptr && v->initialized;
  }

 private:
  // That PTX without the bodies of functions.
  const ptx::Module& declarations(int sm);
  // nullptr where it has none of this name.
  const ptx::Variable* variable(const std::string& name, int sm);
  std::optional<ptx::Module> declarations_{};
  const std::string* chosen_ = nullptr;
  std::map<std::string, Head> heads_{};
};

// ".target sm_100a, debug" as a row and a suffix; none where the text has no target that bitwell knows.
std::optional<machine::Target> target_of(const std::string& ptx);

class Modules {
 public:
  Module& add(FatBinary code);
  void remove(Module* module);
  // Of a host program's function, a handle, or what add_kernel gave; nullptr where there is none.
  Kernel* kernel(const void* key);
  Kernel* add_kernel(Module& module, const std::string& name, const void* key);
  Symbol* symbol(const void* key);
  void add_symbol(Module& module, Symbol symbol, const void* key);

  // The newest target of all PTX that is here, sm_90 where there is none.
  int newest() const;
  const std::vector<std::unique_ptr<Module>>& all() const { return all_; }

 private:
  std::vector<std::unique_ptr<Module>> all_;
  std::map<const void*, Kernel*> kernels_;
  std::map<const void*, Symbol*> symbols_;
  int count_ = 0;
};

}  // namespace bitwell::driver
