#include "verify/fuzz/ptx_module.h"

#include "model/isa/compile/module_layout.h"

namespace bitwell::fuzz {
namespace {

constexpr uint64_t kMost = uint64_t{1} << 20;
constexpr uint64_t kMostOfThread = uint64_t{1} << 14;

// Adds up what the variables take; stops above the limits.
struct Sum {
  uint64_t bytes = 0;
  bool within = true;

  void add(const ptx::Variable& v) {
    if (v.space == ".reg" || isa::find_type(v.type) == nullptr) return;
    const uint64_t size = isa::size_of(v);
    const bool shared_by_all = v.space == ".global" || v.space == ".const" || v.space == ".shared";
    within = within && size <= (shared_by_all ? kMost : kMostOfThread);
    bytes += within ? size : 0;
    within = within && bytes <= kMost && v.align <= static_cast<int>(kMostOfThread);
  }
  void add(const std::vector<ptx::Statement>& body) {
    for (const ptx::Statement& s : body) {
      if (s.kind == ptx::Statement::Kind::variable) add(s.variable);
      add(s.body);
    }
  }
};

}  // namespace

bool small(const ptx::Module& module) {
  Sum sum;
  for (const ptx::Variable& v : module.variables) sum.add(v);
  for (const ptx::Function& f : module.functions) {
    for (const ptx::Variable& v : f.params) sum.add(v);
    for (const ptx::Variable& v : f.returns) sum.add(v);
    sum.add(f.body);
  }
  return sum.within;
}

}  // namespace bitwell::fuzz
