#include "verify/capture/evidence.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "model/machine/arch.h"
#include "model/number/dot.h"
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

// Its types in order: D, A, B of an mma.
std::vector<std::string> types_of(const std::vector<std::string>& modifiers) {
  std::vector<std::string> out;
  for (const std::string& one : modifiers)
    if (!shape(one) && !one.starts_with("kind::") && !one.starts_with("scale_vec::") &&
        one.find_first_of("0123456789") != one.npos)
      out.push_back(one);
  return out;
}

// What tensor.json calls an mma or wgmma, its N left out: "mma.sync.m16*k16.f32.f16"; empty for anything
// else.
std::string tensor_key(const std::string& instruction) {
  const std::vector<std::string> m = modifiers_of(instruction);
  const bool warpgroup = instruction.starts_with("wgmma.mma_async.sync.");
  if (!warpgroup && !instruction.starts_with("mma.sync.")) return "";
  std::string dimensions;
  const std::vector<std::string> types = types_of(m);
  for (const std::string& one : m)
    if (shape(one)) dimensions = one.substr(0, one.find('n')) + "*" + one.substr(one.find('k'));
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

// Moves, loads and stores of the same bytes: the letter of a type says nothing of them, but that what is
// loaded as signed is widened by its sign.
std::vector<std::string> of_same_bytes(const std::string& instruction) {
  const std::string opcode = instruction.substr(0, instruction.find('.'));
  const size_t type = instruction.rfind('.') + 1;
  if (opcode != "mov" && opcode != "ld" && opcode != "st") return {};
  if (type == 0 || type == instruction.size() ||
      std::string_view("bfsu").find(instruction[type]) == std::string_view::npos)
    return {};
  if (opcode == "ld" && instruction[type] == 's') return {};
  std::vector<std::string> out;
  for (const char letter : {'b', 'u', 'f'}) {
    out.push_back(instruction);
    out.back()[type] = letter;
  }
  return out;
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
    for (const std::string& same : of_same_bytes(instruction))
      if (instructions.contains(same)) return true;
    if (const std::string key = tensor_key(instruction); !key.empty()) return tensor.contains(key);
    if (instruction.starts_with("wgmma.")) return !tensor.empty();  // its fence, commit and wait
    for (const Family& f : kFamilies)
      if (instruction.starts_with(f.starts)) return async.contains(std::string(f.capture));
    return false;
  }
};

// Whether others have published how a tensor core of the architecture sums: rows of the table of dot products
// say so of mma.sync by its types, and of tcgen05.mma by its kind, whose types a register has. The sum of
// fp64 products is published as a chain of fused multiply-adds.
bool published(const std::string& instruction, const machine::Arch& arch) {
  const std::vector<std::string> m = modifiers_of(instruction);
  std::string kind;
  for (const std::string& one : m)
    if (one.starts_with("kind::")) kind = one.substr(6);
  const bool plain_kind = kind == "f16" || kind == "tf32" || kind == "f8f6f4";
  const std::vector<std::string> types = types_of(m);
  const bool warp = instruction.starts_with("mma.sync."), fifth = instruction.starts_with("tcgen05.mma.");
  if (!warp && !fifth) return false;
  if (warp && types.size() >= 3 && types[0] == "f64") return true;
  const auto rules = number::dot_rules();
  return std::any_of(rules.begin(), rules.end(), [&](const number::DotRule& r) {
    if (fifth)
      return r.architecture == "blackwell" && r.instruction == (plain_kind ? "tcgen05" : kind) &&
             r.evidence.starts_with("published");
    if (r.architecture != arch.tensor || types.size() < 3 || r.output->name != types[0]) return false;
    if (r.instruction != (kind.empty() || plain_kind ? "mma.sync" : kind)) return false;
    const number::Format* const a = number::find_format(types[1]);
    const number::Format* const b = number::find_format(types[2]);
    return a != nullptr && b != nullptr && r.takes(*a, *b) && r.evidence_for(*a, *b).starts_with("published");
  });
}

bool approximate(const std::string& instruction) {
  return instruction.find(".approx") != std::string::npos || instruction.starts_with("div.full");
}

// What belongs to an operation's name behind its opcode.
constexpr auto kOfName = std::to_array<std::string_view>({"async",
                                                          "bulk",
                                                          "tensor",
                                                          "reduce",
                                                          "prefetch",
                                                          "commit_group",
                                                          "wait_group",
                                                          "wait_all",
                                                          "mma",
                                                          "mma_async",
                                                          "sync",
                                                          "ld",
                                                          "st",
                                                          "cp",
                                                          "alloc",
                                                          "dealloc",
                                                          "commit",
                                                          "wait",
                                                          "fence",
                                                          "shift",
                                                          "init",
                                                          "inval",
                                                          "arrive",
                                                          "arrive_drop",
                                                          "expect_tx",
                                                          "complete_tx",
                                                          "test_wait",
                                                          "try_wait",
                                                          "proxy",
                                                          "cluster",
                                                          "replace",
                                                          "cp_fenceproxy",
                                                          "warp",
                                                          "relinquish_alloc_permit",
                                                          "try_cancel",
                                                          "query_cancel",
                                                          "mbarrier_init",
                                                          "wide",
                                                          "launch_dependents",
                                                          "to",
                                                          "pending_count"});

std::string operation_of(const std::string& instruction) {
  const std::vector<std::string> m = modifiers_of(instruction);
  std::string out = m[0];
  for (size_t i = 1; i < m.size(); ++i) {
    const std::string_view word = std::string_view(m[i]).substr(0, m[i].find("::"));
    if (std::find(kOfName.begin(), kOfName.end(), word) == kOfName.end()) break;
    out += "." + m[i];
  }
  return out;
}

}  // namespace

std::set<std::string> Evidence::operations(const std::vector<Evidence>& others) const {
  std::set<std::string> elsewhere_too, out;
  for (const Evidence& e : others)
    if (&e != this)
      for (const std::string& i : e.instructions) elsewhere_too.insert(operation_of(i));
  for (const std::string& i : instructions) {
    const std::string name = operation_of(i);
    out.insert(elsewhere_too.contains(name) ? i : name);
  }
  return out;
}

std::vector<Evidence> evidence_of(const std::set<std::string>& instructions, int sm,
                                  const std::string& captures, bool nearest) {
  const Known known(captures);
  const machine::Arch& arch = machine::arch(sm);
  const bool asked = arch.evidence == "device";  // the captures are of its GPU
  std::vector<Evidence> out{{"device"}, {"published"}, {"manual", true}, {"manual"}, {"approximate"}};
  for (const std::string& i : instructions) {
    const bool has = known.has(i) && !(nearest && approximate(i));
    const size_t at = has && asked                   ? 0
                      : published(i, arch)           ? 1
                      : approximate(i)               ? 4
                      : has && tensor_key(i).empty() ? 2
                                                     : 3;
    out[at].instructions.insert(i);
  }
  std::erase_if(out, [](const Evidence& e) { return e.instructions.empty(); });
  return out;
}

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
