#include "verify/launch/fmad.h"

#include <algorithm>
#include <map>

#include "verify/launch/entry_text.h"

namespace bitwell::launch {
namespace {

std::string count(size_t n, const std::string& one) {
  return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

}  // namespace

std::vector<Fused> fuse(Launch& launch) {
  std::vector<Fused> out;
  std::map<std::string, std::shared_ptr<const isa::Module>> modules;
  const auto of = [&](const std::string& path, const std::string& entry, bool alone) {
    std::shared_ptr<const isa::Module>& module = modules[path];
    if (module != nullptr) return module;
    const isa::Module whole(read_ptx(path, entry), path);
    const std::string needed = alone && !entry.empty() ? entry_of(whole, entry) : "";
    out.push_back(
        {path, naming(path, [&] { return contraction::contracted_by_ptxas(whole.text(), needed); })});
    return module = std::make_shared<const isa::Module>(out.back().by.contracted.text, path);
  };
  const auto launches = [](const Step& s) { return !s.copy && !s.fill; };
  const bool alone = std::none_of(launch.then.begin(), launch.then.end(), launches);
  launch.module = of(launch.ptx, launch.entry, alone);
  for (Step& s : launch.then)
    if (launches(s)) s.module = of(s.ptx, s.entry, false);
  return out;
}

std::string describe(const contraction::ByPtxas& by) {
  const contraction::Contracted& c = by.contracted;
  std::string out = "ptxas " + by.version + " for " + by.target + " fuses ";
  out += c.fused.empty() ? "none" : std::to_string(c.fused.size());
  out += " of " + count(c.sums, "sum") + " of products";
  if (!c.fused.empty())
    out += std::string(c.fused.size() == 1 ? ", that" : ", the first that") + " of PTX lines " +
           std::to_string(c.fused[0].product) + " and " + std::to_string(c.fused[0].sum);
  if (!c.unclear.empty())
    out += "; of " + std::to_string(c.unclear.size()) + " it cannot be told, the first that of PTX line " +
           std::to_string(c.unclear[0].sum) + ": left apart";
  return out;
}

}  // namespace bitwell::launch
