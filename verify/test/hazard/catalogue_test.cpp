// Every bug of the catalogue is found as what it is, where it is; no kernel is suspected that has none.
#include "verify/bugs/catalogue/catalogue.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "../kernel.h"
#include "../uses_against.h"
#include "model/isa/compile/compile.h"
#include "verify/bugs/catalogue/peers.h"

namespace bitwell::hazard {
namespace {

constexpr size_t kSchedules = 8;

const std::vector<bugs::Exhibit>& catalogue() {
  static const std::vector<bugs::Exhibit> all = bugs::read_catalogue(BITWELL_CATALOGUE);
  return all;
}

// How many bugs a peer finds by its documents, "(N of them" by another tool of its suite, does not, says
// nothing of: as the page's table says it.
class PeerCount {
 public:
  void add(const bugs::PeerAnswer& a) {
    ++(a.found() ? found_ : a.answer == "no" ? not_found_ : not_said_);
    by_another_ += a.found() && a.answer != "yes" ? 1 : 0;
  }
  std::string row() const {
    const auto cell = [](size_t n) { return std::to_string(n) + " | "; };
    return (by_another_ == 0 ? "" : "(" + std::to_string(by_another_) + " of them ... ") + "| " +
           cell(found_) + cell(not_found_) + cell(not_said_);
  }

 private:
  size_t found_ = 0, by_another_ = 0, not_found_ = 0, not_said_ = 0;
};

// verify/bugs/README.md's numbers: of the catalogue, then a row of each peer.
std::vector<std::string> counts_on_the_page() {
  std::ifstream file(BITWELL_BUGS_PAGE);
  const std::regex all(R"((\d+ bugs and \d+ clean kernels) in)"), of_all(R"(of the (\d+ bugs):)"),
      peer(R"(^\|[^|(]*(\(\d+ of them )?[^|(]*(\| \d+ \| \d+ \| \d+ \| )[^|]*\|$)");
  std::vector<std::string> out;
  for (std::string line; std::getline(file, line) && out.size() < 5;) {
    std::smatch found;
    if (std::regex_search(line, found, all) || std::regex_search(line, found, of_all))
      out.push_back(found[1]);
    else if (out.size() >= 2 && std::regex_match(line, found, peer))
      out.push_back((found[1].length() == 0 ? "" : found.str(1) + "... ") + found.str(2));
  }
  return out;
}

TEST(Catalogue, EveryBugIsFoundByItsNameAndThePageCountsThem) {
  const bugs::Peers peers(BITWELL_PEERS);
  std::vector<PeerCount> counts(peers.names().size());
  size_t all = 0;
  for (const bugs::Exhibit& e : catalogue())
    for (const bugs::Bug& bug : e.bugs) {
      const bugs::Tally t = bugs::examine(e, &bug, kSchedules);
      EXPECT_TRUE(t.as_expected) << e.name << " " << bug.name << ": expected " << bug.expected << ", got "
                                 << (t.said.empty() ? "nothing" : t.where);
      ++all;
      for (size_t i = 0; i < counts.size(); ++i)
        if (const bugs::PeerAnswer* a = peers.of(peers.names()[i], e, bug, t.memory); a != nullptr)
          counts[i].add(*a);
    }
  const std::string number = std::to_string(all) + " bugs";
  std::vector<std::string> wanted = {number + " and " + std::to_string(catalogue().size()) + " clean kernels",
                                     number};
  for (const PeerCount& c : counts) wanted.push_back(c.row());
  EXPECT_EQ(counts_on_the_page(), wanted) << "verify/bugs/README.md against the program";
}

TEST(Catalogue, CleanKernelsAreSilent) {
  for (const bugs::Exhibit& e : catalogue()) {
    const bugs::Tally t = bugs::examine(e, nullptr, kSchedules);
    EXPECT_TRUE(t.as_expected) << e.name << ": " << t.where;
  }
}

// Memory is touched as the compiler says of each instruction.
TEST(Catalogue, CleanKernelsTouchWhatTheirInstructionsSay) {
  for (const bugs::Exhibit& e : catalogue()) {
    const test::Module module = test::module_of(bugs::ptx_of(e));
    const auto program = module->program("kernel");
    test::UsesAgainst against(*program);
    run::Options options;
    options.step_limit = 1 << 20;
    options.observers.push_back(against.observer());
    launch::Launch launch = e.launch;
    test::run_ptx(module, launch, options, false);
    EXPECT_EQ(against.wrong(), "") << e.name;
  }
}

}  // namespace
}  // namespace bitwell::hazard
