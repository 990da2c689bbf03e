#include "verify/schedules/search.h"

#include <algorithm>
#include <system_error>
#include <thread>

namespace bitwell::schedules {

using explore::Explorer;
namespace {

constexpr size_t kMostAhead = 128;  // runs of a part for which nobody waits

// A part that is over before another thread has woken was not worth giving away; one that takes long keeps
// others waiting for it at the end. What is kept for oneself is made more or fewer parts by what the last one
// took.
constexpr size_t kFewestBehind = 2, kMostBehind = 64;
constexpr auto kTooShort = std::chrono::milliseconds(1), kLong = std::chrono::milliseconds(8);

}  // namespace

const Ways::Way& Ways::of(const Ended& end) {
  const Way way{end.fault.substr(0, end.fault.find('\n')), end.buffers, end.variables};
  {
    const std::shared_lock lock(mutex_);
    if (const auto at = ways_.find(way); at != ways_.end()) return at->first;
  }
  const std::scoped_lock lock(mutex_);
  return ways_.emplace(way, true).first->first;
}

void Found::add(const Ways::Way* way, const Ended& end, const Explorer& explorer) {
  runs.push_back({way, explorer.turns()});
  if (way != nullptr && firsts.count(way) == 0) firsts[way] = {end.fault, explorer.order()};
}

void Found::append(Found&& more) {
  runs.insert(runs.end(), more.runs.begin(), more.runs.end());
  firsts.merge(more.firsts);
  thrown = more.thrown;
}

Exhausted Found::told(uint64_t most) const {
  if (thrown && runs.size() < most) std::rethrow_exception(thrown);
  Exhausted out;
  out.complete = complete;
  std::map<const Ways::Way*, size_t> ends;
  for (size_t i = 0; i < std::min<size_t>(runs.size(), most); ++i) {
    const auto& [way, turns] = runs[i];
    if (way == nullptr) {
      ++out.pruned;
      continue;
    }
    ++out.runs;
    out.turns = std::max(out.turns, turns);
    const auto [at, is_new] = ends.emplace(way, out.ends.size());
    if (is_new) {
      const First& first = firsts.at(way);
      out.ends.push_back({first.fault, std::get<1>(*way), std::get<2>(*way), 0, first.order});
    }
    ++out.ends[at->second].runs;
  }
  return out;
}

Exhausted Search::run(std::unique_ptr<Explorer> all, unsigned threads) {
  whole_ = all.get();
  behind_ = kFewestBehind;
  Part& whole = parts_.try_emplace(whole_, std::move(all), most_).first->second;
  whole.asked = true;
  ready_.push_back(&whole);
  {
    std::vector<std::jthread> helpers;
    try {
      while (helpers.size() + 1 < threads) helpers.emplace_back([this] { work(false); });
    } catch (const std::system_error&) {  // no more threads: those that there are do the work
    }
    work(true);
  }
  return whole.found.told(most_);
}

// `own`: by the caller's thread.
void Search::work(bool own) {
  std::unique_lock lock(mutex_);
  while (!over_) {
    if (ready_.empty()) {
      ++idle_;
      changed_.wait(lock, [&] { return over_ || !ready_.empty(); });
      --idle_;
      continue;
    }
    Part& part = *ready_.front();
    ready_.pop_front();
    offered_ = ready_.size();
    part.begun = true;
    lock.unlock();
    try {
      go_on(part, own);
    } catch (...) {
      part.found.thrown = std::current_exception();
      end(part);
    }
    lock.lock();
  }
}

// To its end, or until it waits for another, or rests.
void Search::go_on(Part& part, bool own) {
  while (!over_) {
    if (part.found.runs.size() >= part.most || part.found.thrown) return end(part);
    if (part.found.runs.size() >= kMostAhead && rests(part)) return;
    switch (part.explorer->next()) {
      case Explorer::Next::over: part.found.complete = true; return end(part);
      case Explorer::Next::part:
        if (!goes_on_behind(part)) return;
        break;
      case Explorer::Next::run:
        make_run(part, own);
        if (part.asked && idle_ > offered_) give(part);
        break;
    }
  }
}

bool Search::rests(Part& part) {
  if (part.asked) return false;
  const std::scoped_lock lock(mutex_);
  part.rests = !part.asked;
  return part.rests;
}

// The part that it has come to is over, or becomes its own again. Else it waits for that.
bool Search::goes_on_behind(Part& part) {
  const std::scoped_lock lock(mutex_);
  const auto at = parts_.find(part.explorer->part());
  Part& next = at->second;
  if (!next.begun) {
    ready_.erase(std::find(ready_.begin(), ready_.end(), &next));
    offered_ = ready_.size();
    part.explorer->keep();
  } else if (next.over) {
    if (next.took < kTooShort)
      behind_ = std::min<size_t>(behind_ + 1, kMostBehind);
    else if (next.took > kLong)
      behind_ = std::max<size_t>(behind_ - 1, kFewestBehind);
    part.explorer->take(*next.explorer);
    part.found.append(std::move(next.found));
  } else {
    next.waiting = &part;
    next.asked = true;
    if (next.rests) ready_.push_front(&next);
    offered_ = ready_.size();
    return false;
  }
  parts_.erase(at);
  return true;
}

void Search::make_run(Part& part, bool own) {
  const bool first = part.explorer.get() == whole_ && part.found.runs.empty();
  const auto begin = std::chrono::steady_clock::now();
  const std::optional<Ended> end = run_(*part.explorer, first);
  part.took += std::chrono::steady_clock::now() - begin;
  part.explorer->end();
  part.found.add(end ? &ways_.of(*end) : nullptr, end.value_or(Ended()), *part.explorer);
  ++(end ? ended_ : pruned_);
  if (own && progress_) progress_(ended_, pruned_);
}

// To each thread that has nothing to do.
void Search::give(Part& part) {
  if (part.found.runs.size() >= part.most) return;
  while (idle_ > offered_) {
    std::unique_ptr<Explorer> given = part.explorer->give(behind_);
    if (given == nullptr) return;
    const std::scoped_lock lock(mutex_);
    const Explorer* const key = given.get();
    const uint64_t most = part.most - part.found.runs.size();
    ready_.push_back(&parts_.try_emplace(key, std::move(given), most).first->second);
    offered_ = ready_.size();
    changed_.notify_one();
  }
}

void Search::end(Part& part) {
  const std::scoped_lock lock(mutex_);
  part.over = true;
  if (part.waiting != nullptr) ready_.push_front(part.waiting);
  offered_ = ready_.size();
  if (part.explorer.get() == whole_) over_ = true;
  changed_.notify_all();
}

}  // namespace bitwell::schedules
