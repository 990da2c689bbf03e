#include "model/isa/family/tensor/tensor_unit.h"

#include <algorithm>
#include <utility>

#include "model/run/turns/synchronised.h"

namespace bitwell::isa {

using machine::Fault;

namespace {

using Kind = machine::OperationStep::Kind;

// By then the random schedule has most likely let others go before.
constexpr int kTurnsToPass = 64;

constexpr machine::Order kOrder{machine::Semantics::weak, machine::Scope::cta, machine::Proxy::async};

// A warp's operations as the scheduler sees them.
class PipeAgent : public machine::Agent {
 public:
  PipeAgent(const TensorUnit& unit, TensorUnit::Pipe& pipe, run::Cta& cta)
      : unit_(unit), pipe_(pipe), cta_(cta) {}

  bool ready() const override { return !unit_.waits(pipe_.operations.front()) || !free().empty(); }

  bool step() override {
    if (pipe_.turns_to_pass > 0) {
      --pipe_.turns_to_pass;
      return false;
    }
    const std::vector<size_t> all = free();
    const size_t which = all.size() == 1 ? all[0] : all[pipe_.random() % all.size()];
    const auto next = pipe_.operations.begin() + static_cast<std::ptrdiff_t>(which);
    const TensorOperation operation = std::move(*next);
    pipe_.operations.erase(next);
    place = operation.place;
    const uint64_t own = std::exchange(id, operation.id);
    // Its columns are another's by now: a CTA cannot end with columns of its own.
    if (!cta_.alive())
      throw Fault(operation.what + " is under way when its CTA ends, which has freed its tensor memory");
    operation.run(run::Port(cta_.cluster, *this, kOrder));
    work.bytes += operation.work.bytes;
    work.products += operation.work.products;
    cta_.cluster.tell(Kind::finished, place, issuer, id, operation.what);
    run::tell_synchronised(machine::Synchronisation::Kind::finished, cta_, issuer, id);
    id = own;
    return pipe_.operations.empty();
  }
  std::string describe() const override {
    if (pipe_.operations.empty()) return "tcgen05 operations, all done";
    const TensorOperation& next = pipe_.operations.front();
    return next.what + " of PTX line " + std::to_string(next.place.ptx_line) + ", " +
           std::to_string(pipe_.operations.size()) + " of its warp to come";
  }
  bool tells_of_each() const override { return true; }
  machine::Task task() const override { return pipe_.operations.front().task; }

 private:
  // Whether `later`, issued behind it by the same warp, waits for it. That the threads of a warp count as one
  // rests on what runs on B200s, too: a kernel in which all of them issue.
  bool orders(const TensorOperation& earlier, const TensorOperation& later) const {
    const machine::Promise kept = cta_.grid.options.schedule.kept;
    return (kept == machine::Promise::devices || earlier.lane == later.lane) &&
           earlier.order.before(later.order, kept);
  }
  // Which operations may go on: the first, under the random schedule any that none before it orders; if none
  // of another warp comes first.
  std::vector<size_t> free() const {
    const auto& all = pipe_.operations;
    const bool random = cta_.grid.options.schedule.policy == run::Policy::random;
    std::vector<size_t> out;
    for (size_t i = 0; i < (random ? all.size() : 1); ++i) {
      size_t j = 0;
      while (j < i && !orders(all[j], all[i])) ++j;
      if (j == i && !unit_.waits(all[i])) out.push_back(i);
    }
    return out;
  }

  const TensorUnit& unit_;
  TensorUnit::Pipe& pipe_;
  run::Cta& cta_;
};

class CommitAgent : public machine::Agent {
 public:
  CommitAgent(TensorUnit::Pipe& pipe, run::Cta& cta, int lane, uint64_t number,
              std::function<void(const run::Port&)> run)
      : pipe_(pipe), cta_(cta), lane_(lane), number_(number), run_(std::move(run)) {}

