#include "verify/capture/evidence.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "verify/capture/captures.h"

namespace bitwell::capture {
namespace {

// Instructions of one family, and what their launches are called in async.json.
struct Family {
  std::string_view starts;
  std::string_view capture;
};
// The first that fits.
constexpr Family kFamilies[] = {
    {"cp.reduce.async.bulk.tensor.", "tensor reduce"},
    {"cp.reduce.async.bulk.", "bulk reduce"},
    {"cp.async.bulk.tensor.1d.shared", "tensor load 1d"},
    {"cp.async.bulk.tensor.2d.shared", "tensor load 2d"},
    {"cp.async.bulk.tensor.3d.shared", "tensor load 3d"},
    {"cp.async.bulk.tensor.4d.shared", "tensor load 4d"},
    {"cp.async.bulk.tensor.5d.shared", "tensor load 5d"},
    {"cp.async.bulk.tensor.1d.global", "tensor store 1d"},
    {"cp.async.bulk.tensor.2d.global", "tensor store 2d"},
    {"cp.async.bulk.tensor.3d.global", "tensor store 3d"},
    {"cp.async.bulk.tensor.4d.global", "tensor store 4d"},
    {"cp.async.bulk.tensor.5d.global", "tensor store 5d"},
    {"cp.async.bulk.shared", "bulk load"},
    {"cp.async.bulk.", "bulk store"},
    {"cp.async.", "cp.async"},
    {"fence.proxy.async", "bulk store"},
    {"ldmatrix.", "ldmatrix and stmatrix"},
    {"stmatrix.", "ldmatrix and stmatrix"},
    {"mbarrier.", "mbarrier"},
    {"fence.mbarrier_init", "mbarrier"},
    {"st.async.", "remote shared memory, asynchronous"},
    {"red.async.", "remote shared memory, asynchronous"},
    {"barrier.cluster.", "remote shared memory, ordinary"},
    {"mapa.", "remote shared memory, ordinary"},
    {"tensormap.replace.", "tensor map, replaced"},
};

std::vector<std::string> modifiers_of(const std::string& instruction) {
  std::vector<std::string> out;
  std::istringstream in(instruction);
  for (std::string one; std::getline(in, one, '.');) out.push_back(one);
  return out;
}

bool shape(const std::string& modifier) {
  return modifier.size() > 3 && modifier[0] == 'm' && modifier[1] >= '0' && modifier[1] <= '9';
}

// What tensor.json calls an mma or wgmma, its N left out: "mma.sync.m16*k16.f32.f16"; empty for anything
// else.
std::string tensor_key(const std::string& instruction) {
  const std::vector<std::string> m = modifiers_of(instruction);
  const bool warpgroup = instruction.starts_with("wgmma.mma_async.sync.");
  if (!warpgroup && !instruction.starts_with("mma.sync.")) return "";
  std::string dimensions;
  std::vector<std::string> types;
  for (const std::string& one : m)
    if (shape(one))
      dimensions = one.substr(0, one.find('n')) + "*" + one.substr(one.find('k'));
    else if (one.find_first_of("0123456789") != one.npos)
      types.push_back(one);
  if (dimensions.empty() || types.size() < 3) return "";  // D, A, B
  std::string out = (warpgroup ? "wgmma." : "mma.sync.") + dimensions + "." + types[0] + "." + types[1];
  return types[1] == types[2] ? out : out + "." + types[2];
}

// The same of a name in tensor.json: "wgmma.m64n8k16.f32.f16, uniform bits".
std::string recorded_key(const std::string& name) {
  const std::string instruction = name.substr(0, name.find(','));
  const size_t n = instruction.find('n', instruction.find(".m")), k = instruction.find('k', n);
  return instruction.substr(0, n) + "*" + instruction.substr(k);
}

// Names that stand in the captures, those of tensor.json without their N.
struct Known {
  std::set<std::string> instructions, tensor, async;

  explicit Known(const std::string& folder) {
    if (const auto c = read_capture(folder + "/instructions.json"))
      for (const auto& [name, digest] : c->digests) instructions.insert(name);
    if (const auto c = read_capture(folder + "/tensor.json"))
      for (const auto& [name, digest] : c->digests) tensor.insert(recorded_key(name));
    if (const auto c = read_capture(folder + "/async.json"))
      for (const auto& [name, digest] : c->digests) async.insert(name.substr(0, name.rfind(',')));
    std::ifstream programs(folder + "/programs.txt");
    for (std::string line; std::getline(programs, line);)
      if (!line.starts_with('#')) instructions.insert(line);
  }

  bool has(const std::string& instruction) const {
    if (instructions.contains(instruction)) return true;
    if (const std::string key = tensor_key(instruction); !key.empty()) return tensor.contains(key);
    if (instruction.starts_with("wgmma.")) return !tensor.empty();  // its fence, commit and wait
    for (const Family& f : kFamilies)
      if (instruction.starts_with(f.starts)) return async.contains(std::string(f.capture));
    return false;
  }
};

}  // namespace

std::vector<std::string> without_device_evidence(const isa::Program& program, const std::string& captures) {
  const Known known(captures);
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const isa::Function& f : program.functions)
    for (const isa::Line& line : f.lines)
      if (!line.text.empty() && seen.insert(line.text).second && !known.has(line.text))
        out.push_back(line.text);
  return out;
}

}  // namespace bitwell::capture
