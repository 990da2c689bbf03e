#include "verify/findings/baseline.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "model/strict_json/parse.h"
#include "model/strict_json/write.h"
#include "verify/capture/digest.h"
#include "verify/launch/launch.h"

namespace bitwell::findings {
namespace {

using machine::InputError;
using nlohmann::json;

constexpr const char* kFormat = "bitwell-baseline";
constexpr int kVersion = 1;
constexpr size_t kDigits = 16;

// "kernel, tile.cu: bar.sync | ld.shared.f32 | add.f32".
std::string party(const hazard::Party& p, const isa::Program& program) {
  for (const isa::Function& f : program.functions) {
    std::vector<const isa::Line*> lines;  // as the file has them
    for (const isa::Line& l : f.lines)
      if (l.ptx != 0) lines.push_back(&l);
    std::stable_sort(lines.begin(), lines.end(),
                     [](const isa::Line* a, const isa::Line* b) { return a->ptx < b->ptx; });
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i]->ptx != p.site.ptx_line) continue;
      std::string out = f.name;
      if (const machine::CudaPlace& cuda = lines[i]->cuda; cuda != nullptr) {
        const std::string source = cuda->chain.front().words();
        out += ", " + source.substr(0, source.rfind(':'));
      }
      return out + ": " + (i == 0 ? "" : lines[i - 1]->text) + " | " + lines[i]->text + " | " +
             (i + 1 == lines.size() ? "" : lines[i + 1]->text);
    }
  }
  return "";
}

std::string hash_of(const std::string& text) {
  capture::Digest digest;
  digest.add(std::as_bytes(std::span(text)));
  return digest.hex();
}

KnownFinding read_finding(const json& j, const std::string& place) {
  const auto text = [&](const char* key) {
    if (!j.contains(key) || !j[key].is_string())
      throw InputError(place + ": \"" + key + "\" must be there, as a string");
    return j[key].get<std::string>();
  };
  if (!j.is_object()) throw InputError(place + " is no object");
  for (const auto& [key, value] : j.items())
    if (key != "fingerprint" && key != "kind" && key != "entry" && key != "text" && key != "findings")
      throw InputError(place + ": '" + key + "' is none of fingerprint, kind, entry, text, findings");
  KnownFinding out{text("fingerprint"), text("kind"), text("entry"), text("text"), 1};
  if (out.hash.size() != kDigits || out.hash.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw InputError(place + ": the fingerprint '" + out.hash + "' must be 16 digits of 0 to 9 and a to f");
  if (j.contains("findings")) {
    if (!j["findings"].is_number_unsigned() || j["findings"] == 0)
      throw InputError(place + ": \"findings\" must be a whole number from 1 on");
    out.findings = j["findings"];
  }
  return out;
}

}  // namespace

Fingerprint fingerprint(const Found& found) {
  const hazard::Finding& f = found.finding;
  std::string a = party(f.earlier, found.earlier->program), b = party(f.later, found.later->program);
  const bool one = found.earlier == found.later;
  if (one && b < a) std::swap(a, b);  // which is the earlier hangs on the schedule
  Fingerprint out;
  out.text = std::string(hazard::row_of(f.kind).name) + " in " +
             (one ? "" : found.earlier->entry() + ", then in ") + found.later->entry() + "; " + a + "; " + b;
  out.hash = hash_of(out.text);
  return out;
}

Baseline read_baseline(const std::string& path) {
  const std::string name = "the baseline '" + path + "'";
  json j;
  try {
    j = strict_json::parse(launch::read_file(path));
  } catch (const strict_json::JsonError& e) {
    throw InputError(name + ": " + e.what());
  }
  if (!j.is_object() || !j.contains("format") || j["format"] != kFormat)
    throw InputError(name + ": its \"format\" must be \"" + std::string(kFormat) +
                     "\"; --write-baseline writes such a file");
  if (!j.contains("version") || j["version"] != kVersion)
    throw InputError(name + ": its \"version\" must be " + std::to_string(kVersion));
  if (!j.contains("findings") || !j["findings"].is_array())
    throw InputError(name + ": its \"findings\" must be a list");
  Baseline out;
  for (const json& finding : j["findings"])
    out.known.push_back(read_finding(finding, name + ", finding " + std::to_string(out.known.size())));
  return out;
}

std::string baseline_with(const Baseline& before, const std::vector<Found>& findings,
                          const Entries& entries) {
  std::map<std::pair<std::string, std::string>, KnownFinding> all;  // by entry and text
  for (const KnownFinding& k : before.known)
    if (entries.count(k.entry) == 0) all.insert({{k.entry, k.text}, k});
  for (const Found& f : findings) {
    const Fingerprint print = fingerprint(f);
    const std::string& entry = f.later->entry();
    const auto [at, fresh] = all.try_emplace(
        {entry, print.text},
        KnownFinding{print.hash, std::string(hazard::row_of(f.finding.kind).name), entry, print.text, 1});
    if (!fresh) ++at->second.findings;
  }
  nlohmann::ordered_json out{{"format", kFormat}, {"version", kVersion}, {"findings", json::array()}};
  for (const auto& [key, k] : all)
    out["findings"].push_back(nlohmann::ordered_json{{"fingerprint", k.hash},
                                                     {"kind", k.kind},
                                                     {"entry", k.entry},
                                                     {"findings", k.findings},
                                                     {"text", k.text}});
  return strict_json::dumped(out, 2) + "\n";
}

Sifted sift(const std::vector<Found>& findings, const Entries& entries, const Baseline& baseline) {
  std::map<std::string, uint64_t> left;
  for (const KnownFinding& k : baseline.known)
    if (entries.count(k.entry) != 0) left[k.hash] += k.findings;
  Sifted out;
  for (const Found& f : findings) {
    const auto at = left.find(fingerprint(f).hash);
    const bool known = at != left.end() && at->second != 0;
    if (known) --at->second;
    (known ? out.known : out.fresh).push_back(f);
  }
  for (KnownFinding k : baseline.known) {
    if (entries.count(k.entry) == 0) continue;
    k.findings = std::exchange(left[k.hash], 0);
    if (k.findings != 0) out.stale.push_back(k);
  }
  return out;
}

}  // namespace bitwell::findings
