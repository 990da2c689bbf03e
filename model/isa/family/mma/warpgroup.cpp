#include "model/isa/family/mma/warpgroup.h"

#include <algorithm>

#include "model/isa/family/mma/prepared_matrix.h"
#include "model/number/dot_integer.h"
#include "model/run/context.h"
#include "model/run/turns/synchronised.h"
#include "model/run/watch/definedness.h"

namespace bitwell::isa {

using machine::Fault;

namespace {

constexpr size_t kWarps = 4;  // of a warpgroup

const WarpgroupMmaUse& mma_of(const Op& op) { return op.as<WarpgroupMmaUse>(); }

bool same_accumulators(const Op& one, const Op& other) {
  return &one == &other ||
         (mma_of(one).half_result() == mma_of(other).half_result() && *one.results == *other.results);
}
// Whether `later`, which all warps have issued, adds to what `mma` leaves.
bool adds_to(const WarpgroupMma& later, const WarpgroupMma& mma) {
  return later.warps == static_cast<int>(kWarps) && later.accumulate &&
         later.activations == mma.activations && same_accumulators(*later.op, *mma.op);
}

// The rows of lanes of a warp's accumulators.
std::vector<uint32_t*> accumulators(const WarpgroupMma& mma, size_t warp) {
  std::vector<uint32_t*> rows;
  rows.reserve(mma.op->results->size());
  for (const uint32_t r : *mma.op->results)
    rows.push_back(reinterpret_cast<uint32_t*>(mma.activations[warp]->rows.data() + r));
  return rows;
}

}  // namespace

bool Warpgroup::issue(size_t warp, const Op& op, run::Context& context) {
  const WarpgroupMmaUse& mma = mma_of(op);
  Share& share = warps_[warp];
  if (!share.fenced)
    throw Fault("wgmma.mma_async without any wgmma.fence before it: what wrote its registers is not ordered");
  context.require_defined(op.c, ~0u, "scale-d");
  const uint32_t scale_d = *context.row<uint32_t>(op.c) ^ (mma.negated_scale ? ~0u : 0);
  if (scale_d != 0 && scale_d != ~0u) throw Fault("scale-d differs between threads of a warp");
  WarpgroupMma next;
  next.op = &op;
  next.b = context.uniform<uint64_t>(op.b, "the matrix descriptor of B");
  if (!mma.a_in_registers) next.a = context.uniform<uint64_t>(op.a, "the matrix descriptor of A");
  next.accumulate = scale_d != 0;
  const uint64_t number = share.issued++;
  run::tell_synchronised(machine::Synchronisation::Kind::mma_issued, context.cta, context.warp,
                         context.split(), ~0u, number);
  const bool first = queue_.empty();
  if (number == done_ + queue_.size()) {
    next.place = context.cta.issue_place(context.warp, context.split(), -1);
    queue_.push_back(std::move(next));
  }
  WarpgroupMma& mine = queue_[number - done_];
  if (mine.op != &op || (mine.warps != 0 && (mine.a != next.a || mine.b != next.b)) ||
      mine.accumulate != (scale_d != 0))
    throw Fault(
        "the warps of a warpgroup issue different wgmma instructions or descriptors: another warp issued "
        "that of PTX line " +
        std::to_string(mine.place.ptx_line));
  if (mma.a_in_registers) {
    std::vector<const uint32_t*> registers;
    for (const uint32_t r : *op.sources) {
      context.require_defined(r, ~0u, "A's registers");
      registers.push_back(context.row<uint32_t>(r));
    }
    mine.a_codes.resize(kWarps * kFragmentRows * mma.k);
    const auto codes = std::span(mine.a_codes).subspan(warp * kFragmentRows * mma.k, kFragmentRows * mma.k);
    unpack_a(mma, registers, codes);
    if (mma.negate_a) negate(*mma.a, codes);
  }
  // An accumulator that an earlier MMA is still writing holds nothing yet, and may be passed on. Most often
  // one of them has the same ones.
  machine::Activation& activation = context.activation();
  const size_t earlier = number - done_;
  const auto of_this_call = [&](size_t i) { return queue_[i].activations[warp].get() == &activation; };
  bool all_in_flight = false;
  for (size_t i = earlier; i-- > 0 && !all_in_flight;)
    all_in_flight = of_this_call(i) && same_accumulators(*queue_[i].op, op);
  const auto in_flight = [&](uint32_t row) {
    for (size_t i = earlier; i-- > 0;) {
      const auto& rows = *queue_[i].op->results;
      if (of_this_call(i) && std::find(rows.begin(), rows.end(), row) != rows.end()) return true;
    }
    return false;
  };
  for (const uint32_t r : *op.results) {
    if (context.checked) {
      const uint32_t known = activation.rows.defined()[r / machine::kRowBytes];
      if (known != 0 && (all_in_flight || in_flight(r)))
        throw Fault("an accumulator of wgmma was written before wgmma.wait_group");
      if (mine.accumulate && known != ~0u && !all_in_flight && !in_flight(r))
        context.require_defined(r, ~0u, "an accumulator");
    }
    activation.forget(r, ~0u);
  }
  mine.activations[warp] = context.split().activation;
  ++mine.warps;
  return first;
}

bool Warpgroup::groups_done(size_t warp, uint64_t pending) {
  auto& groups = warps_[warp].groups;
  while (!groups.empty() && groups.front() <= done_) groups.pop_front();
  return groups.size() <= pending;
}

void Warpgroup::run_front(const run::Port& port) {
  const WarpgroupMma& next = queue_.front();
  const WarpgroupMmaUse& mma = mma_of(*next.op);
  const SharedBytes shared = shared_bytes(port, cta_);
  try {
    const auto matrix = [&](uint64_t descriptor, bool mn_major, const number::Format* format, size_t rows,
                            const char* what) -> SharedMatrix {
      const auto d = machine::decode_matrix_descriptor(machine::DescriptorForm::wgmma, descriptor);
      return {d, mn_major, format->container, rows, mma.k, Packing::dense, "wgmma", what};
    };
    const SharedMatrix b = matrix(next.b, mma.transpose_b, mma.b, mma.n, "B");
    const number::DotColumns* columns =
        mma.bytes ? nullptr : &prepared_columns({mma.rule, mma.b, mma.negate_b}, b, shared);
    const std::vector<uint32_t> b_bytes = mma.bytes ? read_matrix(shared, b) : std::vector<uint32_t>();
    std::vector<uint32_t> a;
    if (!mma.a_in_registers) {
      a = read_matrix(shared, matrix(next.a, mma.transpose_a, mma.a, kWarps * kFragmentRows, "A"));
      if (mma.negate_a) negate(*mma.a, a);
    }
    take_sums(next);
    const std::vector<uint32_t>& codes = mma.a_in_registers ? next.a_codes : a;
    if (mma.bytes)
      number::integer_dot_tile({codes, mma.bytes->a_signed}, {b_bytes, mma.bytes->b_signed}, mma.k, mma.n,
                               mma.bytes->saturate, sums_);
    else
      add_products(next, codes, *columns);
    sums_kept_ = queue_.size() > 1 && adds_to(queue_[1], next);
    if (!sums_kept_) leave_sums(next);
  } catch (const Fault& fault) {
    if (fault.placed) throw;
    throw Fault(next.place.kept(), fault.what());
  }
  queue_.pop_front();
  ++done_;
}

// A B, added to D.
void Warpgroup::add_products(const WarpgroupMma& next, std::span<const uint32_t> a,
                             const number::DotColumns& b) {
  const WarpgroupMmaUse& mma = mma_of(*next.op);
  const std::vector<uint32_t> before = mma.watch != nullptr ? sums_ : std::vector<uint32_t>();
  number::dot_tile(*mma.rule, {mma.a, a}, kWarps * kFragmentRows, b, sums_);
  if (mma.watch != nullptr)
    mma.watch->look({*mma.rule, {mma.a, a}, b, before, sums_, 0, 0, next.place.kept()});
}

// D as the MMA finds it: zeros, its registers, or what the MMA before has kept.
void Warpgroup::take_sums(const WarpgroupMma& next) {
  const WarpgroupMmaUse& mma = mma_of(*next.op);
  if (cta_.grid.options.checked)
    for (const auto& activation : next.activations)
      for (const uint32_t r : *next.op->results)
        if (activation->rows.defined()[r / machine::kRowBytes] != 0)
          throw Fault("an accumulator of wgmma was written before wgmma.wait_group");
  if (sums_kept_) return;
  const size_t share = kFragmentRows * mma.n;
  sums_.resize(kWarps * share);
  if (!next.accumulate) {
    std::fill(sums_.begin(), sums_.end(), 0);
    return;
  }
  for (size_t w = 0; w < kWarps; ++w)
    unpack_d(mma, accumulators(next, w), std::span(sums_).subspan(w * share, share));
}

// D into its registers.
void Warpgroup::leave_sums(const WarpgroupMma& done) {
  const WarpgroupMmaUse& mma = mma_of(*done.op);
  const size_t share = kFragmentRows * mma.n;
  for (size_t w = 0; w < kWarps; ++w) {
    pack_d(mma, std::span(sums_).subspan(w * share, share), accumulators(done, w));
    for (const uint32_t r : *done.op->results)
      done.activations[w]->rows.defined()[r / machine::kRowBytes] = ~0u;
  }
  // A later MMA of the queue has these registers in hand again; all else about them was forgotten when it was
  // issued.
  for (size_t i = 1; i < queue_.size(); ++i)
    for (const auto& activation : queue_[i].activations)
      if (activation != nullptr)
        for (const uint32_t r : *queue_[i].op->results)
          activation->rows.defined()[r / machine::kRowBytes] = 0;
}

}  // namespace bitwell::isa
