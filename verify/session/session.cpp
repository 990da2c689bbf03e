#include "verify/session/session.h"

#include <algorithm>
#include <chrono>

#include "model/run/watch/numeric.h"
#include "verify/findings/later_writer.h"
#include "verify/launch/entry_text.h"
#include "verify/schedules/given.h"
#include "verify/session/judge.h"

namespace bitwell::session {
namespace {

// Sets the schedule that the question says; what it returns lives as long as the run.
std::optional<schedules::Given> set_schedule(const Question& question, const launch::Start* start,
                                             run::Options& options) {
  const std::string& text = question.schedule;
  std::optional<schedules::Given> out;
  if (schedules::is_given(text)) {
    out.emplace(text, options.schedule.seed, *start, options);
    out->attach(options);
    if (question.timed && out->clocks() != nullptr) question.timed(*out->clocks());
    return out;
  }
  if (text.empty()) return out;
  const auto named = std::find_if(run::kPolicies.begin(), run::kPolicies.end(),
                                  [&](const run::PolicyName& p) { return p.name == text; });
  if (named == run::kPolicies.end()) throw machine::InputError("'" + text + "' is the name of no schedule");
  options.schedule.policy = named->policy;
  return out;
}

// The launch's entry under the eyes of one that counts what its arithmetic loses, compiled for that: not
// where turns are counted for a schedule, nor when the launch is made again.
class Counted {
 public:
  explicit Counted(const Question& question)
      : program_(compiled(question.launch)), watch_(*program_, question.bound), launch_(question.launch) {
    const std::shared_ptr<const isa::Module> own =
        launch_.module != nullptr ? launch_.module : launch::load_module(launch_.ptx, launch_.entry);
    launch_.module = std::make_shared<const isa::Module>(program_, own);
  }
  const launch::Launch& launch() const { return launch_; }
  std::vector<run::Losses> losses() const { return watch_.losses(); }

 private:
  static std::shared_ptr<isa::Program> compiled(const launch::Launch& launch) {
    const std::shared_ptr<const isa::Module> module =
        launch.module != nullptr ? launch.module : launch::load_module(launch.ptx, launch.entry);
    const std::string entry = launch::entry_of(*module, launch.entry);
    return isa::naming(launch.ptx, [&] {
      return std::make_shared<isa::Program>(isa::compile(module->syntax(entry), entry, launch.approximate));
    });
  }
  const std::shared_ptr<isa::Program> program_;
  run::NumericWatch watch_;
  launch::Launch launch_;
};

// To a fault about what was read and never written: who writes it later.
void add_later_writer(const Question& question, const launch::Start& start, Answer& answer) {
  if (!answer.fault || !findings::has_later_writer(*answer.fault)) return;
  const findings::Rerun again = [&](const auto& add) { return made_again(question, start, kNotKnown, add); };
  const auto writer = findings::later_writer(*answer.fault, again);
  if (!writer) return;
  const std::string words =
      findings::describe(*writer, *answer.fault, start.program(), question.launch.shape);
  answer.fault = machine::Fault(*answer.fault, answer.fault->what() + words);
}

}  // namespace

Answer::Answer() = default;
Answer::Answer(Answer&&) noexcept = default;
Answer::~Answer() = default;

const std::string& Answer::entry() const { return races->entry(); }

bool Answer::holds(bool notes) const {
  return !fault && !parting && std::none_of(findings.begin(), findings.end(), [&](const Weighed& w) {
    return w.level == hazard::Level::error || (notes && w.level == hazard::Level::note);
  });
}

std::string_view name_of(Level level) {
  constexpr std::string_view kNames[] = {"error", "note", "nothing"};
  return kNames[static_cast<size_t>(level)];
}

machine::Promise order_kept(const run::Options& options) {
  return options.strict ? machine::Promise::manual : options.schedule.kept;
}

launch::Ran made_again(const Question& question, const launch::Start& start, uint64_t took,
                       const std::function<void(run::Options&)>& add) {
  run::Options how = question.options;
  how.observers.clear();
  how.print = nullptr;
  how.progress = nullptr;
  how.checked = true;
  how.step_limit = std::min(how.step_limit, 4 * took + 1024);  // other bits may make it endless
  const std::optional<schedules::Given> given = set_schedule(question, &start, how);
  add(how);
  return start.run(how, false);
}

Answer judge(const Question& question, const launch::Start* start, std::unique_ptr<Races> races,
             const FirstRun& run) {
  Answer out;
  run::Options options = question.options;
  const std::optional<schedules::Given> given = set_schedule(question, start, options);
  if (given) out.chance = given->chance();
  if (question.races) options.observers.push_back(races->observer());
  int runs = 0;
  uint64_t took = kNotKnown;  // of a run that does not come to its end
  const findings::Rerun again = [&](const auto& add) {
    if (question.again) question.again(++runs);
    return made_again(question, *start, took, add);
  };
  using Clock = std::chrono::steady_clock;
  Clock::time_point began = Clock::now();
  launch::Beginning beginning = races->beginning();
  // Launches of a list that nobody is told of run together.
  if (question.launch.then.empty())
    beginning = [&began, told = beginning](const std::shared_ptr<const isa::Program>& program,
                                           const launch::Step* step, const machine::Memory* memory) {
      if (told) told(program, step, memory);
      began = Clock::now();
    };
  try {
    run(options, beginning, out);
    out.seconds = std::chrono::duration<double>(Clock::now() - began).count();
    if (question.ended) question.ended(out.result);
    took = out.result.warp_instructions;
    if (question.races) races->follow(again);
  } catch (const machine::Fault& fault) {
    out.fault = fault;
  }
  if (question.races) races->look_between(again);
  if (start != nullptr) add_later_writer(question, *start, out);
  out.findings = races->weighed();
  out.entries = races->entries();
  out.cost = races->cost();
  out.races = std::move(races);
  return out;
}

Answer ask(const Question& asked) {
  Question question = asked;
  question.options.schedule.kept = order_kept(asked.options);
  const launch::Launch& launch = question.launch;
  // What may be run more than once: a list is not.
  std::optional<launch::Start> start;
  if (schedules::is_given(question.schedule) || (question.races && launch.then.empty()))
    start.emplace(launch);
  auto races = std::make_unique<Races>(question);
  std::optional<Counted> counted;
  if (question.numeric) counted.emplace(question);
  Answer answer = judge(question, start ? &*start : nullptr, std::move(races),
                        [&](const run::Options& options, const launch::Beginning& beginning, Answer& out) {
                          if (start && !counted)
                            out.ran.emplace(start->run(options, question.all_written, beginning));
                          else
                            out.ran.emplace(launch::simulate(counted ? counted->launch() : launch, options,
                                                             question.all_written, beginning));
                          out.result = std::move(out.ran->result);
                          out.residency = run::residency(
                              start ? start->program() : *launch::program_of(launch), launch.shape);
                          if (counted) out.losses = counted->losses();
                        });
  if (!start && launch.then.empty() && answer.fault && findings::has_later_writer(*answer.fault))
    add_later_writer(question, launch::Start(launch), answer);
  return answer;
}

}  // namespace bitwell::session
