#include "model/isa/form/frame.h"

#include <algorithm>

#include "model/isa/form/variable.h"

namespace bitwell::isa {
namespace {

struct Walk {
  uint64_t end = 0;
  std::vector<LocalVariable> locals{};

  uint64_t place(const ptx::Variable& v) {
    const uint64_t at = place_in_frame(end, std::max<uint64_t>(align_of(v), 1));
    end = at + size_of(v);
    return at;
  }
  void walk(const std::vector<ptx::Statement>& body) {
    for (const ptx::Statement& s : body) {
      if (s.kind == ptx::Statement::Kind::block) walk(s.body);
      if (s.kind != ptx::Statement::Kind::variable) continue;
      const ptx::Variable& v = s.variable;
      if (v.space == ".param") place(v);
      if (v.space == ".local") locals.push_back({v.name, place(v), size_of(v)});
    }
  }
};

}  // namespace

std::vector<LocalVariable> locals_of(const ptx::Function& function) {
  Walk out;
  if (!function.is_entry)
    for (const auto* list : {&function.returns, &function.params})
      for (const ptx::Variable& v : *list) out.place(v);
  out.walk(function.body);
  return std::move(out.locals);
}

}  // namespace bitwell::isa
