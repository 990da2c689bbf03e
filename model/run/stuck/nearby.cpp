#include "model/run/stuck/nearby.h"

#include <cxxabi.h>

#include <cstdlib>

#include "model/machine/beside.h"

namespace bitwell::run {
namespace {

using machine::Named;

Beside after_comma(std::vector<Named> objects, uint64_t address) {
  // Addresses of these memories are small, and wrap below 0: counted from half of all instead.
  constexpr uint64_t middle = uint64_t{1} << 63;
  const bool wrapped = address >> 31 == 1;  // of a 32-bit address
  for (Named& o : objects) o.base += middle;
  const uint64_t at = address + middle - (wrapped ? uint64_t{1} << 32 : 0);
  const std::string text = machine::beside(objects, at, "far from every variable");
  return {text.empty() ? "" : ", " + text, machine::nearest(objects, at)};
}

}  // namespace

// A C++ name as it was written: "pipeline::full". A variable `a` is no mangled name, though the demangler
// knows `a` as a type.
std::string readable(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  char* plain = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string out = status == 0 && plain != nullptr ? plain : name;
  std::free(plain);
  return out;
}

Beside beside_shared(const Cta& cta, uint64_t address) {
  std::vector<Named> objects;
  for (const isa::SharedVariable& v : cta.grid.program.shared_variables)
    objects.push_back(
        {v.name, cta.shared.base() + v.offset, v.size != 0 ? v.size : cta.grid.shape.dynamic_shared});
  return after_comma(std::move(objects), address);
}

Beside beside_parameters(const Grid& grid, uint64_t offset) {
  std::vector<Named> objects;
  for (const isa::Parameter& p : grid.program.functions[static_cast<size_t>(grid.program.entry)].params)
    objects.push_back({p.name, p.offset, p.size});
  return after_comma(std::move(objects), offset);
}

Beside beside_constants(const Grid& grid, uint64_t address) {
  std::vector<Named> objects;
  for (const isa::GlobalVariable& g : grid.program.globals)
    if (g.is_const) objects.push_back({g.name, g.address, g.size});
  return after_comma(std::move(objects), address);
}

}  // namespace bitwell::run
