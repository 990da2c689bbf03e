#include "verify/capture/approximate_ways.h"

#include <algorithm>
#include <unordered_map>

namespace bitwell::capture {
namespace {

using isa::Use;
using Take = isa::Use::Take;

// One function's registers that approximate bits have come to, each with the instruction that made them.
class Followed {
 public:
  Followed(const isa::Function& function, const std::set<std::string>& instructions)
      : function_(function), instructions_(instructions) {}

  void follow() {
    for (bool more = true; more;) {
      more = false;
      for (size_t i = 0; i < function_.uses.size(); ++i) more = pass(i) || more;
    }
  }
  // Of each kind the first.
  std::vector<ApproximateWay> ways() const {
    std::vector<ApproximateWay> out;
    for (size_t i = 0; i < function_.uses.size(); ++i) {
      const isa::Uses uses = function_.uses.at(i);
      const bool barrier = function_.lines[i].text.starts_with("bar") ||
                           std::any_of(uses.touches.begin(), uses.touches.end(),
                                       [](const isa::Touch& t) { return t.barrier; });
      for (const Use& u : uses.operands) {
        const size_t* const from = source(u);
        if (from == nullptr) continue;
        if (u.take == Take::address)
          add(out, "an address", i, *from);
        else if (uses.decides)
          add(out, "a branch", i, *from);
        else if (barrier)
          add(out, "a barrier", i, *from);
      }
    }
    return out;
  }

 private:
  // The instruction whose bits the operand has; none where it is only written.
  const size_t* source(const Use& u) const {
    if (u.of != Use::Of::reg || u.take == Take::result || u.take == Take::hint) return nullptr;
    const auto at = made_by_.find(u.number);
    return at == made_by_.end() ? nullptr : &at->second;
  }
  // Whether a register is new.
  bool pass(size_t i) {
    const isa::Uses uses = function_.uses.at(i);
    const size_t* from = nullptr;
    for (const Use& u : uses.operands)
      if (from == nullptr) from = source(u);
    if (instructions_.contains(function_.lines[i].text)) from = &i;
    if (from == nullptr) return false;
    const size_t by = *from;
    bool fresh = false;
    for (const Use& u : uses.operands)
      if (u.of == Use::Of::reg && u.written()) fresh = made_by_.emplace(u.number, by).second || fresh;
    return fresh;
  }
  void add(std::vector<ApproximateWay>& out, const char* to, size_t at, size_t from) const {
    if (std::none_of(out.begin(), out.end(), [&](const ApproximateWay& w) { return w.to == to; }))
      out.push_back({to, function_.lines[at].ptx, function_.lines[from].ptx, function_.lines[from].text});
  }

  const isa::Function& function_;
  const std::set<std::string>& instructions_;
  std::unordered_map<uint32_t, size_t> made_by_;
};

}  // namespace

std::vector<ApproximateWay> approximate_ways(const isa::Program& program,
                                             const std::vector<Evidence>& evidence) {
  std::vector<ApproximateWay> out;
  const auto at = std::find_if(evidence.begin(), evidence.end(),
                               [](const Evidence& e) { return e.how == "approximate"; });
  if (at == evidence.end()) return out;
  for (const isa::Function& f : program.functions) {
    Followed followed(f, at->instructions);
    followed.follow();
    for (ApproximateWay& way : followed.ways()) out.push_back(std::move(way));
  }
  return out;
}

}  // namespace bitwell::capture
