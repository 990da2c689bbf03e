#include "verify/findings/between.h"

#include <algorithm>
#include <map>

#include "model/machine/failure.h"
#include "verify/findings/act.h"

namespace bitwell::findings {
namespace {

using hazard::Actor;
using hazard::Finding;
using hazard::Kind;
using hazard::Party;
using machine::Access;
using machine::AccessKind;
using machine::Proxy;
using machine::Synchronisation;
using Sync = Synchronisation::Kind;

constexpr size_t kMostKept = 8192;  // of a thread that goes round for long only the last count
constexpr size_t kMostPassed = 4;   // that are told

bool is_operation(const Party& p) { return p.site.actor != Actor::thread && !hazard::is_move(p.site.actor); }

template <class Event>
bool by(const Event& s, const Party& p) {
  return s.cta == p.cta && s.warp == p.warp && (p.lane < 0 || (s.lanes >> p.lane & 1) != 0);
}

// One finding, while the launch runs again: what its two threads do to be ordered.
class Seen {
 public:
  explicit Seen(const Finding& finding)
      : f_(finding),
        earlier_(finding.met.front().earlier),
        later_(finding.later),
        met_(finding.met.front()) {}

  void look(const Synchronisation& s) {
    if (s.kind == Sync::exited) {
      earlier_left_ = earlier_left_ || (earlier_.lane >= 0 && by(s, earlier_));
      later_left_ = later_left_ || (later_.lane >= 0 && by(s, later_));
    }
    if (s.kind == Sync::issued) {
      if (s.ptx_line == earlier_.site.ptx_line && by(s, earlier_)) stop(own_end_);
      if (s.ptx_line == earlier_.site.ptx_line || s.ptx_line == later_.site.ptx_line)
        issued_[s.which] = now();
      return;
    }
    if ((own_end_ && turned_end_) || (!by(s, earlier_) && !by(s, later_))) return;
    log_.push_back(s);
    if (log_.size() < kMostKept) return;
    stop(own_end_);
    stop(turned_end_);
    log_.erase(log_.begin(), log_.begin() + kMostKept / 2);
    first_ += kMostKept / 2;
  }
  void look(const Access& a, uint64_t number) {
    const bool by_later = a.ptx_line == earlier_.site.ptx_line && by(a, later_);
    const bool by_earlier = a.ptx_line == later_.site.ptx_line && by(a, earlier_);
    if (by_later) stop(turned_end_);
    if (by_earlier) stop(own_end_);
    if (end_) return;
    if (number == met_.access) {
      end_ = is_operation(later_) ? issued(a.operation) : now();
      after_ = now();
    } else if (is_of(a, earlier_) && meets(a, earlier_.lane, met_.address, met_.bytes)) {
      begin_ = is_operation(earlier_) ? issued(a.operation) : now();
      turned_begin_ = own_;
    } else if (by_earlier) {
      own_ = now();
    }
  }

  // Whether what is told hangs on nothing that is still to come.
  bool is_over() const {
    return end_ && (own_end_ || earlier_left_ || !is_operation(earlier_)) &&
           (turned_end_ || later_left_ || !may_be_turned());
  }

  std::optional<Between> told() {
    if (!end_ || !begin_) return std::nullopt;
    const auto by_earlier = [&](const Synchronisation& s) { return by(s, earlier_); };
    const auto by_later = [&](const Synchronisation& s) { return by(s, later_); };
    // Which of a read and a write comes first is luck where threads do the same: in each, what stands between
    // the two is behind its own write and before its own read. Unless both meet there, as in a loop.
    if (may_be_turned()) {
      take(*turned_begin_, *begin_, by_earlier);
      take(after_, turned_end_.value_or(now()), by_later);
      if (std::none_of(window_.begin(), window_.end(), [&](const Synchronisation& s) {
            return s.kind == Sync::cta_arrived && comes_to(earlier_, s.which) && comes_to(later_, s.which);
          })) {
        tell();
        return std::move(out_);
      }
      window_.clear();
    }
    if (is_operation(earlier_)) {  // its thread may come to the wait only behind the other's access
      take(*begin_, own_end_.value_or(now()), by_earlier);
      take(*begin_, *end_, [&](const Synchronisation& s) { return !by_earlier(s); });
    } else {
      take(*begin_, *end_, [](const Synchronisation&) { return true; });
    }
    tell();
    return std::move(out_);
  }

