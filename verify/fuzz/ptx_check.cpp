// Any text -> a list of findings, and a program for every entry of a module that has none.
#include <algorithm>

#include "model/isa/compile/compile.h"
#include "model/machine/failure.h"
#include "model/ptx/parse.h"
#include "verify/fuzz/outcome.h"
#include "verify/fuzz/ptx_module.h"

namespace fuzz = bitwell::fuzz;
namespace isa = bitwell::isa;
namespace machine = bitwell::machine;
namespace ptx = bitwell::ptx;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text = bitwell::fuzz::text_of(data, size);
  bitwell::fuzz::outcome<ptx::SyntaxError, machine::InputError, machine::Unsupported>([&] {
    const ptx::Module module = ptx::parse(text);
    if (!bitwell::fuzz::small(module)) return;
    const std::vector<isa::Finding> findings = isa::check(module);
    const bool refused = std::any_of(findings.begin(), findings.end(), [](const isa::Finding& f) {
      return f.kind == isa::Finding::Kind::invalid || f.kind == isa::Finding::Kind::unsupported;
    });
    for (const std::string& entry : isa::entries(module)) {
      std::string why;
      try {
        isa::compile(module, entry, isa::Approximate::h200);
      } catch (const machine::InputError& e) {
        why = e.what();
      } catch (const machine::Unsupported& e) {
        why = e.what();
      }
      bitwell::fuzz::require(why.empty() || refused, "check() finds nothing, yet compile() says: " + why);
    }
  });
  return 0;
}
