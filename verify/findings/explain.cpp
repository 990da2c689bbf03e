#include "verify/findings/explain.h"

#include <algorithm>
#include <array>
#include <map>

#include "model/machine/failure.h"
#include "verify/findings/act.h"

namespace bitwell::findings {

using hazard::Actor;
using hazard::Finding;
using About = hazard::KindRow::About;
using machine::Access;
using machine::AccessKind;

namespace {

// Whether what the first of the two read is in question, and not what the second reads or leaves.
bool asks_earlier(const Finding& f) {
  return f.earlier.site.kind != AccessKind::write && f.later.site.kind == AccessKind::write;
}

std::string reason_not_to(const Finding& f) {
  const hazard::KindRow& row = hazard::row_of(f.kind);
  if (row.about == About::mbarrier) return "it is about an mbarrier, which holds no data";
  if (!f.where.empty()) return "it is about no memory";
  if (row.earlier_launch && asks_earlier(f)) return "the launch before this one read it";
  return "";
}

// Whether the finding is harmless where what was read comes to nothing.
bool reads_data(const Finding& f) {
  return (asks_earlier(f) ? f.earlier : f.later).site.kind == AccessKind::read && reason_not_to(f).empty() &&
         hazard::row_of(f.kind).about == About::data;
}

// The lane that wrote, where the lanes of one instruction of its warp read: what it reads itself is in order.
uint32_t own_lane(const Finding& f, const Finding::Met& met) {
  const hazard::Party& reads = asks_earlier(f) ? met.earlier : met.later;
  const hazard::Party& writes = asks_earlier(f) ? met.later : met.earlier;
  const bool warps = reads.site.actor == Actor::thread && writes.site.actor == Actor::thread &&
                     reads.cta == writes.cta && reads.warp == writes.warp;
  return warps && reads.site.kind == AccessKind::read && writes.lane >= 0 ? 1u << writes.lane : 0;
}

// Finds, in a run that is like the one of the findings, the reads that came first: of each the last before
// the write.
class Earlier {
 public:
  explicit Earlier(const std::vector<const Finding*>& findings) {
    for (size_t i = 0; i < findings.size(); ++i) {
      found_.emplace_back(findings[i]->met.size());
      if (!reason_not_to(*findings[i]).empty() || !asks_earlier(*findings[i])) continue;
      for (size_t j = 0; j < findings[i]->met.size(); ++j) {
        const Finding::Met met = findings[i]->met[j];
        Place& place = by_line_[findings[i]->earlier.site.ptx_line][whose(met.earlier)];
        place.most_bytes = std::max(place.most_bytes, met.bytes);
        place.wanted.push_back({met, &found_[i][j]});
      }
    }
    for (auto& [line, places] : by_line_)
      for (auto& [who, place] : places)
        std::stable_sort(place.wanted.begin(), place.wanted.end(),
                         [](const Wanted& a, const Wanted& b) { return a.met.address < b.met.address; });
  }
  bool any() const { return !by_line_.empty(); }
  machine::Observer observer() {
    machine::Observer out;
    out.accesses = true;
    out.steps = false;
    out.tell = [this](const machine::Event& event) {
      if (const auto* a = std::get_if<Access>(&event.what)) look(*a, ++accesses_);
    };
    return out;
  }
  uint64_t access(size_t finding, size_t met) const { return found_[finding][met]; }

