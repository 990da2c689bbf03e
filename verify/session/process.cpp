#include "verify/session/process.h"

#include <algorithm>

#include "model/machine/memory/pages.h"
#include "model/run/watch/numeric.h"
#include "verify/launch/entry_text.h"
#include "verify/launch/schedule_list.h"
#include "verify/schedules/given.h"
#include "verify/session/judge.h"

namespace bitwell::session {
namespace {

// The launch as a value: its buffers are all regions of memory, at their addresses.
std::shared_ptr<const launch::Launch> as_value(const isa::KernelLaunch& launch, isa::Context& context,
                                               const std::vector<isa::Allocation>& outputs,
                                               bool with_buffers) {
  auto out = std::make_shared<launch::Launch>();
  out->module = context.module(launch.module);
  out->ptx = out->module->path();
  out->entry = launch.entry;
  out->shape = launch.shape;
  for (const bitwell::isa::Argument& a : launch.arguments) out->arguments.push_back({a.bytes, 0});
  if (!with_buffers) return out;
  for (const machine::Region* r : context.memory().regions()) {
    launch::Buffer b{r->name(), {}, false, r->read_only};
    b.blank = r->size();
    b.address = r->base();
    b.output = std::any_of(outputs.begin(), outputs.end(), [&](const isa::Allocation& o) {
      return o.address < r->base() + r->size() && r->base() < o.address + o.bytes;
    });
    out->buffers.push_back(std::move(b));
  }
  return out;
}

void require_written(machine::Memory& memory, const std::vector<isa::Allocation>& outputs) {
  for (const isa::Allocation& o : outputs) {
    const machine::Region* const r = memory.find(o.address, o.bytes);
    if (r == nullptr) throw machine::InputError("an output is " + memory.describe(o.address));
    const uint64_t from = o.address - r->base();
    if (r->is_defined(from, o.bytes)) continue;
    uint64_t at = from;
    while (r->is_defined(at, 1)) ++at;
    throw machine::Fault("byte " + std::to_string(at) + " of output '" + r->name() + "' was never written");
  }
}

// The first byte from `from` on and before `to` that is another in `b`, of those that were written in either.
std::optional<uint64_t> difference(const machine::Region& a, const machine::Region& b, uint64_t from,
                                   uint64_t to) {
  for (uint64_t at = from; at < to; ++at) {
    at = static_cast<uint64_t>(
        std::mismatch(a.raw_bytes() + at, a.raw_bytes() + to, b.raw_bytes() + at).first - a.raw_bytes());
    if (at < to && (a.is_defined(at, 1) || b.is_defined(at, 1))) return at;
  }
  return std::nullopt;
}

// The same of the region's outputs; of all of it where there are no outputs.
std::optional<uint64_t> difference(const machine::Region& a, const machine::Region& b,
                                   const std::vector<isa::Allocation>& outputs) {
  const std::optional<uint64_t> first = machine::first_difference(a, b);
  if (!first || outputs.empty()) return first ? difference(a, b, *first, a.size()) : std::nullopt;
  std::optional<uint64_t> out;
  for (const isa::Allocation& o : outputs) {
    const uint64_t from = std::max(o.address, a.base()) - a.base();
    const uint64_t end = std::min(o.address + o.bytes, a.base() + a.size());
    if (end <= a.base()) continue;
    if (const auto at = difference(a, b, from, end - a.base()); at && (!out || *at < *out)) out = at;
  }
  return out;
}

// The first schedule, as the others are described.
std::string first_of(const Judging& how) {
  run::Schedule schedule = how.options.schedule;
  for (const run::PolicyName& p : run::kPolicies)
    if (p.name == how.schedule) schedule.policy = p.policy;
  return schedules::is_given(how.schedule) ? how.schedule : launch::describe(schedule);
}

// The launch under the other schedules, from where it began; the first that comes out otherwise than memory
// is now.
std::optional<Parting> compare(const launch::Start& start, machine::Memory& memory, const Judging& how) {
  run::Options options = how.options;
  options.observers.clear();
  options.print = nullptr;
  const std::vector<launch::Buffer>& buffers = start.launch().buffers;
  const std::string first = first_of(how);
  for (const run::Schedule& under : launch::other_schedules(how.schedules - 1, first, order_kept(options))) {
    options.schedule = under;
    const std::string second = launch::describe(under);
    try {
      const launch::Ran ran = start.run(options, false);
      for (const launch::Buffer& b : buffers) {
        const machine::Region *mine = memory.find(*b.address, b.size()),
                              *others = ran.memory().find(*b.address, b.size());
        if (mine == nullptr || others == nullptr) continue;  // device code has freed it
        if (const auto at = difference(*mine, *others, how.outputs); at)
          return Parting{first,
                         second,
                         "",
                         b.name,
                         *b.address + *at,
                         *at,
                         mine->raw_bytes()[*at],
                         others->raw_bytes()[*at]};
      }
    } catch (const machine::Fault& fault) {
      return Parting{first, second, fault.what()};
    }
  }
  return std::nullopt;
}

}  // namespace

struct Process::Last {
  std::shared_ptr<const launch::Launch> value;
  std::shared_ptr<const launch::Start> start;
  Question question;
  findings::SharedProgram program;
  size_t before;  // launches of the process

