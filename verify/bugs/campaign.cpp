// Plants mistakes into every kernel of bitwell's own and counts which ones the suites find.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

#include "verify/bugs/count.h"
#include "verify/bugs/judge.h"
#include "verify/bugs/known.h"
#include "verify/capture/captures.h"
#include "verify/cli/table.h"
#include "verify/suite/parallel.h"

namespace bitwell::bugs {
namespace {

struct Options {
  std::vector<std::string> only;  // parts of kernels' names
  std::string kind;               // part of a kind's name
  size_t most = 6;                // of a kernel and kind, of those that are sampled
  uint64_t seed = 1;
  int threads = 0;
  bool whole = false;  // those that no suite can fail too under every schedule
  std::string list, log;
};

// Planted at every site: what agents meet by. Of arithmetic and addresses there are thousands of sites.
constexpr std::array kEverySite{"wait deleted",   "arrive deleted",      "barrier deleted",
                                "fence deleted",  "copy deleted",        "parity flipped",
                                "count changed",  "bytes changed",       "store deleted",
                                "scope or order", "coordinates swapped", "accumulation changed"};

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

std::vector<std::string> row(const std::string& kernel, const std::string& kind, const Count& c) {
  std::vector<std::string> out{kernel, kind};
  for (const size_t n : {c.sites, c.planted, c.named, c.wrong_bits, c.runs_on, c.unsupported, c.not_ptx,
                         c.missed, c.equivalent, c.needs_races})
    out.push_back(cli::grouped(n));
  return out;
}

std::vector<std::string> score_row(const std::string& kernel, const Count& c) {
  return {kernel, cli::grouped(c.killed()), cli::grouped(c.not_equivalent()), percent_killed(c)};
}

std::string told(const std::string& kernel, const Mutant& m) {
  return fmt::format("{}, PTX line {}, {}:\n    {}\n    {}\n", kernel, m.line, m.kind, m.before,
                     m.after.empty() ? "(deleted)" : m.after);
}

class Campaign {
 public:
  explicit Campaign(const Options& options)
      : o_(options), list_(read_list(options.list)), used_(list_.size()) {
    if (!o_.log.empty()) log_.open(o_.log);
  }

  void run(const Subject& subject) {
    const Jury jury(subject, o_.threads);
    const Values values(jury.text());
    std::map<std::string, std::vector<Mutant>> by_kind;
    for (Mutant& m : planted(subject, jury.text()))
      if (m.kind.find(o_.kind) != std::string::npos) by_kind[m.kind].push_back(std::move(m));
    std::vector<Mutant> chosen;
    std::map<std::string, Count> counts;
    for (const auto& [kind, all] : by_kind) {
      const bool every = std::any_of(kEverySite.begin(), kEverySite.end(),
                                     [&, &name = kind](const char* k) { return name.find(k) == 0; });
      const std::vector<Mutant> some = every ? all : sample(all, o_.most, o_.seed);
      counts[kind].sites = all.size();
      chosen.insert(chosen.end(), some.begin(), some.end());
    }
    std::vector<Finding> findings(chosen.size());
    std::mutex mutex;
    size_t done = 0;
    verify::each_in_parallel(chosen.size(), o_.threads, [&](size_t i) {
      const auto start = std::chrono::steady_clock::now();
      const std::optional<Known> known = by_rule(chosen[i], values);
      const bool hopeless = known || find(list_, subject.name, chosen[i]) != nullptr;
      if (known && known->is == Known::Class::equivalent)
        findings[i] = {Found::nothing, known->reason};
      else
        findings[i] =
            judge(subject, jury, chosen[i],
                  hopeless && !o_.whole ? Jury::Under::first_schedule : Jury::Under::every_schedule);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const std::scoped_lock lock(mutex);
      cli::progress(fmt::format("{}: {} of {} mutants, {} missed so far", subject.name, ++done, chosen.size(),
                                missed_.size()));
      if (log_) {
        log_ << fmt::format("{}\t{:.3f}\t{}\t{}\t{}\t{}\t{}\t{}\n", static_cast<int>(findings[i].found),
                            seconds, subject.name, chosen[i].line, chosen[i].kind, chosen[i].before,
                            chosen[i].after, findings[i].what.substr(0, findings[i].what.find('\n')));
        log_.flush();
      }
    });
    for (size_t i = 0; i < chosen.size(); ++i)
      count(subject, jury, values, chosen[i], findings[i], counts[chosen[i].kind]);
    cli::end_progress();
    Count whole;
    for (const auto& [kind, c] : counts) {
      rows_.push_back(row(subject.name, kind, c));
      whole.add(c);
    }
    all_.add(whole);
    scores_.push_back(score_row(subject.name, whole));
    fmt::print(stderr,
               "{}: {} launches a mutant at most, {} planted, {} named, {} wrong bits, {} run on, {} missed, "
               "{} equivalent, {} need race checking\n",
               subject.name, jury.trials(), whole.planted, whole.named, whole.wrong_bits, whole.runs_on,
               whole.missed, whole.equivalent, whole.needs_races);
  }

