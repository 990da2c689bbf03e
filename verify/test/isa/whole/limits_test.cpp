// Limits of variables, parameters and directives: each at its last legal value and one beyond, as ptxas 13.0
// judges them. Where ptxas is there, the verdicts recorded here are held against it too.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "instruction_limits.h"
#include "model/ptx/parse.h"
#include "verify/launch/launch.h"

namespace bitwell::isa {
namespace {

struct Case {
  std::string what;
  std::string text;
  bool legal;              // what ptxas says
  bool in_entry_e = true;  // whether the fault lies in what entry 'e' needs
};

std::string module_of(const std::string& items, const std::string& version = "8.0",
                      const std::string& target = "sm_90a", const std::string& address_size = "64") {
  return ".version " + version + "\n.target " + target + "\n.address_size " + address_size + "\n" + items;
}
std::string entry(const std::string& directives, const std::string& parameters = "",
                  const std::string& body = "") {
  return ".visible .entry e(" + parameters + ") " + directives + " {" + body + " ret;}\n";
}
std::string global(const std::string& variables) { return module_of(variables + "\n" + entry("")); }
std::string local(const std::string& variables) { return module_of(entry("", "", variables)); }
std::string bytes(const std::string& before, uint64_t count) {
  return before + " .b8 a[" + std::to_string(count) + "];";
}
// Shared memory that entry 'e' names.
std::string shared(uint64_t count, const std::string& target, const std::string& version) {
  return module_of(bytes(".shared", count) + entry("", "", ".reg .b32 r; mov.b32 r, a;"), version, target);
}

constexpr const char* kZeroedFirst = ".const of 4 GiB and a byte";

// `lines`: one directive, or combination of them, an entry each.
void directives(std::vector<Case>& out, bool legal, std::initializer_list<const char*> lines) {
  for (const char* line : lines) out.push_back({line, module_of(entry(line)), legal});
}

std::vector<Case> cases() {
  const std::string use_both = ".reg .b32 r; mov.b32 r, a; mov.b32 r, b;";
  std::vector<Case> out{
      {".const of 64 KiB", global(bytes(".const", 65536)), true},
      {".const of a byte more", global(bytes(".const", 65537)), false},
      {kZeroedFirst, global(bytes(".const", 4294967297)), false},
      {"two .const of 64 KiB together", global(".const .b8 b[32768];" + bytes(".const", 32768)), true},
      {"two .const of a byte more", global(".const .b8 b[32768];" + bytes(".const", 32769)), false},
      {".const with a gap, 64 KiB", global(".const .b8 b[1]; .const .align 4 .b8 a[65532];"), true},
      {".const with a gap, a byte more", global(".const .b8 b[1]; .const .align 4 .b8 a[65533];"), false},
      {"static .shared with a gap, 227 KiB",
       module_of(".shared .b8 b[1]; .shared .align 1024 .b8 a[231424];" + entry("", "", use_both)), true},
      {"static .shared with a gap, a byte more",
       module_of(".shared .b8 b[1]; .shared .align 1024 .b8 a[231425];" + entry("", "", use_both)), false},
      {"static .shared of 227 KiB before dynamic",
       module_of(".extern .shared .align 1024 .b8 b[];" + bytes(".shared", 232448) + entry("", "", use_both)),
       true},
      {"static .shared that no entry names", global(bytes(".shared", 300000)), true},
      {"static .shared in the entry, never named", local(bytes(".shared", 300000)), false},
      {"static .shared of another entry",
       module_of(entry("") + ".entry g() {" + bytes(".shared", 300000) + " ret;}"), false, false},
      {"static .shared of two entries, each 227 KiB",
       module_of(entry("", "", bytes(".shared", 232448)) + ".entry g() {" + bytes(".shared", 232448) +
                 " ret;}"),
       true},
      {"static .shared of a function that is called",
       module_of(".func f() {" + bytes(".shared", 232449) + " ret;}" + entry("", "", "call f;")), false},
      {"static .shared of a function that nobody calls",
       module_of(".func f() {" + bytes(".shared", 232449) + " ret;}" + entry("")), true},
      {".global of 4 GiB", global(bytes(".global", uint64_t{1} << 32)), true},
      {".global of 1 TiB", global(bytes(".global", uint64_t{1} << 40)), true},
      {".global of 2^63 bytes", global(bytes(".global", uint64_t{1} << 63)), true},
      {".global of 2^64 - 1 bytes", global(bytes(".global", ~uint64_t{0})), true},
      {".global of 2^64 bytes", global(".global .b8 a[18446744073709551616];"), false},
      {".global of more dimensions than 64 bits", global(".global .b8 a[4294967296][4294967296];"), true},
      {"an initialiser shorter than its array", global(".global .b8 a[2] = {1};"), true},
      {"an initialiser longer than its array", global(".global .b8 a[2] = {1, 2, 3};"), false},
      {".extern .shared of no size", global(".extern .shared .b8 a[];"), true},
      {".extern .shared of size 0", global(".extern .shared .b8 a[0];"), true},
      {"an open second dimension", global(".global .b8 a[4][] = {1, 2};"), false},
      {"an inner dimension of 0", global(".global .b8 a[4][0];"), false},
      {"a size that is an expression", global(".global .b8 a[2+2];"), false},
      {"a size in parentheses", global(".global .b8 a[(4)];"), false},
      {"a size with U", global(".global .b8 a[4U];"), true},
      {"a size that is no whole number", global(".global .b8 a[1.5];"), false},
      {"an alignment that is an expression", global(".global .align 2+2 .b8 a[4];"), false},
      {".local of 512 KiB", local(bytes(".local", 524288)), true},
      {".local of a byte more", local(bytes(".local", 524289)), true},
      {".local of 2^32 bytes", local(bytes(".local", uint64_t{1} << 32)), true},
      {"initialised .local", local(".local .b8 a[2] = {1};"), false},
      {"parameters with a gap, 4,352 bytes",
       module_of(entry("", ".param .b8 p[1], .param .align 8 .b8 q[4344]")), true},
      {"parameters with a gap, a byte more",
       module_of(entry("", ".param .b8 p[1], .param .align 8 .b8 q[4345]")), false},
      {"two parameters, 32,764 bytes",
       module_of(entry("", ".param .b8 p[16382], .param .b8 q[16382]"), "8.1"), true},
      {"two parameters, a byte more", module_of(entry("", ".param .b8 p[16382], .param .b8 q[16383]"), "8.1"),
       false},
      {"a parameter of 4 GiB and more", module_of(entry("", ".param .b8 p[4294967300]"), "8.1"), false},
      {"a parameter of a function", global(".func f(.param .b8 p[65536]) {ret;}"), true},
      {"a large .param in a body", local("{.param .b8 p[65536];}"), true},
      {".noreturn of a function", global(".func f() .noreturn {ret;}"), true},
      {".version 9.0", module_of(entry(""), "9.0", "sm_75"), true},
      {".version 9.6", module_of(entry(""), "9.6", "sm_75"), false},
      {".version 8.9, which never was", module_of(entry(""), "8.9", "sm_75"), false},
      {".version 7.9, which never was", module_of(entry(""), "7.9", "sm_75"), false},
      {".version 6.3 for sm_75", module_of(entry(""), "6.3", "sm_75"), true},
      {".version 6.2 for sm_75", module_of(entry(""), "6.2", "sm_75"), false},
      {".version 1.0", module_of(entry(""), "1.0", "sm_75"), false},
      {".version 4.1 for sm_52", module_of(entry(""), "4.1", "sm_52"), true},
      {".version 4.0 for sm_52", module_of(entry(""), "4.0", "sm_52"), false},
      {".version 8.0 for sm_52", module_of(entry(""), "8.0", "sm_52"), true},
      {".version 4.4, which never was", module_of(entry(""), "4.4", "sm_52"), false},
      {".version 3.0 for sm_30", module_of(entry(""), "3.0", "sm_30"), true},
      {".version 5.1 for sm_70", module_of(entry(""), "5.1", "sm_70"), true},
      {".version 5.2, which never was", module_of(entry(""), "5.2", "sm_60"), false},
      {"no .address_size", ".version 8.0\n.target sm_90a\n" + entry(""), true},
  };
  for (const auto& [target, version, limit] : {std::tuple("sm_75", "7.0", 49152),
                                               {"sm_80", "7.0", 49152},
                                               {"sm_89", "9.0", 49152},
                                               {"sm_90", "9.0", 49152},
                                               {"sm_90a", "8.0", 232448},
                                               {"sm_100", "9.0", 49152},
                                               {"sm_100a", "8.6", 232448},
                                               {"sm_100f", "9.0", 49152},
                                               {"sm_103a", "9.0", 232448},
                                               {"sm_120", "9.0", 49152},
                                               {"sm_120a", "9.0", 101376},
                                               {"sm_121a", "9.0", 101376}})
    for (const int more : {0, 1})
      out.push_back({"static .shared of " + std::to_string(limit + more) + " bytes for " + target,
                     shared(static_cast<uint64_t>(limit + more), target, version), more == 0});
  // DeepGEMM compiles its kernels for families.
  for (const auto& [target, taken] : {std::tuple("sm_90", false),
                                      {"sm_90a", true},
                                      {"sm_100", false},
                                      {"sm_100a", true},
                                      {"sm_100f", true},
                                      {"sm_103f", true},
                                      {"sm_120", false},
                                      {"sm_120f", true}})
    out.push_back({std::string("setmaxnreg for ") + target,
                   module_of(entry("", "", "setmaxnreg.dec.sync.aligned.u32 24;"), "9.0", target), taken});
  for (const auto& [version, target, limit] : {std::tuple("7.8", "sm_90", 4352),
                                               {"8.0", "sm_90a", 4352},
                                               {"8.1", "sm_90a", 32764},
                                               {"9.0", "sm_100a", 32764},
                                               {"8.1", "sm_75", 32764},
                                               {"7.0", "sm_75", 4352}})
    for (const int more : {0, 1})
      out.push_back(
          {"parameters of " + std::to_string(limit + more) + " bytes, PTX " + version,
           module_of(entry("", ".param .b8 p[" + std::to_string(limit + more) + "]"), version, target),
           more == 0});
  for (const char* n : {"32", "16", "0", "128", "-64", "4294967360", "32+32"})
    out.push_back({std::string(".address_size ") + n, module_of(entry(""), "8.0", "sm_90a", n), false});
  for (const char* space : {".global", ".const", ".shared"})
    for (const char* n : {"0", "-1", ""})
      out.push_back({std::string(space) + " of size [" + n + "]",
                     global(std::string(space) + " .b8 a[" + n + "];"), false});
  for (const char* space : {".local", ".param", ".shared"})
    for (const char* n : {"0", "-1", ""})
      out.push_back({std::string(space) + " in a body, of size [" + n + "]",
                     local(std::string(space) + " .b8 a[" + n + "];"), false});
  for (const char* n : {"0", "-1", ""})
    out.push_back({std::string("a parameter of size [") + n + "]",
                   module_of(entry("", std::string(".param .b8 p[") + n + "]")), false});
  for (const auto& [n, legal] : {std::pair("0", true), {"1", true}, {"4294967296", false}})
    out.push_back({std::string(".reg of range ") + n, local(std::string(".reg .b32 r<") + n + ">;"), legal});
  for (const auto& [n, legal] : {std::pair("0", false),
                                 {"1", true},
                                 {"3", false},
                                 {"6", false},
                                 {"128", true},
                                 {"256", true},
                                 {"1048576", true},
                                 {"2097152", true},
                                 {"2147483648", true},
                                 {"4294967296", false},
                                 {"-1", false}}) {
    const std::string align = std::string(" .align ") + n + " ";
    out.push_back({".shared" + align, global(".shared" + align + ".b8 a[4];"), legal});
    if (std::string_view(n) != "2147483648") {  // ptxas writes that much, or dies of it
      for (const char* space : {".global", ".const"})
        out.push_back({space + align, global(space + align + ".b8 a[4];"), legal});
      for (const char* space : {".local", ".shared"})
        out.push_back({space + (" in a body," + align), local(space + align + ".b8 a[4];"), legal});
    }
    out.push_back({"parameter" + align, module_of(entry("", ".param" + align + ".b8 p[4]")), legal});
    out.push_back({"scalar parameter" + align, module_of(entry("", ".param" + align + ".b32 p")), legal});
    out.push_back({".ptr" + align, module_of(entry("", ".param .b64 .ptr .global" + align + "p")), legal});
    const bool small = legal && std::stoll(n) <= 128;  // what a call can pass
    out.push_back({".param in a body," + align, local("{.param" + align + ".b8 a[4];}"), small});
    out.push_back({"parameter of a function," + align, global(".func f(.param" + align + ".b8 p[4]) {ret;}"),
                   small, false});
  }
  directives(out, true,
             {".maxntid 1",
              ".maxntid 1024",
              ".maxntid 1025",
              ".maxntid 2147483648",
              ".maxntid 1024,2",
              ".maxntid 32,32,2",
              ".maxntid 1,1,65",
              ".maxntid 1,1025",
              ".maxntid 65536,65536,65536",
              ".maxntid 0x20",
              ".maxntid 32U",
              ".maxntid 040",
              ".maxntid 0b11",
              ".maxntid WARP_SZ",
              ".reqntid 1",
              ".reqntid 1024",
              ".reqntid 1025",
              ".reqntid 2147483648",
              ".reqntid 1,1,65",
              ".minnctapersm 1",
              ".minnctapersm 65",
              ".minnctapersm 2147483648",
              ".maxntid 1024 .minnctapersm 3",
              ".maxnreg 1",
              ".maxnreg 255",
              ".maxnreg 256",
              ".maxnreg 2147483648",
              ".maxclusterrank 0",
              ".maxclusterrank 17",
              ".maxclusterrank 2147483648",
              ".reqnctapercluster 0",
              ".reqnctapercluster 1,0",
              ".reqnctapercluster 17",
              ".reqnctapercluster 4294967295",
              ".explicitcluster",
              ".explicitcluster .reqnctapercluster 2",
              ".explicitcluster .maxclusterrank 4",
              ".maxntid 128 .maxntid 64",
              ".reqntid 64 .reqntid 32,2",
              ".reqnctapercluster 2 .reqnctapercluster 4",
              ".maxntid 128 .maxnreg 255"});
  directives(out, false,
             {".blocksareclusters",
              ".blocksareclusters .reqntid 32",
              ".blocksareclusters .reqnctapercluster 2",
              ".blocksareclusters .maxntid 32 .reqnctapercluster 2",
              ".maxntid",
              ".maxntid 0",
              ".maxntid 0,1",
              ".maxntid 1,1,0",
              ".maxntid 4294967296",
              ".maxntid 4294967296U",
              ".maxntid -1",
              ".maxntid 1,1,1,1",
              ".maxntid (32)",
              ".maxntid 16+16",
              ".maxntid 32.0",
              ".reqntid 0",
              ".reqntid 1,0",
              ".reqntid 4294967297",
              ".reqntid -1",
              ".reqntid 1,1,1,1",
              ".reqntid 32,(16)",
              ".minnctapersm 0",
              ".minnctapersm 4294967296",
              ".minnctapersm -1",
              ".maxnctapersm 1",
              ".maxntid 1024 .maxnctapersm 3",
              ".maxnreg 0",
              ".maxnreg 4294967296",
              ".maxnreg -1",
              ".maxclusterrank 4294967296",
              ".maxclusterrank -1",
              ".reqnctapercluster 4294967296",
              ".reqnctapercluster -1",
              ".reqnctapercluster 1,1,1,1",
              ".abi_preserve 1",
              ".noreturn",
              ".maxntid 128 .reqntid 128",
              ".reqntid 128 .maxntid 64",
              ".maxclusterrank 8 .reqnctapercluster 4",
              ".reqnctapercluster 4 .maxclusterrank 8"});
  for (const char* line : {".maxntid 32", ".reqntid 32", ".minnctapersm 2", ".maxnreg 32",
                           ".reqnctapercluster 2", ".explicitcluster", ".maxclusterrank 2"})
    out.push_back({std::string(line) + " of a function", global(std::string(".func f() ") + line + " {ret;}"),
                   false, false});
  for (const auto& [version, target, legal] :
       {std::tuple("9.0", "sm_90", true), {"8.8", "sm_90", false}, {"9.0", "sm_80", false}})
    out.push_back({std::string(".blocksareclusters for ") + target + " and PTX " + version,
                   module_of(entry(".blocksareclusters .reqntid 32 .reqnctapercluster 2"), version, target),
                   legal});
  for (const char* line : {".reqnctapercluster 2", ".maxclusterrank 2", ".explicitcluster"}) {
    out.push_back({std::string(line) + " for sm_80", module_of(entry(line), "8.0", "sm_80"), false});
    out.push_back({std::string(line) + " for sm_90", module_of(entry(line), "7.8", "sm_90"), true});
  }
  for (const auto& [body, legal] : kInstructionLimits)
    out.push_back(
        {body,
         module_of(entry("", "",
                         ".reg .pred p; .reg .b16 h; .reg .b32 r; .reg .b64 d, l; .shared .align 16 "
                         ".b8 s[64];\nmov.b64 l, 0; mov.b64 d, 0; mov.b32 r, 0; mov.b16 h, 0; "
                         "setp.eq.b32 p, r, 0;\n" +
                             std::string(body)),
                   "9.0"),
         legal});
  return out;
}

// Empty, or why `work` says that the text is wrong. What is unsupported by name may be anything.
template <class Work>
std::string refusal(Work work) {
  try {
    return work();
  } catch (const ptx::SyntaxError& e) {
    return e.what();
  } catch (const machine::InputError& e) {
    return e.what();
  } catch (const machine::Unsupported& e) {
    return std::string("unsupported: ") + e.what();
  }
}
std::string checked(const std::string& text) {
  return refusal([&] {
    std::string unsupported;
    for (const Finding& f : isa::check(ptx::parse(text))) {
      if (f.kind == Finding::Kind::invalid) return f.what;
      if (f.kind == Finding::Kind::unsupported) unsupported = "unsupported: " + f.what;
    }
    return unsupported;
  });
}
std::string compiled(const std::string& text) {
  return refusal([&] {
    isa::compile(ptx::parse(text), "e");
    return std::string();
  });
}
bool agrees(const std::string& refusal, bool legal) {
  return refusal.starts_with("unsupported: ") || refusal.empty() == legal;
}

TEST(Limits, CheckSaysWhatPtxasSays) {
  for (const Case& c : cases())
    EXPECT_TRUE(agrees(checked(c.text), c.legal))
        << c.what << " is " << (c.legal ? "legal" : "wrong") << ", check says '" << checked(c.text) << "'";
}
TEST(Limits, RunSaysWhatPtxasSays) {
  for (const Case& c : cases())
    EXPECT_TRUE(!c.in_entry_e || agrees(compiled(c.text), c.legal))
        << c.what << " is " << (c.legal ? "legal" : "wrong") << ", run says '" << compiled(c.text) << "'";
}
// At a limit, "unsupported" would hide a wrong verdict: it is allowed only where bitwell supports less.
TEST(Limits, LittleIsUnsupported) {
  std::vector<std::string> names;
  for (const Case& c : cases())
    if (checked(c.text).starts_with("unsupported: ")) names.push_back(c.what);
  EXPECT_EQ(names, (std::vector<std::string>{".global of 2^63 bytes", ".global of 2^64 - 1 bytes",
                                             ".global of more dimensions than 64 bits",
                                             ".local of a byte more", ".local of 2^32 bytes", ".version 9.6",
                                             "no .address_size", ".address_size 32"}));
}
TEST(Limits, PtxasSaysWhatIsRecorded) {
  if (std::string(BITWELL_PTXAS).empty() || !std::filesystem::exists(BITWELL_PTXAS))
    GTEST_SKIP() << "no ptxas";
  const auto folder = std::filesystem::temp_directory_path() / ("bitwell-limits-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::vector<Case> all = cases();
  // That much ptxas zeroes before it says no: ten seconds, and as many GiB as it is asked for. The campaign
  // asks.
  if (std::getenv("BITWELL_LIMITS") == nullptr)
    std::erase_if(all, [](const Case& c) { return c.what == kZeroedFirst; });
  std::vector<char> took(all.size());
  {
    std::atomic<size_t> next = 0;
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
      pool.emplace_back([&] {
        for (size_t i = next++; i < all.size(); i = next++) {
          const std::string path = (folder / std::to_string(i)).string();
          std::ofstream(path) << all[i].text;
          const size_t at = all[i].text.find(".target ") + 8;
          std::string target = all[i].text.substr(at, all[i].text.find('\n', at) - at);
          if (target < "sm_75" && target.size() == 5) target = "sm_75";  // ptxas 13 has no older devices
          const std::string command = std::string(BITWELL_PTXAS) + " -O0 -o /dev/null -arch=" + target + " " +
                                      path + " > /dev/null 2>&1";
          took[i] = std::system(command.c_str()) == 0 ? 1 : 0;
        }
      });
  }
  std::filesystem::remove_all(folder);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(took[i] != 0, all[i].legal) << all[i].what;
}

}  // namespace
}  // namespace bitwell::isa