 private:
  bool may_be_turned() const {
    return turned_begin_ && earlier_.site.kind == AccessKind::read && later_.site.kind != AccessKind::read &&
           !is_operation(earlier_) && !is_operation(later_);
  }
  size_t now() const { return first_ + log_.size(); }
  // The thread of one act has come to the other's place again, behind the later act.
  void stop(std::optional<size_t>& end) const {
    if (end_ && !end) end = now();
  }
  size_t issued(uint64_t operation) const {
    const auto at = issued_.find(operation);
    return at == issued_.end() ? now() : at->second;
  }
  template <class Wanted>
  void take(size_t from, size_t to, const Wanted& wanted) {
    for (size_t i = std::max(from, first_); i < to; ++i)
      if (wanted(log_[i - first_])) window_.push_back(log_[i - first_]);
  }
  bool one_warp() const { return earlier_.cta == later_.cta && earlier_.warp == later_.warp; }
  // Whether that thread comes to the barrier of that number between the two acts.
  bool comes_to(const Party& p, uint64_t barrier) const {
    return std::any_of(window_.begin(), window_.end(), [&](const Synchronisation& s) {
      return s.kind == Sync::cta_arrived && s.which == barrier && by(s, p);
    });
  }
  // Whether that thread has yet to come out of a barrier.
  bool passes_later(const Party& p) const {
    return std::any_of(window_.begin() + static_cast<std::ptrdiff_t>(at_), window_.end(),
                       [&](const Synchronisation& s) { return s.kind == Sync::cta_passed && by(s, p); });
  }
  void passed(const Synchronisation& s, const std::string& why) {
    const auto same = [&](const Between::Passed& p) { return p.ptx_line == s.ptx_line; };
    if (out_.passed.size() < kMostPassed && std::none_of(out_.passed.begin(), out_.passed.end(), same))
      out_.passed.push_back({s.ptx_line, why});
  }

  void tell() {
    for (at_ = 0; at_ < window_.size(); ++at_) tell(window_[at_]);
  }
  void tell(const Synchronisation& s) {
    switch (s.kind) {
      case Sync::copies_committed:
        if (earlier_.site.actor == Actor::copy && by(s, earlier_))
          out_.committed_behind = out_.committed_behind ? *out_.committed_behind + 1 : 0;
        return;
      case Sync::copies_waited: return waited(s);
      case Sync::cta_arrived: return barrier(s);
      case Sync::warp_met: return warp(s);
      case Sync::fence: return fence(s);
      default: return;
    }
  }
  void waited(const Synchronisation& s) {
    if (earlier_.site.actor != Actor::copy) return;
    if (!by(s, earlier_))
      return passed(s, "it waits for the copies of its own thread alone, and this one is another's");
    const bool every = s.which == Synchronisation::kEvery;
    if (!every && !out_.committed_behind)
      return passed(
          s, "it waits for groups, and this copy is in none: no cp.async.commit_group stands behind it");
    if (!every && s.which > *out_.committed_behind)
      return passed(s, "it lets " + std::to_string(s.which) + (s.which == 1 ? " group" : " groups") +
                           " be under way, and behind this copy's only " +
                           std::to_string(*out_.committed_behind) +
                           (*out_.committed_behind == 1 ? " is committed" : " are committed"));
    out_.waited = s.ptx_line;
    passed(s, "it waits for the copies of its own thread; others learn of their end by a barrier behind it");
  }
  void barrier(const Synchronisation& s) {
    if (is_operation(earlier_) && !out_.waited)
      return passed(
          s, "it waits for threads, not for what they have under way: it has to stand behind the wait");
    const Party& other = by(s, earlier_) ? later_ : earlier_;
    if (one_warp() || comes_to(other, s.which)) return;
    passed(s, "warp " + std::to_string(other.warp) + " does not come to it between the two");
  }
  void warp(const Synchronisation& s) {
    if (s.which != 0) return passed(s, "it orders no memory");
    if (!one_warp()) return passed(s, "it orders lanes of one warp, and the two are of different warps");
    if (is_operation(earlier_)) return barrier(s);
    const Party& other = by(s, earlier_) ? later_ : earlier_;
    if (!by(s, other))
      passed(s, "lane " + std::to_string(other.lane) + " is not among those that meet there");
  }
  void fence(const Synchronisation& s) {
    const bool of_proxies = s.order.proxy == Proxy::async;
    if (f_.kind != Kind::proxy_fence) {
      passed(s, of_proxies ? "a proxy fence orders no two threads"
                           : "a fence alone tells no other thread: that takes a barrier, or a flag that is "
                             "stored behind it and read by the other");
    } else if (!of_proxies) {
      passed(s, "it is no proxy fence");
    } else if ((s.which >> (met_.address - machine::kSharedWindow < machine::kWindowSize ? 0 : 1) & 1) == 0) {
      passed(s, "it is for another state space than these bytes are in");
    } else if (by(s, earlier_)) {
      passed(s, "it stands behind what orders the two");
    } else if (passes_later(later_)) {
      passed(s, "its thread has not written these bytes, and knows of the write only behind the barrier");
    }
  }

