#include "verify/bugs/mutation/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <set>
#include <span>
#include <thread>

#include "model/strict_json/write.h"
#include "verify/bugs/mutation/findings_log.h"
#include "verify/bugs/mutation/judge.h"
#include "verify/bugs/mutation/known.h"
#include "verify/bugs/mutation/outcome.h"
#include "verify/journal/folder.h"
#include "verify/journal/parts.h"
#include "verify/suite/parallel.h"
#include "verify/terminal/table.h"

namespace bitwell::bugs {
namespace {

using Options = CampaignOptions;
using machine::InputError;

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

// With its mutants, and what became of them.
struct Planted {
  Trial trial;
  std::vector<Mutant> chosen;
  std::vector<Finding> findings{};  // in their order
};

class Campaign {
 public:
  explicit Campaign(const Options& options)
      : o_(options), list_(read_list(options.list)), log_(options.log, options.resume) {}

  // What is planted into a kernel; nobody has looked for it yet.
  Planted planted(const Subject& subject) const {
    const std::string text = only_entry(launch::read_file(subject.ptx), subject.entry);
    Planted out{{subject, text, Values(text), {subject.name, {}, {}, {}, {}, {}}}, {}};
    out.trial.out.used.resize(list_.size());
    out.chosen = choose(out.trial);
    out.findings.resize(out.chosen.size());
    return out;
  }

  using Tell = std::function<void(size_t mutant, const Finding& found, double seconds)>;
  // Looks for those; `tell` hears of each, on any thread.
  void examine(Planted& p, const std::vector<size_t>& open, int threads, const Tell& tell) {
    if (open.empty()) return;
    const Jury jury(p.trial.subject, threads);
    suite::each_in_parallel(open.size(), threads, [&](size_t n) {
      const Mutant& m = p.chosen[open[n]];
      const auto start = std::chrono::steady_clock::now();
      p.findings[open[n]] = examine(p.trial, jury, m);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      tell(open[n], p.findings[open[n]], taken.count());
      terminal::progress(fmt::format("{}: {} mutants so far", p.trial.subject.name, ++done_));
    });
  }

  // What it came to, of those mutants of which there is a finding: `known`, or all.
  Outcome outcome(Planted p, const std::vector<bool>& known = {}) const {
    for (size_t i = 0; i < p.chosen.size(); ++i)
      if (known.empty() || known[i]) count(p.trial, p.chosen[i], p.findings[i]);
    return std::move(p.trial.out);
  }

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

  // What there is to look at. Whether nothing was missed and no line of the list is stale; `whole`: lines of
  // which no mutant was planted are.
  CampaignEnd report(const std::vector<Outcome>& outcomes, bool whole) const {
    std::string out = tables(outcomes);
    out += fmt::format(
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
          out += fmt::format("{}  {}", first ? title : "", text);
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
      if (stale++ == 0) out += fmt::format("\nStale lines of {}:\n", o_.list);
      out += fmt::format("  line {}: {}, {} => {}: {}\n", list_[i].line, list_[i].kernel, list_[i].before,
                         list_[i].after, use == Use::found ? "it is found" : "no such mutant was planted");
    }
    return {out, none_missed && stale == 0};
  }

