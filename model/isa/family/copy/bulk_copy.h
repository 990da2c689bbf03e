// Bulk copies under way: contiguous pieces from one memory to others.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/isa/family/transfer.h"
#include "model/machine/async_group.h"
#include "model/machine/tensor/tensor_map.h"
#include "model/run/port.h"

namespace bitwell::run {
struct Strip;
}

namespace bitwell::isa {

// `bytes` contiguous bytes; no source (nullptr): filled. `to` counts in the destination's address space.
struct Segment {
  machine::Region* source = nullptr;
  uint64_t from = 0;
  machine::Region* destination = nullptr;
  uint64_t to = 0;
  uint32_t bytes = 0;
  // Bytes of shared memory behind them, in the same 16, that hold nothing when the copy is done. Not counted.
  uint32_t padding = 0;
  // So many of the kind, each so much behind the one before: what a schedule takes apart.
  uint32_t rows = 1;
  uint64_t from_step = 0, to_step = 0;
  size_t first = 0;  // rows of the copy before these
  uint32_t span() const { return bytes + padding; }
  Segment row(size_t i) const {
    return {source, from + i * from_step, destination, to + i * to_step, bytes, padding};
  }
};

// One destination of a copy to shared memory: which CTA gets it and which mbarrier counts it.
struct CopyTarget {
  run::Cta* cta = nullptr;
  uint64_t barrier = 0;  // shared::cluster address
};

// What a copy does to each segment beside moving bytes.
struct CopyOptions {
  machine::TensorSwizzle swizzle = machine::TensorSwizzle::none;  // of the shared side
  bool shared_source = false;                                     // the side that is swizzled
  bool tensor_map = false;
  std::array<std::byte, 16> fill{};            // pattern of segments without a source
  std::optional<machine::TensorType> convert;  // of tensors: tf32 changes what it loads
  std::optional<AtomicOperation> reduce;
  ElementType element{};
  Order order;
};

// A copy that ends with an mbarrier's transaction count or with a group. Sources are read when it goes on,
// not when it is issued; a destination in shared memory holds nothing until its bytes arrive.
// Where several lanes of a warp have issued the same one, it stands for them all, one after the other: an
// H200 carries out each. Bytes are moved once for those that nothing comes between: a phase that ends, or a
// wait of some of the lanes.
class BulkCopy : public machine::Agent {
 public:
  // `what` is the instruction's, and stays.
  BulkCopy(run::Cluster& cluster, const std::string& what, std::vector<Segment> segments,
           CopyOptions options);
  ~BulkCopy() override;

  // To shared memory: bytes count on every target's mbarrier. Segments then name the first target's memory;
  // the others get the same offsets.
  void complete_on(std::vector<CopyTarget> targets) {
    targets_ = std::move(targets);
    ending = machine::Ending::mbarrier;
  }
  // To global memory: part of a group of each thread of that warp that issued it.
  void complete_in(std::vector<machine::AsyncGroups::Member> groups, run::Cta& cta, int warp);
  // Marks the shared destination as holding nothing.
  void poison();

  // For that lane, and for others of its warp: all of `those`.
  void issued_by(uint32_t those);

  bool step() override;
  machine::Task task() const override;
  bool fills(uint64_t shared_address, uint64_t length) const override;
  uint64_t completes_on(uint64_t shared_address) const override;
  std::string describe() const override;

 private:
  bool plain() const;
  bool goes_direct() const;
  const Segment& segment_of(size_t row) const;
  Segment row(size_t i) const;
  template <class Visit>
  void each_row(size_t first, Visit visit) const;
  run::Strip strip(size_t first, size_t end) const;
  bool one_piece(uint64_t shared_address, uint64_t bytes) const;
  size_t tell_rows(size_t first, size_t end) const;
  void load_direct(const Segment& s) const;
  void read(const Segment& s, std::byte* bytes, uint8_t* defined) const;
  bool read_written(const Segment& s, std::byte* bytes) const;
  void convert(std::byte* bytes, size_t size) const;
  void write(machine::Region& region, run::Cta* cta, const Segment& s, const std::byte* bytes,
             const uint8_t* defined) const;
  void follow(const machine::Region& region, uint64_t to, uint64_t bytes) const;
  machine::Fault unwritten() const;
  bool step_to_global();
  bool step_to_shared();
  bool complete(uint64_t bytes);
  bool some_wait() const;
  template <class Visit>
  void pieces(bool shared, uint64_t address, uint32_t bytes, Visit visit) const;

  run::Cluster& cluster_;
  const std::string& what_;
  std::vector<Segment> segments_;
  CopyOptions options_;
  std::vector<CopyTarget> targets_;
  std::vector<machine::AsyncGroups::Member> groups_;  // one for each time; none: to shared memory
  run::Cta* cta_ = nullptr;
  int warp_ = 0;
  size_t times_ = 1;             // once for each lane
  size_t done_ = 0;              // times
  size_t count_ = 0, next_ = 0;  // rows
  uint64_t total_ = 0, moved_ = 0;
  uint64_t low_ = 0, high_ = 0;  // of the shared destination, from its start
  // What was read: a row, or in `whole_` all of a copy to global memory, which is read before anything is
  // written.
  std::vector<std::byte> bytes_;
  std::vector<uint8_t> defined_;
  std::unique_ptr<std::byte[]> whole_;
  uint64_t room_ = 0;         // there
  size_t read_ = 0, at_ = 0;  // rows read, and the place in whole_, of a copy to global memory
  size_t have_read_ = 0;      // times
};

}  // namespace bitwell::isa
