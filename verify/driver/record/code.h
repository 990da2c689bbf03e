// The PTX of a program whose code the machine's driver has loaded.
#pragma once
#include <cuda.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/isa/context/context.h"

namespace bitwell::driver {

// What the driver loaded under one handle, a CUmodule's or a CUlibrary's.
struct Loaded {
  const void* image = nullptr;  // of a file that the process has mapped: read when it is asked for
  bool library = false;
  bool read = false;
  std::vector<std::string> texts{};  // PTX
  std::string trouble{};             // why there is none
  std::vector<isa::ModuleHandle> parts{};
  int number = 0;
};

// A kernel, and where its PTX is.
struct Found {
  std::string name;              // of the entry; empty: nobody knows it
  const void* module = nullptr;  // whose; nullptr where it was found in the program's file
  const Loaded* loaded = nullptr;
  isa::ModuleHandle part{};
};

class Code {
 public:
  Code(isa::Context& context, std::string folder) : context_(context), folder_(std::move(folder)) {}
  // What was handed to the driver under that handle, in memory or as a file.
  void add(const void* handle, const void* image, bool library);
  void add_file(const void* handle, const char* path, bool library);
  void drop(const void* handle);
  // What the driver called a kernel of a module by.
  void name(const void* kernel, const void* module, const std::string& name);

  // Of what a launch named. Throws InputError saying why there is no PTX of it.
  Found find(CUfunction kernel, int sm);

 private:
  void read(Loaded& loaded, int sm);
  void place(Loaded& loaded);
  bool has(Loaded& loaded, const std::string& name, Found& out);
  isa::Context& context_;
  std::string folder_;
  std::map<const void*, std::unique_ptr<Loaded>> all_;
  std::map<const void*, std::pair<const void*, std::string>> names_;  // by kernel: module and name
  std::unique_ptr<Loaded> program_;                                   // its file, where nothing else helps
  int count_ = 0;
};

}  // namespace bitwell::driver
