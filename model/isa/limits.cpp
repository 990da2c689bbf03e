#include "model/isa/limits.h"

#include <string_view>

#include "model/machine/failure.h"

namespace bitwell::isa {

using machine::InputError;

uint64_t max_shared(int sm) {
  if (sm >= 120) return 99 << 10;
  if (sm == 75) return 64 << 10;
  if (sm == 80 || sm == 87) return 163 << 10;
  if (sm == 86 || sm == 89) return 99 << 10;
  return 227 << 10;
}

uint64_t max_static_shared(int sm, const std::string& suffix) {
  return suffix == "a" ? max_shared(sm) : 48 << 10;
}

uint64_t max_parameters(int version) { return version >= 81 ? 32764 : 4352; }

uint64_t device_memory(int sm) {
  if (sm >= 100) return 180'000'000'000;  // B200 as sold in HGX and DGX: 1,440 GB for eight (its data sheet)
  return uint64_t{143771} << 20;          // H200: what nvidia-smi reports
}

void check_directives(const ptx::Function& f, int version, int sm) {
  const auto refuse = [&](const std::string& what) {
    throw InputError("line " + std::to_string(f.at.line) + ": " + what);
  };
  const auto has = [&](const char* name) { return f.directives.count(name) != 0; };
  const std::string named = " of '" + f.name + "'";
  if (has(".blocksareclusters"))
    throw machine::Unsupported("line " + std::to_string(f.at.line) + ": .blocksareclusters" + named +
                               ", for which the grid counts clusters");
  for (const auto& [name, values] : f.directives) {
    const bool of_functions = name == ".noreturn" || name.starts_with(".abi_preserve");
    if (of_functions && f.is_entry) refuse(name + named + ", which is an entry");
    if (!of_functions && name != ".unified" && !f.is_entry) refuse(name + named + ", which is no entry");
    if (name.find("cluster") != std::string::npos && (sm < 90 || version < 78))
      refuse(name + named + " needs PTX 7.8 and sm_90 or later");
    if (name == ".maxnctapersm") refuse(name + named + ": PTX has had .minnctapersm instead since 2.1");
    const bool counts = name.find("cluster") == std::string::npos;  // the others start at 1
    for (const int64_t v : values)
      if (counts && v == 0 && !of_functions) refuse(name + named + " is 0, it must be 1 or more");
  }
  for (const auto& [a, b] : {std::pair(".maxntid", ".reqntid"), {".maxclusterrank", ".reqnctapercluster"}})
    if (has(a) && has(b)) refuse(std::string(a) + " and " + b + named + " exclude each other");
}

}  // namespace bitwell::isa
