#include "model/isa/compile/directives.h"

#include <string_view>

#include "model/machine/failure.h"

namespace bitwell::isa {

using machine::InputError;

void check_directives(const ptx::Function& f, int version, int sm) {
  const auto refuse = [&](const std::string& what) {
    throw InputError("line " + std::to_string(f.at.line) + ": " + what);
  };
  const auto has = [&](const char* name) { return f.directives.count(name) != 0; };
  const std::string named = " of '" + f.name + "'";
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
  if (has(".blocksareclusters") && version < 90) refuse(".blocksareclusters" + named + " needs PTX 9.0");
  if (has(".blocksareclusters") && !(has(".reqntid") && has(".reqnctapercluster")))
    refuse(".blocksareclusters" + named + " needs .reqntid and .reqnctapercluster");
  for (const auto& [a, b] : {std::pair(".maxntid", ".reqntid"), {".maxclusterrank", ".reqnctapercluster"}})
    if (has(a) && has(b)) refuse(std::string(a) + " and " + b + named + " exclude each other");
}

}  // namespace bitwell::isa