 private:
  struct Wanted {
    Finding::Met met;
    uint64_t* access;
  };
  // Who accesses: a CTA, and four warps, as for a `wgmma`. Of a racing kernel there are many thousands of
  // places: they are found by who it was and by address, for each access of the run asks.
  using Who = std::pair<std::array<uint32_t, 3>, int>;
  static Who whose(const hazard::Party& p) { return p.warp < 0 ? Who{{}, -1} : Who{p.cta, p.warp / 4}; }
  struct Place {
    std::vector<Wanted> wanted;  // by address
    uint64_t most_bytes = 0;
  };
  void look(const Access& a, uint64_t number) {
    const auto line = by_line_.find(a.ptx_line);
    if (line == by_line_.end()) return;
    for (const Who& who : {Who{a.cta, a.warp / 4}, Who{{}, -1}})
      if (const auto at = line->second.find(who); at != line->second.end()) look(a, number, at->second);
  }
  static void look(const Access& a, uint64_t number, const Place& place) {
    const auto compare = [&](const Wanted& w) {
      if (number < w.met.access && is_of(a, w.met.earlier) &&
          meets(a, w.met.earlier.lane, w.met.address, w.met.bytes))
        *w.access = number;
    };
    if (a.rows != 0) {  // places in tensor memory do not follow each other as addresses do
      std::for_each(place.wanted.begin(), place.wanted.end(), compare);
      return;
    }
    const auto from = [&](uint64_t address) {
      const uint64_t first = address < place.most_bytes ? 0 : address - place.most_bytes;
      for (auto w = std::lower_bound(place.wanted.begin(), place.wanted.end(), first,
                                     [](const Wanted&one, uint64_t b) { return one.met.address < b; });
           w != place.wanted.end() && w->met.address < address + a.bytes; ++w)
        compare(*w);
    };
    if (a.lanes == 0) from(a.addresses[0]);
    for (uint32_t lanes = a.lanes; lanes != 0; lanes &= lanes - 1)
      from(a.addresses[static_cast<size_t>(__builtin_ctz(lanes))]);
  }

