#include "model/isa/family/warpgroup.h"

#include <algorithm>

#include "model/isa/family/prepared_matrix.h"
#include "model/run/context.h"
#include "model/run/definedness.h"
#include "model/run/synchronised.h"

namespace bitwell::isa {

using machine::Fault;

namespace {

const WarpgroupMmaUse& mma_of(const Op& op) { return op.as<WarpgroupMmaUse>(); }

}  // namespace

bool Warpgroup::issue(size_t warp, const Op& op, Context& context) {
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
  tell_synchronised(Synchronisation::Kind::mma_issued, context.cta, context.warp, context.split(), ~0u,
                    number);
  const bool first = queue_.empty();
  if (number == done_ + queue_.size()) {
    next.place = context.cta.place(context.warp, context.split(), -1);
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
    mine.a_codes[warp].resize(kFragmentRows * mma.k);
    unpack_a(mma, registers, mine.a_codes[warp]);
    if (mma.negate_a) negate(*mma.a, mine.a_codes[warp]);
  }
  // An accumulator that an earlier MMA is still writing holds nothing yet, and may be passed on. Most often
  // the latest has the same ones in the same places.
  const auto in_flight = [&](size_t n) {
    const uint32_t row = (*op.results)[n];
    for (size_t i = number - done_; i-- > 0;) {
      const auto& rows = *queue_[i].op->results;
      if (queue_[i].activations[warp] != context.split().activation) continue;
      if ((n < rows.size() && rows[n] == row) || std::find(rows.begin(), rows.end(), row) != rows.end())
        return true;
    }
    return false;
  };
  for (size_t n = 0; n < op.results->size(); ++n) {
    const uint32_t r = (*op.results)[n];
    if (context.checked) {
      const uint32_t known = context.defined_at(r);
      if (known != 0 && in_flight(n))
        throw Fault("an accumulator of wgmma was written before wgmma.wait_group");
      if (mine.accumulate && known != ~0u && !in_flight(n)) context.require_defined(r, ~0u, "an accumulator");
    }
    context.activation().forget(r, ~0u);
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

void Warpgroup::run_front(const Port& port) {
  const WarpgroupMma& next = queue_.front();
  const WarpgroupMmaUse& mma = mma_of(*next.op);
  const SharedBytes shared = shared_bytes(port, cta_);
  try {
    const auto matrix = [&](uint64_t descriptor, bool mn_major, const number::Format* format, size_t rows,
                            const char* what) -> SharedMatrix {
      const auto d = machine::decode_matrix_descriptor(machine::DescriptorForm::wgmma, descriptor);
      return {d, mn_major, format->container, rows, mma.k, Packing::dense, "wgmma", what};
    };
    const number::DotColumns& columns = prepared_columns(
        {mma.rule, mma.b, mma.negate_b}, matrix(next.b, mma.transpose_b, mma.b, mma.n, "B"), shared);
    std::vector<uint32_t> a;
    if (!mma.a_in_registers) {
      a = read_matrix(shared, matrix(next.a, mma.transpose_a, mma.a, 4 * kFragmentRows, "A"));
      if (mma.negate_a) negate(*mma.a, a);
    }
    std::vector<uint32_t> d(kFragmentRows * mma.n);
    std::vector<uint32_t*> rows;
    for (size_t w = 0; w < 4; ++w) {
      machine::Rows& registers = next.activations[w]->rows;
      rows.clear();
      for (const uint32_t r : *next.op->results) {
        uint32_t& defined = registers.defined()[r / machine::kRowBytes];
        if (defined != 0 && cta_.grid.options.checked)
          throw Fault("an accumulator of wgmma was written before wgmma.wait_group");
        defined = ~0u;
        rows.push_back(reinterpret_cast<uint32_t*>(registers.data() + r));
      }
      if (next.accumulate)
        unpack_d(mma, rows, d);
      else
        std::fill(d.begin(), d.end(), 0);
      const std::span<const uint32_t> share =
          mma.a_in_registers
              ? std::span<const uint32_t>(next.a_codes[w])
              : std::span<const uint32_t>(a).subspan(w * kFragmentRows * mma.k, kFragmentRows * mma.k);
      number::dot_tile(*mma.rule, {mma.a, share}, kFragmentRows, columns, d);
      pack_d(mma, d, rows);
    }
  } catch (const Fault& fault) {
    if (fault.placed) throw;
    throw Fault(next.place, fault.what());
  }
  queue_.pop_front();
  ++done_;
  // A later MMA of the queue has these registers in hand again; all else about them was forgotten when it was
  // issued.
  for (const WarpgroupMma& later : queue_)
    for (size_t w = 0; w < 4; ++w)
      if (later.activations[w] != nullptr)
        for (const uint32_t r : *later.op->results)
          later.activations[w]->rows.defined()[r / machine::kRowBytes] = 0;
}

}  // namespace bitwell::isa
