// What came with Blackwell is taken and refused, target by target, as ptxas 13.0 does; where ptxas is there,
// the list is held against it too.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../mma/mma_forms.h"
#include "model/isa/compile/compile.h"
#include "model/machine/failure.h"
#include "model/ptx/parse.h"

namespace bitwell::isa {
namespace {

std::string module_for(const std::string& target, const std::string& body) {
  return ".version 9.0\n.target " + target +
         "\n.address_size 64\n.visible .entry e(.param .u64 out) {\n.reg .pred %p<4>;\n.reg .b8 %c<4>;\n"
         ".reg .b16 %h<4>;\n.reg .b32 %r<12>;\n.reg .f32 %f<8>;\n.reg .b64 %d<8>;\n.reg .f64 %g<4>;\n"
         ".reg .b128 %q<4>;\n.shared .align 128 .b8 sm[4096];\n" +
         body + "\nret;\n}\n";
}

// "" if it is taken.
std::string refusal(const std::string& text) {
  try {
    isa::compile(ptx::parse(text), "e");
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

bool ptxas_takes(const std::string& target, const std::string& body) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("forms" + std::to_string(getpid()) + ".ptx");
  std::ofstream(file) << module_for(target, body);
  const std::string command = std::string("'" BITWELL_PTXAS "' -arch ") + target + " -o /dev/null '" +
                              file.string() + "' > /dev/null 2>&1";
  const bool taken = std::system(command.c_str()) == 0;
  std::filesystem::remove(file);
  return taken;
}

std::vector<BlackwellForm> all_forms() {
  std::vector<BlackwellForm> out(std::begin(kBlackwellForms), std::end(kBlackwellForms));
  out.insert(out.end(), std::begin(kMmaForms), std::end(kMmaForms));
  return out;
}

TEST(BlackwellForms, EachIsTakenWhereTheListSaysSo) {
  for (size_t t = 0; t < std::size(kBlackwellTargets); ++t)
    for (const BlackwellForm& form : all_forms()) {
      const bool listed = std::string(form.targets).find(kTargetLetters[t]) != std::string::npos;
      const std::string why = refusal(module_for(kBlackwellTargets[t], form.instruction));
      EXPECT_EQ(why.empty(), listed) << form.instruction << " for " << kBlackwellTargets[t] << ": " << why;
    }
}

TEST(BlackwellForms, TheListSaysWhatPtxasSays) {
  if (!std::filesystem::exists(BITWELL_PTXAS)) GTEST_SKIP() << "ptxas is not there";
  // Of what a target does not take every eighth, the campaign all.
  const size_t every = std::getenv("BITWELL_FORMS") != nullptr ? 1 : 8;
  for (size_t t = 0; t < std::size(kBlackwellTargets); ++t) {
    const char* target = kBlackwellTargets[t];
    std::string taken;
    std::string by_pairs;  // a kernel's tcgen05 instructions have one .cta_group
    size_t refused = 0;
    for (const BlackwellForm& form : all_forms())
      if (std::string(form.targets).find(kTargetLetters[t]) != std::string::npos) {
        (std::string(form.instruction).find(".cta_group::2") != std::string::npos ? by_pairs : taken) +=
            std::string(form.instruction) + "\n";
      } else if (refused++ % every == t % every) {  // a ptxas each
        EXPECT_FALSE(ptxas_takes(target, form.instruction)) << form.instruction << " for " << target;
      }
    EXPECT_TRUE(ptxas_takes(target, taken)) << "all that the list has for " << target;
    EXPECT_TRUE(ptxas_takes(target, by_pairs)) << "all of .cta_group::2 that the list has for " << target;
  }
}

}  // namespace
}  // namespace bitwell::isa