  uint64_t accesses_ = 0;
  std::map<int, std::map<Who, Place>> by_line_;
  std::vector<std::vector<uint64_t>> found_;  // 0: not found
};

// What it is used as where it is multiplied and added up, and cannot lead a run elsewhere at once.
bool is_summed(const run::Follow::Use& use) {
  constexpr std::array<std::string_view, 10> kSummed{"A",
                                                     "B",
                                                     "D",
                                                     "scales of A",
                                                     "scales of B",
                                                     "its source",
                                                     "A's registers",
                                                     "an accumulator",
                                                     "what a reduction adds",
                                                     "what a reduction changes"};
  return std::find(kSummed.begin(), kSummed.end(), use.as) != kSummed.end();
}

std::vector<Followed::Other> others(const launch::Launch& of, const launch::Ran& a, const launch::Ran& b) {
  std::vector<Followed::Other> out;
  const auto compare = [&](const std::string& name, const auto& x, const auto& y) {
    uint64_t first = 0, bytes = 0;
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
      if (x[i] != y[i] && bytes++ == 0) first = i;
    if (bytes != 0) out.push_back({name, first, bytes});
  };
  for (size_t i = 0; i < of.buffers.size(); ++i)
    if (of.buffers[i].output && a.difference(b, i))
      compare(of.buffers[i].name, a.buffer(of, i), b.buffer(of, i));
  for (size_t i = 0; i < of.variables.size(); ++i)
    if (of.variables[i].output) compare(of.variables[i].name, a.variable(of, i), b.variable(of, i));
  return out;
}

Followed followed(const Finding& f, const Earlier& earlier, size_t number, const launch::Launch& launch,
                  const Rerun& rerun) {
  Followed out;
  out.why_not = reason_not_to(f);
  if (!out.why_not.empty()) return out;
  std::vector<run::Follow::Mark> marks;
  for (size_t i = 0; i < f.met.size(); ++i) {
    const Finding::Met met = f.met[i];
    const uint64_t access = asks_earlier(f) ? earlier.access(number, i) : met.access;
    if (access != 0) marks.push_back({access, met.address, met.bytes, own_lane(f, met)});
  }
  run::Follow follow(marks);
  const launch::Ran left = rerun([&](run::Options& options) { options.follow = &follow; });
  out.places = follow.met();
  out.outputs = follow.outputs();
  // A buffer that starts unwritten and is no output is the kernel's own room. Of a program's memory, which
  // has its address, nobody knows.
  for (const launch::Buffer& b : launch.buffers)
    if (!b.defined && !b.output && !b.address)
      std::erase_if(out.outputs, [&](const run::Follow::Output& o) { return o.buffer == b.name; });
  out.uses = follow.uses();
  if (out.places == 0) out.why_not = "the access could not be told from others in a second run";
  out.names_outputs = std::any_of(launch.buffers.begin(), launch.buffers.end(),
                                  [](const launch::Buffer& b) { return b.output; }) ||
                      !launch.variables.empty();
  if (!out.names_outputs || out.uses.empty() || !std::all_of(out.uses.begin(), out.uses.end(), is_summed))
    return out;
  run::Follow inverted(std::move(marks), run::Follow::How::inverted);
  try {
    out.others = others(launch, left, rerun([&](run::Options& options) { options.follow = &inverted; }));
  } catch (const machine::Fault&) {  // other numbers led it elsewhere: its uses are what is known
  }
  return out;
}

}  // namespace

std::vector<Followed> follow(const std::vector<const Finding*>& findings, const launch::Launch& launch,
                             const Rerun& rerun) {
  std::vector<Followed> out(findings.size());
  size_t next = 0;
  try {
    Earlier earlier(findings);
    if (earlier.any()) rerun([&](run::Options& options) { options.observers.push_back(earlier.observer()); });
    for (; next < findings.size(); ++next)
      out[next] = followed(*findings[next], earlier, next, launch, rerun);
  } catch (const machine::Fault& fault) {
    for (; next < findings.size(); ++next)
      out[next].why_not = std::string("a second run ends in a fault: ") + fault.what();
  } catch (const machine::Unsupported& e) {
    for (; next < findings.size(); ++next) out[next].why_not = e.what();
  }
  return out;
}

bool may_be_nothing(const Finding& f) {
  return hazard::row_of(f.kind).level == hazard::Level::error && reads_data(f);
}

hazard::Level level_of(const Finding& f, const Followed* followed, const hazard::Way& way, bool strict) {
  using hazard::Level;
  const Level own = strict ? Level::error : hazard::row_of(f.kind).level;
  if (followed == nullptr || !reads_data(f) || !followed->nowhere(f)) return own;
  if (way.end == hazard::Way::End::none) return Level::nothing;
  return strict || !followed->names_outputs ? own : Level::note;
}

namespace {

std::string at_line(int ptx, const isa::Program& program) {
  const isa::Line* line = line_of(ptx, program);
  return "PTX line " + std::to_string(ptx) + (line == nullptr ? "" : " " + line->text);
}

}  // namespace

std::string describe(const Followed& f, const Finding& finding, const isa::Program& program) {
  if (!f.why_not.empty()) return "not followed on this run: " + f.why_not;
  std::string out;
  const auto add = [&](const std::string& words) { out += (out.empty() ? "on this run " : "; ") + words; };
  for (const run::Follow::Output& o : f.outputs)
    add(std::to_string(o.bytes()) + (o.bytes() == 1 ? " byte of '" : " bytes of '") + o.buffer +
        (o.bytes() == 1 ? "' comes of it, byte " : "' come of it, the first byte ") +
        std::to_string(o.runs.begin()->first) + ", by " + at_line(o.ptx_line, program));
  for (const run::Follow::Use& u : f.uses)
    add("it is used as " + u.as + " by " + at_line(u.ptx_line, program) + ", and not followed behind that");
  if (f.others && f.others->empty()) add("with its bits inverted every output is the same");
  if (f.others)
    for (const Followed::Other& o : *f.others)
      add("with its bits inverted " + std::to_string(o.bytes) +
          (o.bytes == 1 ? " byte of '" : " bytes of '") + o.buffer +
          (o.bytes == 1 ? "' comes out otherwise, byte " : "' come out otherwise, the first byte ") +
          std::to_string(o.first));
  if (out.empty() && !f.names_outputs)
    add("it decides nothing and is no address; the launch names no output");
  if (out.empty()) add("it comes to no output, no branch and no address");
  if (f.places < finding.count)
    out +=
        " (" + std::to_string(f.places) + " of " + std::to_string(finding.count) + " places were followed)";
  return out;
}

}  // namespace bitwell::findings
