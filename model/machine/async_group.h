// Groups of one thread's asynchronous copies: cp.async and cp.async.bulk (PTX ISA 9.0, 9.7.9.25).
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace bitwell::machine {

class AsyncGroups {
  // Copies that still read their source, and that are not done.
  struct Group {
    uint32_t reading = 0;
    uint32_t writing = 0;
  };

 public:
  // The group that a copy is part of. The copy says there, once each and in this order, that it has read its
  // source and that it is done.
  class Member {
   public:
    Member() = default;  // of none
    explicit operator bool() const { return of_ != nullptr; }
    void has_read() const { --group().reading; }
    void is_done() const { --group().writing; }

   private:
    friend class AsyncGroups;
    Member(AsyncGroups* of, uint64_t number) : of_(of), number_(number) {}
    Group& group() const { return of_->groups_[number_ - of_->before_]; }
    AsyncGroups* of_ = nullptr;
    uint64_t number_ = 0;
  };

  // A copy that is issued now.
  Member join() {
    if (!is_open()) groups_.emplace_back();
    ++groups_.back().reading;
    ++groups_.back().writing;
    return {this, before_ + committed_};
  }
  void commit() {
    if (!is_open()) groups_.emplace_back();
    ++committed_;
  }
  // Whether all committed groups but the latest `pending` are done, or (`read`) have read their sources.
  bool done(uint64_t pending, bool read) {
    size_t first = 0;
    while (first < committed_ && groups_[first].writing == 0) ++first;
    groups_.erase(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(first));
    before_ += first;
    committed_ -= first;
    for (size_t i = 0; i + pending < committed_; ++i)
      if ((read ? groups_[i].reading : groups_[i].writing) != 0) return false;
    return true;
  }
  // Copies have numbers, in the order of issue.
  uint64_t issue() {
    outstanding_.push_back(next_);
    return next_++;
  }
  uint64_t issued() const { return next_; }
  void finish(uint64_t number) {
    outstanding_.erase(std::lower_bound(outstanding_.begin(), outstanding_.end(), number));
  }
  // Whether every copy with a lower number is done.
  bool done_before(uint64_t number) const { return outstanding_.empty() || outstanding_.front() >= number; }
  // Whether every copy issued so far is done, committed or not.
  bool all_done() { return done(0, false) && (!is_open() || groups_.back().writing == 0); }

 private:
  bool is_open() const { return groups_.size() != committed_; }

  // From number before_ on: those that are committed, then the open one, if a copy has joined it. In vectors,
  // for a deque allocates, and a warp has 64 of these.
  std::vector<Group> groups_;
  uint64_t before_ = 0, committed_ = 0;
  std::vector<uint64_t> outstanding_;  // ascending
  uint64_t next_ = 0;
};

}  // namespace bitwell::machine