 private:
  Outcome run_one(const Subject& subject, int threads) {
    Planted p = planted(subject);
    std::vector<size_t> open;
    for (size_t i = 0; i < p.chosen.size(); ++i)
      if (const auto known = log_.known(subject.name, p.chosen[i]))
        p.findings[i] = *known;
      else
        open.push_back(i);
    examine(p, open, threads, [&](size_t i, const Finding& found, double seconds) {
      log_.add(subject.name, p.chosen[i], found, seconds);
    });
    Outcome out = outcome(std::move(p));
    const Count all = out.total();
    terminal::note(fmt::format(
        "{}: {} planted, {} found by the suite, {} by the race check, {} noted, {} gaps, {} missed, "
        "{} equivalent",
        subject.name, all.planted, all.failed(), all.race, all.noted, all.gap, all.missed, all.equivalent));
    return out;
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

std::vector<Subject> chosen_of(std::vector<Subject> all, const Options& options) {
  const auto named = [](const Subject& s, const std::string& part) {
    return s.name.find(part) != std::string::npos;
  };
  for (const std::string& part : options.only)
    if (std::none_of(all.begin(), all.end(), [&](const Subject& s) { return named(s, part); }))
      throw InputError("--only '" + part + "': no kernel has that in its name; the last is " +
                       all.back().name);
  std::erase_if(all, [&](const Subject& s) {
    return !options.only.empty() && std::none_of(options.only.begin(), options.only.end(),
                                                 [&](const std::string& part) { return named(s, part); });
  });
  return all;
}

bool is_whole(const Options& options) {
  return options.only.empty() && options.kind.empty() && options.seed == Options().seed &&
         options.most == Options().most;
}

std::string digest_of(const std::string& file) { return journal::fingerprint({launch::read_file(file)}); }

journal::Question question_of(const Options& o, const std::string& version) {
  std::vector<std::string> command{"campaign"};
  for (const std::string& part : o.only) command.insert(command.end(), {"--only", part});
  if (!o.kind.empty()) command.insert(command.end(), {"--kind", o.kind});
  command.insert(command.end(), {"--most", std::to_string(o.most), "--seed", std::to_string(o.seed)});
  if (o.whole) command.emplace_back("--whole");
  return {version,
          command,
          {{"campaign", "mutants"},
           {"only", o.only},
           {"kind", o.kind},
           {"most", o.most},
           {"seed", o.seed},
           {"whole", o.whole},
           {"list", digest_of(o.list)}}};
}

// "gemv/naive row-major: line 37, wait deleted => mov.pred done, 1;"
std::string name_of(const Subject& subject, const Mutant& m) {
  return fmt::format("{}: line {}, {} => {}{}", subject.name, m.line, m.kind,
                     m.after.empty() ? "(deleted)" : m.after, m.nth == 1 ? "" : fmt::format(" #{}", m.nth));
}

// Mutants of one kernel that go to one shard together: each costs it the cases as built.
constexpr size_t kTogether = 16;
struct Piece {
  size_t subject, begin, end;
};

constexpr size_t kMostMissing = 12;  // that a person is told

Finding finding_of(const journal::Line& line) {
  try {
    const std::string found = line.text.at("found"), what = line.text.at("what");
    if (const auto of = found_of(found)) return {*of, what};
  } catch (const nlohmann::json::exception&) {  // as one that says nothing
  }
  throw InputError(line.at() + " is no line of a mutant: remove it");
}

// Takes what the journals have; by mutant, of which that is.
std::vector<bool> take_known(Planted& p, const journal::Journals& journals) {
  std::vector<bool> out(p.chosen.size());
  const std::string modules = p.chosen.empty() ? "" : digest_of(p.trial.subject.ptx);
  for (size_t i = 0; i < p.chosen.size(); ++i) {
    const auto at = journals.by_case.find(name_of(p.trial.subject, p.chosen[i]));
    if (at == journals.by_case.end()) continue;
    if (at->second.text.value("modules", "") != modules)
      throw InputError("'" + at->first + "' was planted into another PTX than " + p.trial.subject.ptx +
                       " has: give these kernels a folder of their own");
    p.findings[i] = finding_of(at->second);
    out[i] = true;
  }
  return out;
}

}  // namespace

std::string survivors() { return BITWELL_SURVIVORS; }

CampaignEnd run_campaign(const std::vector<Subject>& subjects, const CampaignOptions& options) {
  Campaign campaign(options);
  const std::vector<Subject> chosen = chosen_of(subjects, options);
  const std::vector<Outcome> outcomes = campaign.run(chosen);
  if (!options.scores.empty()) std::ofstream(options.scores) << scores_csv(outcomes);
  return campaign.report(outcomes, is_whole(options));
}

CampaignEnd run_campaign_shard(const std::vector<Subject>& subjects, const CampaignOptions& options,
                               const std::string& folder, const std::string& shard, const std::string& times,
                               const std::string& version) {
  const journal::Shard part = journal::shard_of(shard);
  const journal::Times took(times, folder);
  const journal::Question question = question_of(options, version);
  const journal::Journals before = journal::read(folder, version, question);
  for (const std::string& note : before.notes) terminal::note("campaign: " + note);
  Campaign campaign(options);
  const std::vector<Subject> chosen = chosen_of(subjects, options);
  std::vector<Planted> planted;
  std::vector<std::vector<bool>> known;
  std::vector<Piece> pieces;
  std::vector<double> seconds;
  for (const Subject& subject : chosen) {
    planted.push_back(campaign.planted(subject));
    known.push_back(take_known(planted.back(), before));
    const std::vector<Mutant>& all = planted.back().chosen;
    for (size_t begin = 0; begin < all.size(); begin += kTogether) {
      pieces.push_back({planted.size() - 1, begin, std::min(begin + kTogether, all.size())});
      if (!took.any()) continue;
      seconds.push_back(0);
      for (size_t i = begin; i < pieces.back().end; ++i) seconds.back() += took.of(name_of(subject, all[i]));
    }
  }
  std::vector<std::vector<size_t>> open(planted.size());
  std::vector<size_t> order;  // of kernels, as their first piece comes
  size_t mine = 0, left = 0;
  for (const size_t i : journal::part(pieces.size(), seconds, part)) {
    const Piece& piece = pieces[i];
    for (size_t m = piece.begin; m < piece.end; ++m) {
      ++mine;
      if (known[piece.subject][m]) continue;
      ++left;
      if (open[piece.subject].empty()) order.push_back(piece.subject);
      open[piece.subject].push_back(m);
    }
  }
  std::optional<journal::Writer> writer;
  if (left != 0) writer.emplace(folder, question, part);
  std::mutex mutex;
  for (const size_t i : order) {
    Planted& p = planted[i];
    const std::string modules = digest_of(p.trial.subject.ptx);
    campaign.examine(p, open[i], options.threads, [&](size_t m, const Finding& found, double took_now) {
      const std::string name = name_of(p.trial.subject, p.chosen[m]);
      const std::scoped_lock lock(mutex);
      writer->add({{"case", name},
                   {"modules", modules},
                   {"fingerprint",
                    journal::fingerprint({version, strict_json::dumped(question.asked), name, modules})},
                   {"seconds", took_now},
                   {"found", std::string(bugs::name_of(found.found))},
                   {"what", first_line(found.what)}});
    });
  }
  terminal::end_progress();
  return {fmt::format("campaign, shard {}/{}: {} of its {} mutants judged{}; 'bitwell merge {}' makes the "
                      "report of all shards\n",
                      part.index, part.of, left, mine, left == mine ? "" : ", the others before", folder),
          true};
}

CampaignEnd merge_campaign(const std::vector<Subject>& subjects, CampaignOptions options,
                           const std::string& folder, const std::string& version) {
  const journal::Journals journals = journal::read(folder, version);
  if (!journals.question)
    throw InputError("no journal in '" + folder + "': 'campaign --journal " + folder + "' writes one");
  const journal::Question& question = *journals.question;
  try {
    const nlohmann::json& j = question.asked;
    options.only = j.at("only");
    options.kind = j.at("kind");
    options.most = j.at("most");
    options.seed = j.at("seed");
    options.whole = j.at("whole");
  } catch (const nlohmann::json::exception&) {
    throw InputError("the journals in '" + folder + "' answer 'bitwell " + question.words() +
                     "', which is no campaign");
  }
  if (!question.same(question_of(options, version)))
    throw InputError("the journals in '" + folder + "' are of another list of survivors than " +
                     options.list + ": name theirs by --list");
  for (const std::string& note : journals.notes) terminal::note("campaign: " + note);
  const Campaign campaign(options);
  const std::vector<Subject> chosen = chosen_of(subjects, options);
  std::vector<Outcome> outcomes;
  std::vector<std::string> missing;
  size_t all = 0;
  for (const Subject& subject : chosen) {
    Planted p = campaign.planted(subject);
    const std::vector<bool> known = take_known(p, journals);
    all += known.size();
    for (size_t i = 0; i < known.size(); ++i)
      if (!known[i]) missing.push_back(name_of(subject, p.chosen[i]));
    outcomes.push_back(campaign.outcome(std::move(p), known));
  }
  if (!options.scores.empty()) std::ofstream(options.scores) << scores_csv(outcomes);
  // A line of the list may be of a mutant that is missing.
  CampaignEnd out = campaign.report(outcomes, is_whole(options) && missing.empty());
  if (missing.empty()) return out;
  std::string text = fmt::format("{} of {} mutants are missing:\n", missing.size(), all);
  for (size_t i = 0; i < std::min(kMostMissing, missing.size()); ++i) text += "  " + missing[i] + "\n";
  if (missing.size() > kMostMissing)
    text += fmt::format("  ... and {} more\n", missing.size() - kMostMissing);
  return {text + fmt::format("judge them: {} --journal {}\n\n", question.words(), folder) + out.text, false};
}

}  // namespace bitwell::bugs