  // One check of all its clusters, to which launches that overlap it are added.
  std::shared_ptr<Overlap> seen() const {
    auto out = std::make_shared<Overlap>(question.once, before);
    Races races(question, program, out, false);
    races.see_all();
    races.beginning()(program, nullptr, nullptr);
    try {
      made_again(question, *start, kNotKnown, [&](run::Options& options) {
        options.checked = question.options.checked;
        options.observers.push_back(races.observer());
      });
    } catch (const machine::Fault&) {  // in which it ended then too
    }
    return out;
  }
};

Answer Process::launch(isa::KernelLaunch launch, const Judging& how) {
  constexpr size_t most = 1000000;
  if (how.schedules == 0 || how.schedules > most)
    throw machine::InputError("schedules is " + std::to_string(how.schedules) +
                              "; a launch runs under 1 to " + std::to_string(most));
  if (how.explain && !how.races)
    throw machine::InputError("explain tells of what races finds: it needs races");
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<const isa::Module> module = context_.module(launch.module);
  launch.entry = launch::entry_of(*module, launch.entry);
  const findings::SharedProgram plain =
      launch.program != nullptr ? launch.program : context_.program(launch.module, launch.entry);
  std::vector<std::vector<std::byte>> arguments;
  for (const bitwell::isa::Argument& a : launch.arguments) arguments.push_back(a.bytes);
  run::check_launch(*plain, launch.shape, arguments);

  const size_t before = launches_++;
  if (how.programmatic && how.races && last_ != nullptr) {
    overlap_ = last_->seen();
    overlapped_ = true;
  }
  last_.reset();  // before another snapshot is taken
  if (!how.programmatic || !how.races || overlap_ == nullptr)
    overlap_ = std::make_shared<Overlap>(how.once, before);
  const bool overlaps = !overlap_->programs.empty();
  const bool again = schedules::is_given(how.schedule) || how.schedules > 1 || (how.races && !overlaps);
  const std::shared_ptr<const launch::Launch> value = as_value(launch, context_, how.outputs, again);
  Question question{*value};
  question.options = how.options;
  question.options.schedule.kept = order_kept(how.options);
  question.schedule = how.schedule;
  question.races = how.races;
  question.once = how.once;
  question.explain = how.explain;
  question.numeric = how.numeric;
  question.bound = how.bound;
  question.again = how.again;

  std::shared_ptr<launch::Start> start;
  if (again) {
    std::vector<uint64_t> addresses;
    for (const launch::Buffer& b : value->buffers) addresses.push_back(*b.address);
    start = std::make_shared<launch::Start>(*value, context_.snapshot(),
                                            launch::EntryOf{launch.module, launch.entry}, plain,
                                            std::move(addresses));
  }
  std::shared_ptr<isa::Program> watched;
  std::optional<run::NumericWatch> numeric;
  if (how.numeric) {
    watched = std::make_shared<isa::Program>(isa::compile(module->syntax(launch.entry), launch.entry,
                                                          value->approximate, context_.place(launch.module)));
    numeric.emplace(*watched, how.bound);
    launch.program = watched;
  }
  const findings::SharedProgram program = launch.program != nullptr ? launch.program : plain;
  auto races = std::make_unique<Races>(question, plain, overlap_, overlaps);
  if (overlapped_) races->see_all();
  Answer out = judge(question, start.get(), std::move(races),
                     [&](const run::Options& options, const launch::Beginning& beginning, Answer& to) {
                       if (beginning) beginning(program, nullptr, &context_.memory());
                       try {
                         to.result = std::move(context_.launch({&launch, 1}, options).front());
                       } catch (const isa::CallbackError& e) {
                         std::rethrow_exception(e.cause);
                       }
                       to.residency = run::residency(*program, launch.shape);
                       if (numeric) to.losses = numeric->losses();
                       if (how.all_written && options.checked)
                         require_written(context_.memory(), how.outputs);
                     });
  out.launch = value;
  if (start && how.schedules > 1 && !out.fault) out.parting = compare(*start, context_.memory(), how);
  if (start && how.races && !overlaps && !overlapped_)
    last_ = std::make_shared<const Last>(Last{value, start, question, plain, before});
  return out;
}

}  // namespace bitwell::session
