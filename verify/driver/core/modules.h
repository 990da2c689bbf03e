// The code of a host program: modules and libraries, their kernels and variables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/isa/context/context.h"
#include "verify/driver/core/asked.h"
#include "verify/driver/device_row.h"
#include "verify/image/image.h"

namespace bitwell::driver {

struct Module;

struct Kernel {
  Module* module = nullptr;            // none from when it was unloaded on
  std::string name;                    // of the entry in PTX
  uint32_t dynamic_shared = 48 << 10;  // the most that a launch may ask for
  bool non_portable_cluster = false;  // whether it may ask for more CTAs in a cluster than every device takes
  int carveout = -1;
  std::shared_ptr<const isa::Program> program{};  // once it is asked for
};

// One that is loaded when somebody needs it: a program may register thousands.
struct Module {
  int number = 0;
  bool library = false;                    // a CUlibrary
  const void* image = nullptr;             // of a program that registered it, for as long as it lives
  std::vector<std::string> texts{};        // PTX of a module that was handed over
  std::vector<isa::ModuleHandle> parts{};  // one a text
  bool loaded = false;
  const void* owner = nullptr;  // the CUDA context that it is of
  std::map<std::string, std::unique_ptr<Kernel>> kernels{};
  std::map<std::string, uint32_t> taken{};  // by kernel: which part has it
};

// A variable that a program registered.
struct Symbol {
  Module* module = nullptr;
  std::string name;
  uint64_t bytes = 0;
};

class Modules {
 public:
  // Of `asked`: where PTX of machine code without any may lie, and how a text is compiled.
  Modules(isa::Context& context, const Asked& asked)
      : context_(context), folder_(asked.ptx), approximate_(asked.approximate), fmad_(asked.fmad) {}

  // Of a program; nothing of it is read yet.
  Module& add_registered(const void* image);
  // Of a file or of memory, for that device. Refused where nothing of it runs there.
  Module& load(std::span<const std::byte> image, const DeviceRow& device, bool library, const void* owner);
  // What the code has for the device. NoCode where there is nothing; `whose` begins what is said then.
  std::vector<std::string> candidates(const image::Image& code, const DeviceRow& device,
                                      const std::string& whose) const;
  void unload(Module& module);
  // Those of a context that ends; and all that belong to none begin anew, as in a process that starts.
  void release_all(const void* owner);
  void begin_anew();
  bool has(const void* module) const { return all_.contains(module); }
  Module& find(const void* module);

  // An entry of the module. Refused CUDA_ERROR_NOT_FOUND where it has none of that name.
  Kernel& kernel(Module& module, const std::string& name, const DeviceRow& device);
  std::vector<std::string> entries(Module& module, const DeviceRow& device);
  // Its program, compiled when it is first asked for.
  const isa::Program& program(Kernel& kernel);
  isa::ModuleHandle part(const Kernel& kernel) const;
  // A .global or .const variable.
  isa::Allocation variable(Module& module, const std::string& name, const DeviceRow& device);

  // By what a program calls it by: a function of the host's, or what kernel() gave. nullptr where there is
  // none.
  Kernel* by_key(const void* key, const DeviceRow& device);
  // Its name in PTX, which nobody reads for it; empty where there is none.
  std::string name_of(const void* key) const;
  void add_key(const void* key, Module& module, const std::string& name) { keys_[key] = {&module, name}; }
  const Symbol* symbol(const void* key) const;
  void add_symbol(const void* key, Symbol symbol) { symbols_[key] = std::move(symbol); }

  // The newest device that the registered code is for, PTX before machine code; sm_90 where there is none, or
  // none of a device that can be shown.
  int newest() const;

 private:
  void look_at(const Module& module);
  void place(Module& module, const DeviceRow& device);
  void place_texts(Module& module);
  isa::Context& context_;
  std::string folder_;
  isa::Approximate approximate_;
  bool fmad_;
  std::map<const void*, std::unique_ptr<Module>> all_;  // by their own address
  std::map<const void*, std::pair<Module*, std::string>> keys_;
  std::map<const void*, Symbol> symbols_;
  std::set<const void*> kernels_;
  // Of modules that were unloaded: a graph, or the program, may have them still.
  std::vector<std::unique_ptr<Kernel>> gone_;
  int count_ = 0;
};

}  // namespace bitwell::driver