  // Whether nothing was missed and no line of the list is stale.
  bool report(bool whole) {
    rows_.push_back(row("all", "", all_));
    fmt::print("{}", cli::table({{"kernel"},
                                 {"planted"},
                                 {"sites", true},
                                 {"planted", true},
                                 {"named", true},
                                 {"wrong bits", true},
                                 {"runs for ever", true},
                                 {"unsupported", true},
                                 {"not PTX", true},
                                 {"missed", true},
                                 {"equivalent", true},
                                 {"needs race checking", true}},
                                rows_));
    scores_.push_back(score_row("all", all_));
    fmt::print("\n{}", cli::table({{"kernel"}, {"killed", true}, {"not equivalent", true}, {"score", true}},
                                  scores_));
    fmt::print(
        "\nWaits, arrivals, barriers, fences, copies, stores, parities, counts, bytes, coordinates and "
        "accumulations "
        "are planted at\nevery site. Of more than {} sites of another kind in a kernel {} are, evenly, seed "
        "{}.\n",
        o_.most, o_.most, o_.seed);
    if (!races_.empty()) fmt::print("\nNeeds race checking:\n");
    for (const std::string& r : races_) fmt::print("  {}", r);
    if (!missed_.empty()) fmt::print("\nMissed:\n");
    for (const std::string& m : missed_) fmt::print("  {}", m);
    size_t stale = 0;
    for (size_t i = 0; i < list_.size(); ++i) {
      if (used_[i] == Use::survived || (used_[i] == Use::none && !whole)) continue;
      if (stale++ == 0) fmt::print("\nStale lines of {}:\n", o_.list);
      fmt::print("  line {}: {}, {} => {}: {}\n", list_[i].line, list_[i].kernel, list_[i].before,
                 list_[i].after,
                 used_[i] == Use::found ? "the suite finds it" : "no such mutant was planted");
    }
    return missed_.empty() && stale == 0;
  }

 private:
  enum class Use : uint8_t { none, survived, found };

  static std::vector<Mutant> planted(const Subject& subject, const std::string& text) {
    std::vector<Mutant> out = mutants(text);
    std::set<std::pair<size_t, std::string>> seen;
    std::erase_if(out, [&](const Mutant& m) { return !seen.emplace(m.at, m.after).second; });
    if (subject.unlike.empty()) return out;
    std::set<std::string> shapes;
    for (const Mutant& m : mutants(verify::read_file(subject.unlike))) shapes.insert(shape_of(m.before));
    std::erase_if(out, [&](const Mutant& m) { return shapes.count(shape_of(m.before)) != 0; });
    return out;
  }

  static Finding judge(const Subject& subject, const Jury& jury, const Mutant& m, Jury::Under under) {
    try {
      return jury.judge(plant(jury.text(), m), under);
    } catch (const machine::ModelBug& e) {
      throw machine::ModelBug(std::string(e.what()) + "\n  " + told(subject.name, m));
    }
  }

  void count(const Subject& subject, const Jury& jury, const Values& values, const Mutant& m,
             const Finding& f, Count& c) {
    ++c.planted;
    const Listed* listed = find(list_, subject.name, m);
    if (listed != nullptr) {
      Use& use = used_[static_cast<size_t>(listed - list_.data())];
      if (use != Use::survived) use = f.found == Found::nothing ? Use::survived : Use::found;
    }
    switch (f.found) {
      case Found::named: ++c.named; return;
      case Found::wrong_bits: ++c.wrong_bits; return;
      case Found::runs_on: ++c.runs_on; return;
      case Found::unsupported: ++c.unsupported; return;
      case Found::not_ptx: ++c.not_ptx; return;
      case Found::nothing: break;
    }
    std::optional<Known> known = by_rule(m, values);
    if (!known && listed != nullptr) known = listed->known;
    if (!known) {
      ++c.missed;
      Mutant trap = m;
      trap.after = "trap;";
      const bool runs = jury.judge(plant(jury.text(), trap)).found != Found::nothing;
      missed_.push_back((runs ? "" : "(no case runs it) ") + told(subject.name, m));
    } else if (known->is == Known::Class::equivalent) {
      ++c.equivalent;
    } else {
      ++c.needs_races;
      races_.push_back(told(subject.name, m));
    }
  }

  const Options& o_;
  std::vector<Listed> list_;
  std::vector<Use> used_;
  std::ofstream log_;
  std::vector<std::vector<std::string>> rows_, scores_;
  std::vector<std::string> missed_, races_;
  Count all_;
};

int run(const Options& options) {
  Campaign campaign(options);
  const std::vector<Subject> all = subjects(verify::share_folder("kernels"));
  for (const std::string& part : options.only)
    if (std::none_of(all.begin(), all.end(),
                     [&](const Subject& s) { return s.name.find(part) != std::string::npos; }))
      throw machine::InputError("--only '" + part + "': no kernel has that in its name; the last is " +
                                all.back().name);
  for (const Subject& s : all) {
    const bool wanted = options.only.empty() ||
                        std::any_of(options.only.begin(), options.only.end(), [&](const std::string& part) {
                          return s.name.find(part) != std::string::npos;
                        });
    if (wanted) campaign.run(s);
  }
  return campaign.report(options.only.empty() && options.kind.empty() && options.seed == Options().seed &&
                         options.most == Options().most)
             ? 0
             : 1;
}

}  // namespace
}  // namespace bitwell::bugs

int main(int argc, char** argv) {
  bitwell::bugs::Options options;
  CLI::App app{
      "Plants mistakes into bitwell's own kernels, one instruction at a time, and counts which ones their "
      "suites find."};
  app.add_option("--only", options.only, "Only kernels whose names contain one of these, such as gemv/fused");
  app.add_option("--kind", options.kind, "Only mistakes whose kind contains this, such as 'parity'");
  app.add_option("--most", options.most, "Mistakes of one kind in one kernel")->capture_default_str();
  app.add_option("--seed", options.seed, "Which ones, where there are more")->capture_default_str();
  app.add_option("--threads", options.threads, "Host threads (default: all)");
  app.add_flag("--whole", options.whole,
               "Mutants of the list, and those that need race checking, under every schedule of a case, not "
               "its first alone");
  options.list = BITWELL_SURVIVORS;
  app.add_option("--list", options.list, "Mutants that are equivalent or need race checking")
      ->capture_default_str();
  app.add_option("--log", options.log, "Every mutant with its finding, to this file");
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