  bool ready() const override {
    return std::none_of(pipe_.operations.begin(), pipe_.operations.end(),
                        [&](const TensorOperation& o) { return o.lane == lane_ && o.number < number_; });
  }
  bool step() override {
    run_(run::Port(cta_.cluster, *this, {machine::Semantics::release, machine::Scope::cluster}));
    return true;
  }
  machine::Task task() const override { return {.kind = machine::Task::Kind::commit}; }
  std::string describe() const override {
    return "tcgen05.commit of PTX line " + std::to_string(place.ptx_line);
  }

 private:
  TensorUnit::Pipe& pipe_;
  run::Cta& cta_;
  int lane_;
  uint64_t number_;
  std::function<void(const run::Port&)> run_;
};

}  // namespace

void TensorUnit::reach(const run::Port& port, machine::AccessKind kind, const TensorBlock& block, int warp,
                       const char* what) {
  for (uint32_t lane : {block.lane, block.lane + block.lanes - 1})
    memory.cells(lane, block.column, block.columns, what);
  for (const Move& m : moves_) {
    if (m.warp == warp && (m.store ? kind == machine::AccessKind::write : kind == machine::AccessKind::read))
      continue;
    if (!m.store && kind == machine::AccessKind::read) continue;
    if (!m.block.meets(block)) continue;
    if (m.load != nullptr && m.load->used()) {
      cta_.cluster.note(m.place.kept(),
                        std::string("the cells of this tcgen05.ld are another's, by ") + what +
                            ", when its registers have been used, but without tcgen05.wait::ld");
      continue;
    }
    // What its warp has loaded again is there: CUTLASS's stream-K kernels hand their columns to an MMA so.
    if (m.store && (warp >= 0 || m.read_back || read_back(m))) {
      cta_.cluster.note(m.place.kept(), std::string("the cells of this tcgen05.st are another's, by ") +
                                            what + ", without tcgen05.wait::st");
      continue;
    }
    throw Fault(std::string(what) + (kind == machine::AccessKind::read ? " reads" : " writes") +
                " cells of tensor memory that the tcgen05." + (m.store ? "st" : "ld") + " of PTX line " +
                std::to_string(m.place.ptx_line) + " by warp " + std::to_string(m.warp) +
                (m.store ? " may not have written yet: tcgen05.wait::st is missing"
                         : " may still have to read: tcgen05.wait::ld is missing"));
  }
  port.cells(kind, cta_, block.lane, block.lanes, block.column, block.columns, block.half(), block.gap);
}

void TensorUnit::note_missing_fence(const machine::IssuePlace& place, int warp, const std::string& what) {
  if (unfenced_.erase(warp) != 0)
    cta_.cluster.note(place.kept(),
                      what + " after a wait for a tcgen05.commit, and no tcgen05.fence::after_thread_sync");
}

void TensorUnit::started(bool store, const TensorBlock& block, int warp, const machine::IssuePlace& place,
                         std::shared_ptr<const machine::TensorLoad> load) {
  note_missing_fence(place, warp, store ? "tcgen05.st" : "tcgen05.ld");
  moves_.push_back({store, block, warp, place, cta_.cluster.next_operation(), std::move(load)});
  tell(Kind::issued, moves_.back());
}

// Whether its warp has used all registers of a load behind it that has all its cells.
bool TensorUnit::read_back(const Move& store) const {
  return std::any_of(moves_.begin(), moves_.end(), [&](const Move& m) {
    return loads_behind(m, store) && m.load != nullptr && m.load->used();
  });
}

bool TensorUnit::loads_behind(const Move& load, const Move& store) {
  return !load.store && store.store && load.warp == store.warp && load.id > store.id &&
         load.block.holds(store.block);
}

void TensorUnit::waited(bool store, int warp) {
  for (Move& m : moves_)
    if (!store && m.store && m.warp == warp)
      m.read_back = m.read_back || std::any_of(moves_.begin(), moves_.end(),
                                               [&](const Move& load) { return loads_behind(load, m); });
  std::erase_if(moves_, [&](const Move& m) {
    const bool over = m.store == store && m.warp == warp;
    if (over) tell(Kind::finished, m);
    return over;
  });
}

void TensorUnit::freed(uint32_t column, uint32_t columns) {
  for (const Move& m : moves_)
    if (m.block.meets({0, machine::kTensorLanes, column, columns}))
      cta_.cluster.note(m.place.kept(), std::string(m.store ? "tcgen05.st" : "tcgen05.ld") +
                                            " is under way when its columns are freed: tcgen05.wait::" +
                                            (m.store ? "st" : "ld") + " is missing");
}

void TensorUnit::tell(Kind kind, const Move& move) const {
  cta_.cluster.tell(kind, move.place, move.warp, move.id, move.store ? "tcgen05.st" : "tcgen05.ld");
}

bool TensorUnit::waits(const TensorOperation& operation) const {
  return std::any_of(operation.fenced.begin(), operation.fenced.end(), [&](const auto& fence) {
    const auto pipe = pipes_.find(fence.first);
    return pipe != pipes_.end() &&
           std::any_of(pipe->second.operations.begin(), pipe->second.operations.end(),
                       [&](const TensorOperation& o) {
                         return o.number < fence.second && o.number < operation.number && &o != &operation &&
                                o.order.before(operation.order, cta_.grid.options.schedule.kept);
                       });
  });
}

void TensorUnit::issue(run::Context& context, int lane, std::string what, const TensorOrder& order,
                       const machine::Work& work, const machine::Task& task,
                       std::function<void(const run::Port&)> run) {
  const auto [at, fresh] = pipes_.try_emplace(context.warp.index);
  Pipe& pipe = at->second;
  if (fresh) pipe.random.seed(context.cta.grid.options.schedule.seed + at->first);
  const bool idle = pipe.operations.empty();
  run::Cluster& cluster = context.cta.cluster;
  const machine::IssuePlace place = context.cta.issue_place(context.warp, context.split(), lane);
  note_missing_fence(place, at->first, what);
  issuers_.insert({at->first, lane});
  pipe.operations.push_back({std::move(what), order, place, lane, issued_++, cluster.next_operation(),
                             accepted_[context.warp.index], std::move(run), work, task});
  const TensorOperation& last = pipe.operations.back();
  cluster.tell(Kind::issued, last.place, context.warp.index, last.id, last.what);
  run::tell_issued(cluster, last.place, context.warp.index, last.id, machine::Ending::commit, last.order);
  if (!idle) return cluster.settle();
  const bool random = context.cta.grid.options.schedule.policy == run::Policy::random;
  if (random && pipe.random() % 2 == 0) pipe.turns_to_pass = kTurnsToPass;
  auto agent = std::make_unique<PipeAgent>(*this, pipe, cta_);
  agent->place = pipe.operations.front().place;
  cluster.start(std::move(agent), context.warp);
}

void TensorUnit::commit(run::Context& context, int lane, std::function<void(const run::Port&)> run) {
  // Two commits in a row are for the same operations, to tell two barriers.
  if (!issuers_.contains({context.warp.index, lane}))
    context.note(lane, "tcgen05.commit by a thread that has issued nothing");
  auto agent =
      std::make_unique<CommitAgent>(pipes_[context.warp.index], cta_, lane, issued_++, std::move(run));
  agent->place = context.cta.issue_place(context.warp, context.split(), lane);
  context.cta.cluster.start(std::move(agent), context.warp);
}

TensorUnit& tensor_unit(run::Cta& cta) { return cta.families.get<TensorUnit>(cta); }

run::Cta& peer_or_ended(run::Cta& cta) {
  const size_t rank = cta.rank ^ 1;
  if (rank >= cta.cluster.ctas.size())
    throw Fault("tcgen05 with .cta_group::2 in CTA rank " + std::to_string(cta.rank) +
                " of a cluster that has no rank " + std::to_string(rank) + ": there is no pair");
  return *cta.cluster.ctas[rank];
}

run::Cta& peer(run::Cta& cta) {
  run::Cta& other = peer_or_ended(cta);
  if (!other.alive())
    throw Fault("tcgen05 with .cta_group::2 whose other CTA, of rank " + std::to_string(other.rank) +
                ", has ended");
  return other;
}

}  // namespace bitwell::isa
