// The C++ signature of a kernel, as far as its mangled name tells it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace bitwell::launch {

struct Parameter {
  std::string type;  // "float const*"
  bool pointer = false;
  bool read_only = false;    // a pointer to const
  std::string_view format;   // of its elements where numbers become them ("bf16"); or empty
  std::string_view element;  // their type as NumPy has it ("f4"); or empty
  std::string_view scalar;   // what a plain parameter's "type" is ("s32"); or empty
};

// Of a demangled name, "void scale<4>(float const*, int)". Empty where it has no list of parameters.
std::vector<Parameter> parameters_of(const std::string& demangled);

// Of each tensor in the name of one of the CuTe DSL's kernels, whose parameters it lists by type
// ("kernel_cutlass_add_tensorptrf32gmem..."); none of other names.
std::vector<Parameter> tensors_of(const std::string& name);

}  // namespace bitwell::launch
