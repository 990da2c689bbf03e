// Plants mistakes into every kernel of bitwell's own and counts which ones the suites and the race check
// find.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "verify/bugs/mutation/findings_log.h"
#include "verify/bugs/mutation/judge.h"
#include "verify/bugs/mutation/known.h"
#include "verify/bugs/mutation/outcome.h"
#include "verify/capture/captures.h"
#include "verify/suite/parallel.h"
#include "verify/terminal/table.h"

namespace bitwell::bugs {
namespace {

struct Options {
  std::vector<std::string> only;  // parts of kernels' names
  std::string kind;               // part of a kind's name
  size_t most = 6;                // of a kernel and kind, of those that are sampled
  uint64_t seed = 1;
  int threads = 0;
  bool whole = false;   // those that no suite can fail too under every schedule
  bool resume = false;  // what the log has is not run again
  std::string list, log, scores;
};

// Planted at every site: what agents meet by. Of arithmetic and addresses there are thousands of sites.
constexpr std::array kEverySite{
    "wait deleted",   "arrive deleted",        "barrier deleted",     "fence deleted",       "copy deleted",
    "parity flipped", "count changed",         "bytes changed",       "store deleted",       "scope narrowed",
    "order weakened", "fence of another kind", "coordinates swapped", "accumulation changed"};

// Evenly over the sites, from a place that the seed tells.
std::vector<Mutant> sample(const std::vector<Mutant>& all, size_t most, uint64_t seed) {
  if (all.size() <= most) return all;
  std::vector<Mutant> out;
  const double step = static_cast<double>(all.size()) / static_cast<double>(most);
  const double start = static_cast<double>(seed * 0x9E3779B97F4A7C15u >> 11) * 0x1p-53 * step;
  for (size_t i = 0; i < most; ++i)
    out.push_back(all[static_cast<size_t>(start + static_cast<double>(i) * step)]);
  return out;
}

std::string told(const std::string& kernel, const Mutant& m) {
  return fmt::format("{}, PTX line {}, {}:\n    {}\n    {}\n", kernel, m.line, m.kind, m.before,
                     m.after.empty() ? "(deleted)" : m.after);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<Mutant> all_mutants(const Subject& subject, const std::string& text) {
  std::vector<Mutant> out = mutants(text);
  std::set<std::pair<size_t, std::string>> seen;
  std::erase_if(out, [&](const Mutant& m) { return !seen.emplace(m.at, m.after).second; });
  if (subject.unlike.empty()) return out;
  std::set<std::string> shapes;
  for (const Mutant& m : mutants(launch::read_file(subject.unlike))) shapes.insert(shape_of(m.before));
  std::erase_if(out, [&](const Mutant& m) { return shapes.count(shape_of(m.before)) != 0; });
  return out;
}

// A kernel with what has become of it so far.
struct Trial {
  const Subject& subject;
  std::string text;  // of its entry alone
  Values values;
  Outcome out;
};

class Campaign {
 public:
  explicit Campaign(const Options& options)
      : o_(options), list_(read_list(options.list)), log_(options.log, options.resume) {}

  // Of each kernel, several at a time: the cases of one do not keep all threads busy at its end.
  std::vector<Outcome> run(const std::vector<Subject>& subjects) {
    const int all = o_.threads > 0 ? o_.threads : static_cast<int>(std::thread::hardware_concurrency());
    const int together = std::max(1, all / 4);
    const int each = together == 1 ? all : std::max(1, all / 2);
    std::vector<Outcome> out(subjects.size());
    suite::each_in_parallel(subjects.size(), together,
                            [&](size_t i) { out[i] = run_one(subjects[i], each); });
    terminal::end_progress();
    return out;
  }

  // Prints what there is to look at. Whether nothing was missed and no line of the list is stale; `whole`:
  // lines of which no mutant was planted are.
  bool report(const std::vector<Outcome>& outcomes, bool whole) const {
    fmt::print("{}", tables(outcomes));
    fmt::print(
        "\nWaits, arrivals, barriers, fences, copies, stores, parities, counts, bytes, scopes, orders, "
        "swapped "
        "coordinates\nand accumulations are planted at every site. Of more than {} sites of another kind in "
        "a "
        "kernel {} are, evenly, seed {}.\n",
        o_.most, o_.most, o_.seed);
    const auto print = [&](const char* title, std::vector<std::string> Outcome::*texts) {
      bool first = true;
      for (const Outcome& o : outcomes)
        for (const std::string& text : o.*texts) {
          fmt::print("{}  {}", first ? title : "", text);
          first = false;
        }
      return first;
    };
    print("\nNoted by the race check:\n", &Outcome::noted);
    print("\nGaps:\n", &Outcome::gaps);
    const bool none_missed = print("\nMissed:\n", &Outcome::missed);
    size_t stale = 0;
    for (size_t i = 0; i < list_.size(); ++i) {
      Use use = Use::none;
      for (const Outcome& o : outcomes) use = std::max(use, o.used[i]);
      if (use == Use::survived || (use == Use::none && !whole)) continue;
      if (stale++ == 0) fmt::print("\nStale lines of {}:\n", o_.list);
      fmt::print("  line {}: {}, {} => {}: {}\n", list_[i].line, list_[i].kernel, list_[i].before,
                 list_[i].after, use == Use::found ? "it is found" : "no such mutant was planted");
    }
    return none_missed && stale == 0;
  }

 private:
  Outcome run_one(const Subject& subject, int threads) {
    const std::string text = only_entry(launch::read_file(subject.ptx), subject.entry);
    Trial t{subject, text, Values(text), {subject.name, {}, {}, {}, {}, {}}};
    t.out.used.resize(list_.size());
    const std::vector<Mutant> chosen = choose(t);
    std::vector<Finding> findings(chosen.size());
    std::vector<size_t> open;
    for (size_t i = 0; i < chosen.size(); ++i)
      if (const auto known = log_.known(subject.name, chosen[i]))
        findings[i] = *known;
      else
        open.push_back(i);
    if (!open.empty()) {
      const Jury jury(subject, threads);
      suite::each_in_parallel(open.size(), threads, [&](size_t n) {
        const Mutant& m = chosen[open[n]];
        const auto start = std::chrono::steady_clock::now();
        findings[open[n]] = examine(t, jury, m);
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        log_.add(subject.name, m, findings[open[n]], taken.count());
        terminal::progress(fmt::format("{}: {} mutants so far", subject.name, ++done_));
      });
    }
    for (size_t i = 0; i < chosen.size(); ++i) count(t, chosen[i], findings[i]);
    const Count all = t.out.total();
    terminal::note(fmt::format(
        "{}: {} planted, {} found by the suite, {} by the race check, {} noted, {} gaps, {} missed, "
        "{} equivalent",
        subject.name, all.planted, all.failed(), all.race, all.noted, all.gap, all.missed, all.equivalent));
    return std::move(t.out);
  }

  // Counts the sites too.
  std::vector<Mutant> choose(Trial& t) const {
    std::map<std::string, std::vector<Mutant>> by_kind;
    for (Mutant& m : all_mutants(t.subject, t.text))
      if (m.kind.find(o_.kind) != std::string::npos) by_kind[m.kind].push_back(std::move(m));
    std::vector<Mutant> out;
    for (const auto& [kind, all] : by_kind) {
      const bool every = std::find(kEverySite.begin(), kEverySite.end(), kind) != kEverySite.end();
      const std::vector<Mutant> some = every ? all : sample(all, o_.most, o_.seed);
      t.out.by_kind[kind].sites = all.size();
      out.insert(out.end(), some.begin(), some.end());
    }
    return out;
  }

  Finding examine(const Trial& t, const Jury& jury, const Mutant& m) const {
    if (const auto reason = equivalent_by_rule(m, t.values)) return {Found::nothing, *reason};
    try {
      const std::string text = plant(t.text, m);
      const bool listed = find(list_, t.subject.name, m) != nullptr;
      Finding races{Found::nothing, ""};
      const bool first = listed || only_the_race_check_can_tell(m);
      if (first) races = jury.judge_races(text);
      const bool told = races.found != Found::nothing && races.found != Found::noted;
      if (told || (listed && !o_.whole)) return races;
      Finding found = jury.judge(text);
      if (found.found != Found::nothing) return found;
      if (!first) races = jury.judge_races(text);
      if (races.found == Found::nothing && !is_run(t, jury, m)) races.what = "no case runs it";
      return races;
    } catch (const machine::ModelBug& e) {
      throw machine::ModelBug(std::string(e.what()) + "\n  " + bugs::told(t.subject.name, m));
    }
  }

  static bool is_run(const Trial& t, const Jury& jury, const Mutant& m) {
    Mutant trap = m;
    trap.after = "trap;";
    return jury.judge(plant(t.text, trap)).found != Found::nothing;
  }

  void count(Trial& t, const Mutant& m, const Finding& f) const {
    Count& c = t.out.by_kind[m.kind];
    ++c.planted;
    const Listed* listed = find(list_, t.subject.name, m);
    if (listed != nullptr) {
      Use& use = t.out.used[static_cast<size_t>(listed - list_.data())];
      use = std::max(use, f.found == Found::nothing ? Use::survived : Use::found);
    }
    switch (f.found) {
      case Found::named: ++c.named; return;
      case Found::wrong_bits: ++c.wrong_bits; return;
      case Found::runs_on: ++c.runs_on; return;
      case Found::race: ++c.race; return;
      case Found::noted:
        ++c.noted;
        t.out.noted.push_back(told(t.subject.name, m) + "    " + first_line(f.what) + "\n");
        return;
      case Found::unsupported: ++c.unsupported; return;
      case Found::not_ptx: ++c.not_ptx; return;
      case Found::nothing: break;
    }
    if (equivalent_by_rule(m, t.values) ||
        (listed != nullptr && listed->known.is == Known::Class::equivalent)) {
      ++c.equivalent;
    } else if (listed != nullptr) {
      ++c.gap;
      t.out.gaps.push_back(told(t.subject.name, m) + "    " + listed->known.reason + "\n");
    } else {
      ++c.missed;
      t.out.missed.push_back(told(t.subject.name, m) + (f.what.empty() ? "" : "    " + f.what + "\n"));
    }
  }

  const Options& o_;
  std::vector<Listed> list_;
  FindingsLog log_;
  std::atomic<size_t> done_ = 0;
};

int run(const Options& options) {
  std::vector<Subject> chosen = subjects(capture::share_folder("kernels"));
  const auto named = [](const Subject& s, const std::string& part) {
    return s.name.find(part) != std::string::npos;
  };
  for (const std::string& part : options.only)
    if (std::none_of(chosen.begin(), chosen.end(), [&](const Subject& s) { return named(s, part); }))
      throw machine::InputError("--only '" + part + "': no kernel has that in its name; the last is " +
                                chosen.back().name);
  std::erase_if(chosen, [&](const Subject& s) {
    return !options.only.empty() && std::none_of(options.only.begin(), options.only.end(),
                                                 [&](const std::string& part) { return named(s, part); });
  });
  Campaign campaign(options);
  const std::vector<Outcome> outcomes = campaign.run(chosen);
  if (!options.scores.empty()) std::ofstream(options.scores) << scores_csv(outcomes);
  const bool whole = options.only.empty() && options.kind.empty() && options.seed == Options().seed &&
                     options.most == Options().most;
  return campaign.report(outcomes, whole) ? 0 : 1;
}

}  // namespace
}  // namespace bitwell::bugs

int main(int argc, char** argv) {
  bitwell::bugs::Options options;
  CLI::App app{
      "Plants mistakes into bitwell's own kernels, one instruction at a time, and counts which ones their "
      "suites find, and which ones the race check."};
  app.add_option("--only", options.only, "Only kernels whose names contain one of these, such as gemv/fused");
  app.add_option("--kind", options.kind, "Only mistakes whose kind contains this, such as 'parity'");
  app.add_option("--most", options.most, "Mistakes of one kind in one kernel")->capture_default_str();
  app.add_option("--seed", options.seed, "Which ones, where there are more")->capture_default_str();
  app.add_option("--threads", options.threads, "Host threads (default: all)");
  app.add_flag("--whole", options.whole,
               "Mutants of the list under every schedule of a case, not its first alone");
  options.list = BITWELL_SURVIVORS;
  app.add_option("--list", options.list, "Mutants that are equivalent, and those that nothing finds")
      ->capture_default_str();
  app.add_option("--log", options.log, "Every mutant with its finding, to this file");
  app.add_flag("--resume", options.resume,
               "Mutants that the log has are not run again; the others are added to it")
      ->needs("--log");
  app.add_option("--scores", options.scores, "The scores as CSV, to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    return bitwell::bugs::run(options);
  } catch (const bitwell::machine::InputError& e) {
    fmt::print(stderr, "campaign: {}\n", e.what());
    return 2;
  } catch (const bitwell::machine::Unsupported& e) {
    fmt::print(stderr, "campaign: unsupported: {}\n", e.what());
    return 3;
  } catch (const bitwell::machine::ModelBug& e) {
    fmt::print(stderr, "campaign: a bug in bitwell: {}\n", e.what());
    return 4;
  }
}
