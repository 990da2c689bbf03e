#include "verify/schedules/schedules.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "verify/launch/file/npy.h"

namespace bitwell::schedules {

namespace {

// Where the run under `options` parts from what the first left; no difference: nullopt.
std::optional<Disagreement> parts(const launch::Start& start, const run::Options& options,
                                  const run::Schedule& first, const launch::Ran& want) {
  try {
    const std::vector<launch::Buffer>& buffers = start.launch().buffers;
    const launch::Ran got = start.run(options, true);
    for (size_t b = 0; b < buffers.size(); ++b) {
      const auto at = buffers[b].output ? want.difference(got, b) : std::nullopt;
      if (at) return Disagreement{first, options.schedule, "", b, *at, want.byte(b, *at), got.byte(b, *at)};
    }
  } catch (const machine::Fault& fault) {
    return Disagreement{first, options.schedule, fault.what()};
  }
  return std::nullopt;
}

// All schedules but the first, on several host threads. What the lowest of them came to that did not agree is
// what they come to one after the other: those behind it are left out, those before it end.
class Others {
 public:
  Others(const launch::Start& start, const run::Options& options, const std::vector<run::Schedule>& under,
         const SchedulesProgress& progress, const launch::Ran& want)
      : start_(start),
        options_(options),
        under_(under),
        progress_(progress),
        want_(want),
        end_(under.size()) {}

  std::optional<Disagreement> run(size_t threads) {
    {
      std::vector<std::jthread> helpers;
      try {
        while (helpers.size() + 2 < std::min(threads + 1, under_.size()))
          helpers.emplace_back([this] { loop(false); });
      } catch (const std::system_error&) {  // no more threads: those that there are do the work
      }
      loop(true);
    }
    if (error_) std::rethrow_exception(error_);
    return found_;
  }

 private:
  // `own`: by the caller's thread, which alone calls back.
  void loop(bool own) {
    run::Options options = options_;
    if (!own) options.progress = nullptr;
    for (size_t i = next_++; i < end_; i = next_++) {
      std::optional<Disagreement> found;
      std::exception_ptr error;
      try {
        options.schedule = under_[i];
        if (own && progress_) progress_(done_, under_[i]);
        found = parts(start_, options, under_.front(), want_);
      } catch (...) {
        error = std::current_exception();
      }
      ++done_;
      if (!found && !error) continue;
      const std::scoped_lock lock(mutex_);
      if (i >= end_) continue;
      end_ = i;
      found_ = std::move(found);
      error_ = error;
    }
  }

  const launch::Start& start_;
  const run::Options& options_;
  const std::vector<run::Schedule>& under_;
  const SchedulesProgress& progress_;
  const launch::Ran& want_;
  std::atomic<size_t> next_ = 1, done_ = 1;
  std::atomic<size_t> end_;  // those from here on need not be run
  std::mutex mutex_;
  std::optional<Disagreement> found_;
  std::exception_ptr error_;
};

}  // namespace

std::optional<Disagreement> disagreement(const launch::Start& start, run::Options options,
                                         const std::vector<run::Schedule>& under,
                                         const SchedulesProgress& progress,
                                         std::optional<launch::Ran>* first) {
  std::optional<launch::Ran> own;
  std::optional<launch::Ran>& want = first != nullptr ? *first : own;
  if (under.empty()) return std::nullopt;
  options.schedule = under.front();
  if (progress) progress(0, under.front());
  try {
    want.emplace(start.run(options, true));
  } catch (const machine::Fault& fault) {
    return Disagreement{under.front(), under.front(), fault.what()};
  }
  options.print = nullptr;
  const size_t threads = options.observers.empty() && options.chooser == nullptr && options.follow == nullptr
                             ? std::max(options.threads, 1u)
                             : 1;
  if (threads > 1) options.threads = 1;  // each schedule has one
  return Others(start, options, under, progress, *want).run(threads);
}

}  // namespace bitwell::schedules
