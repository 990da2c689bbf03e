#include "verify/findings/places.h"

#include <set>
#include <utility>

#include "model/isa/family/control/call.h"
#include "model/isa/form/frame.h"

namespace bitwell::findings {
namespace {

using hazard::Object;

// Where the frame of each function may start, by function.
using Frames = std::vector<std::set<uint32_t>>;

constexpr size_t kMostFrames = 64;  // of one function: more are a sign of recursion

Frames frames_of(const isa::Program& program) {
  Frames entry_alone(program.functions.size());
  entry_alone[static_cast<size_t>(program.entry)] = {0};
  Frames out(program.functions.size());
  std::vector<std::pair<size_t, uint32_t>> work{{static_cast<size_t>(program.entry), 0}};
  while (!work.empty()) {
    const auto [at, base] = work.back();
    work.pop_back();
    if (!out[at].insert(base).second) continue;
    if (out[at].size() > kMostFrames) return entry_alone;
    const isa::Function& f = program.functions[at];
    for (const isa::Op& op : f.code) {
      if (op.kind != isa::OpKind::call) continue;
      const auto& site = op.as<isa::CallSite>();
      if (site.kind == isa::CallSite::Callee::indirect) return entry_alone;
      if (site.kind == isa::CallSite::Callee::function)
        work.emplace_back(static_cast<size_t>(site.function), isa::frame_behind(base, f.local_size));
    }
  }
  return out;
}

}  // namespace

std::vector<Object> places_of(const isa::Program& program) {
  std::vector<Object> out;
  for (const isa::SharedVariable& v : program.shared_variables) out.push_back({v.name, v.offset, v.size});
  for (const isa::GlobalVariable& g : program.globals)
    out.push_back({g.name, g.address, g.size, g.is_const ? Object::Space::constant : Object::Space::global});
  const Frames frames = frames_of(program);
  for (size_t f = 0; f < program.functions.size(); ++f)
    for (const isa::LocalVariable& v : program.functions[f].locals) {
      if (frames[f].empty()) continue;
      Object& object = out.emplace_back(Object{v.name, 0, v.size, Object::Space::local});
      for (const uint32_t base : frames[f]) object.elsewhere.push_back(base + v.offset);
      object.offset = object.elsewhere.front();
      object.elsewhere.erase(object.elsewhere.begin());
    }
  return out;
}

}  // namespace bitwell::findings
