// Accesses held against the variables that their addresses derive from.
#pragma once
#include <memory>
#include <unordered_map>

#include "model/hazard/flow/handed_over.h"
#include "model/hazard/flow/objects.h"
#include "model/hazard/knowledge/launches.h"

namespace bitwell::hazard {

class Addresses {
 public:
  Addresses(std::shared_ptr<const Objects> objects, Ledger& ledger, Clusters& clusters, Conflicts& conflicts,
            Launches& launches)
      : objects_(std::move(objects)),
        handed_over_(objects_->local_pointers()),
        ledger_(ledger),
        clusters_(clusters),
        conflicts_(conflicts),
        launches_(launches) {}

  const std::shared_ptr<const Objects>& objects() const { return objects_; }

  // Whether something may be found of an operation's pieces, one by one.
  bool asks_for(const machine::Access& a) const;
  // Whether reads of that line have to be told whatever they read.
  bool asks_for_reads(int ptx_line) const {
    return objects_->read_at(ptx_line) != nullptr || !objects_->local_pointers()->none();
  }
  // Whether nothing is found of what lanes reach by that instruction, whatever it is.
  bool passes(const machine::Access& a) const {
    return objects_->nothing_at(a.ptx_line) ||
           (object_of(a) == nullptr && objects_->heap_at(a.ptx_line) == Objects::Heap::none &&
            objects_->local_pointers()->none());
  }
  bool passes(int ptx_line) const { return objects_->nothing_at(ptx_line); }
  // Whether it is the act of malloc or free, and not an access.
  bool access(const machine::Access& a, Cluster& c) {
    return !objects_->nothing_at(a.ptx_line) && asked(a, c);
  }

 private:
  bool asked(const machine::Access& a, Cluster& c);
  bool heap_call(const machine::Access& a, Cluster& c);
  void freed(const machine::Access& a, Cluster& c);
  const Object* object_of(const machine::Access& a) const {
    return a.kind == machine::AccessKind::read ? objects_->read_at(a.ptx_line)
                                               : objects_->written_at(a.ptx_line);
  }
  void inside_its_object(const machine::Access& a);
  void follow_handed_over(const machine::Access& a, Cluster& c);

  std::shared_ptr<const Objects> objects_;
  HandedOver handed_over_;
  Ledger& ledger_;
  Clusters& clusters_;
  Conflicts& conflicts_;
  Launches& launches_;
  std::unordered_map<uint64_t, Party> made_;  // by address: who called malloc
};

}  // namespace bitwell::hazard
