// Groups of one thread's asynchronous copies: cp.async and cp.async.bulk (PTX ISA 9.0, 9.7.9.25).
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

namespace bitwell::machine {

// Copies of a group that still read their source, and that are not done.
struct AsyncGroup {
  uint32_t reading = 0;
  uint32_t writing = 0;
};

class AsyncGroups {
 public:
  // The group that copies issued now belong to.
  const std::shared_ptr<AsyncGroup>& open() {
    if (open_ == nullptr) open_ = std::make_shared<AsyncGroup>();
    return open_;
  }
  void commit() {
    committed_.push_back(open());
    open_ = nullptr;
  }
  // Whether all committed groups but the latest `pending` are done, or (`read`) have read their sources.
  bool done(uint64_t pending, bool read) {
    const auto under_way = [](const auto& group) { return group->writing != 0; };
    committed_.erase(committed_.begin(), std::find_if(committed_.begin(), committed_.end(), under_way));
    for (size_t i = 0; i + pending < committed_.size(); ++i)
      if ((read ? committed_[i]->reading : committed_[i]->writing) != 0) return false;
    return true;
  }
  // Copies have numbers, in the order of issue.
  uint64_t issue() {
    outstanding_.insert(next_);
    return next_++;
  }
  uint64_t issued() const { return next_; }
  void finish(uint64_t number) { outstanding_.erase(number); }
  // Whether every copy with a lower number is done.
  bool done_before(uint64_t number) const { return outstanding_.empty() || *outstanding_.begin() >= number; }
  // Whether every copy issued so far is done, committed or not.
  bool all_done() { return done(0, false) && (open_ == nullptr || open_->writing == 0); }

 private:
  std::shared_ptr<AsyncGroup> open_;
  std::vector<std::shared_ptr<AsyncGroup>> committed_;  // a deque allocates, and a warp has 64 of these
  std::set<uint64_t> outstanding_;
  uint64_t next_ = 0;
};

}  // namespace bitwell::machine