  const Finding& f_;
  const Party earlier_, later_;
  const Finding::Met met_;
  std::vector<Synchronisation> log_;
  size_t first_ = 0;                   // what the log's first has had before it
  std::map<uint64_t, size_t> issued_;  // by operation: what was in the log then
  // What was in the log at the two acts; the same of the earlier thread's own access by the later's
  // instruction, before the two and behind them, and of the later thread's by the earlier's.
  std::optional<size_t> begin_, end_, own_, turned_begin_, own_end_, turned_end_;
  size_t after_ = 0;
  bool earlier_left_ = false, later_left_ = false;  // that thread has exited
  std::vector<Synchronisation> window_;             // what stands between the two
  size_t at_ = 0;                                   // in it
  Between out_;
};

}  // namespace

bool has_between(const Finding& f) {
  return (f.kind == Kind::race || f.kind == Kind::warp_race || f.kind == Kind::operation_race ||
          f.kind == Kind::proxy_fence) &&
         f.launches_before == 0 && !f.met.empty() && f.met.front().earlier.warp >= 0 && f.later.warp >= 0;
}

std::vector<std::optional<Between>> between(const std::vector<const Finding*>& findings, const Rerun& rerun) {
  std::vector<Seen> seen;
  for (const Finding* f : findings) seen.emplace_back(*f);
  uint64_t accesses = 0;
  machine::Observer observer;
  observer.accesses = true;
  observer.steps = false;
  struct Over {};  // thrown where the rest of the run need not be seen
  const auto over = [&] { return std::ranges::all_of(seen, &Seen::is_over); };
  observer.tell = [&](const machine::Event& event) {
    if (const auto* a = std::get_if<Access>(&event.what)) {
      ++accesses;
      for (Seen& s : seen) s.look(*a, accesses);
    } else if (const auto* synchronised = std::get_if<Synchronisation>(&event.what)) {
      for (Seen& s : seen) s.look(*synchronised);
      if (over()) throw Over{};
    }
  };
  try {
    rerun([&](run::Options& options) { options.observers.push_back(observer); });
  } catch (const Over&) {
  } catch (const machine::Fault&) {  // so the first run may have ended too: what was seen counts
  }
  std::vector<std::optional<Between>> out;
  for (Seen& s : seen) out.push_back(s.told());
  return out;
}

}  // namespace bitwell::findings
