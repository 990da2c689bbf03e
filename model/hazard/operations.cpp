// Copies and other operations under way: what stands behind their issue, what they reach, and how they are
// waited for in groups.
#include "model/hazard/operations.h"

#include <algorithm>
#include <bit>

#include "model/hazard/knowledge/peers.h"
#include "model/hazard/mbarriers.h"
#include "model/machine/memory/memory.h"

namespace bitwell::hazard {

using machine::Synchronisation;
using SyncKind = Synchronisation::Kind;

void Operations::issued(const Synchronisation& s, Cluster& c) {
  Warp& w = clusters_.warp_of(c, s.cta, s.warp);
  Operation& op = c.operations[s.which];
  op.ending = s.ending;
  op.by = &w;
  op.number = static_cast<uint32_t>(s.which);
  op.lane = static_cast<uint32_t>(std::countr_zero(s.lanes));
  op.lanes = s.lanes;
  op.until = w.time++;
  // Of other copies the first lane stands for all that have issued them.
  if (std::has_single_bit(s.lanes) &&
      (op.ending == machine::Ending::mbarrier || op.ending == machine::Ending::bulk_group)) {
    op.known.set(~0u, w.known[op.lane]);
    op.ended.set(~0u, w.ended[op.lane]);
  } else {
    op.known = w.known;
    op.ended.set_each(w.ended);
  }
  op.accepted = w.lane(op.lane).accepted;
  op.tensor = s.tensor;
  op.last_mma = w.last_mma;
  op.loads_used = w.loads_used;
  if (op.ending == machine::Ending::commit && s.tensor.kind == machine::TensorOrder::Kind::mma)
    w.last_mma = op.number;
  issue(op, w);
  if (w.map.ptx_line == s.ptx_line && w.map.lane == op.lane) keeps_map(op, w, s.ptx_line);
}

void Operations::issue(const Operation& op, Warp& w) {
  const auto latest = [&](Stream s) {
    ledger_.units.stream(w, s);
    w.latest[static_cast<size_t>(s)] = op.number;
  };
  if (op.ending == machine::Ending::copy_group) latest(Stream::copy);
  if (op.ending == machine::Ending::commit) latest(Stream::tcgen05);
  if (op.ending != machine::Ending::bulk_group) return;
  latest(Stream::bulk_read);
  latest(Stream::bulk_write);
}

void Operations::groups(const Synchronisation& s, Warp& w) {
  const bool bulk = s.kind != SyncKind::copies_committed && s.kind != SyncKind::copies_waited;
  const bool commits = s.kind == SyncKind::copies_committed || s.kind == SyncKind::bulk_committed;
  const auto first = static_cast<size_t>(bulk ? Stream::bulk_read : Stream::copy);
  for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(lanes));
    Numbers& ended = w.ended[i];
    std::vector<uint32_t>& committed = w.own_lane(i).groups[bulk ? 1 : 0];
    if (commits) {
      committed.push_back(w.latest[first]);
      continue;
    }
    uint32_t done = 0;
    if (s.which == Synchronisation::kEvery)
      done = w.latest[first];
    else if (committed.size() > s.which)
      done = committed[committed.size() - 1 - s.which];
    ended[first] = std::max(ended[first], done);
    if (s.kind == SyncKind::bulk_read) continue;
    if (bulk) {
      uint32_t& written = ended[static_cast<size_t>(Stream::bulk_write)];
      written = std::max(written, done);
    }
    if (committed.size() > s.which)
      committed.erase(committed.begin(), committed.end() - static_cast<std::ptrdiff_t>(s.which));
  }
}

void Operations::keeps_map(Operation& op, const Warp& w, int ptx_line) {
  if (!machine::is_global(w.map.address)) return;
  constexpr uint64_t kMapBytes = 128;
  Site site{ptx_line,
            Actor::mbarrier_copy,
            machine::AccessKind::read,
            {machine::Semantics::weak, machine::Scope::cta, machine::Proxy::tensor_map}};
  uint32_t lanes = 1u << op.lane;
  const uint32_t record = record_of(op, site, w.map.address, true, false, lanes);
  ledger_.global.each(
      w.map.address, kMapBytes,
      [&](Cell& cell, uint64_t, uint64_t) {
        cell.reads = ledger_.readers.with(cell.reads, {record, lanes});
      },
      [](uint64_t) { return true; });
}

Operations::Way* Operations::way(size_t place, const machine::Access& a, Cluster& c) {
  Way& way = ways_[place];
  const uint64_t rank = (a.addresses[0] - machine::kSharedWindow) >> machine::kRankShift;
  if (conflicts_.series() == way.series && way.shadow != nullptr &&
      way.shadow == shadow_of(c, ledger_.global, a.addresses[0]) &&
      (way.shadow == &ledger_.global || way.rank == rank) && way.kind == a.kind && way.issuer == a.issuer &&
      way.site.ptx_line == a.ptx_line && way.order == a.order)
    return &way;
  way.shadow = nullptr;
  if (!find(way, a, c)) return nullptr;
  way.rank = rank;
  way.series = conflicts_.series();
  return &way;
}

void Operations::reach_otherwise(Way& way, const machine::Access& a, uint64_t piece, Cluster& c,
                                 uint64_t count, uint64_t apart) {
  if (way.alone) {
    const auto parts = way.shadow->parts_there(piece, a.bytes * count);
    if (const Conflicts::CamePart* const came = conflicts_.came_of(way.r, parts); came != nullptr) {
      conflicts_.count(way.again);
      way.again.came = came;
      Conflicts::made_again(way.again, parts);
      if (!conflicts_.may_wait(*came)) {
        conflicts_.count(way.again);
        way.again.came = nullptr;
      }
      return ledger_.findings.pass((count - 1) * apart);
    }
  }
  count_all();
  const bool shared = way.shadow != &ledger_.global;
  if (!way.of_group && shared && clusters_.several_ctas())
    peer_access(ledger_, a, c, way.viewers[0], way.site, piece);
  if (launches_.overlaps() && !shared) launches_.behind(way.r, piece, a.bytes);
  conflicts_.reach_alike(way.r, *way.shadow, piece, {a.bytes, count, apart});
}

namespace {

// Of pieces that are as far from each other, and do not overlap.
std::optional<Shadow::Shape> shape_of(const machine::Access& a) {
  constexpr size_t kFewest = 8;
  constexpr uint64_t kFarthest = uint64_t{1} << 32;
  const std::span<const uint64_t> at = a.addresses;
  if (at.size() < kFewest) return {};
  const uint64_t step = at[1] - at[0];
  if (step < a.bytes || step > kFarthest) return {};
  if (a.step != 0) return Shadow::Shape{at[0], a.bytes, step, at.size()};
  uint64_t other = 0, next = at[0];
  for (size_t i = 0; i < at.size(); ++i, next += step) other |= at[i] ^ next;
  if (other != 0) return {};
  return Shadow::Shape{at[0], a.bytes, step, at.size()};
}

}  // namespace

std::optional<Shadow::Shape> Operations::to_be_block(const Way& way, const machine::Access& a) {
  if (!way.alone || strength(way.site) != 0) return {};
  const std::optional<Shadow::Shape> shape = shape_of(a);
  return shape && way.shadow->may_be_block(*shape) ? shape : std::nullopt;
}

void Operations::access(const machine::Access& a, Cluster& c) {
  Way* const found = way(a.kind == machine::AccessKind::read ? 0 : 1, a, c);
  if (found == nullptr) return;
  if (reach_blocks({&found, 1}, {&a, 1}, 0, true)) return;
  const auto later = to_be_block(*found, a);
  reach_all(*found, a, 1, c);
  if (later) found->shadow->make_block(*later);
}

bool Operations::reach_blocks(std::span<Way* const> ways, std::span<const machine::Access> of,
                              uint32_t between, bool counted) {
  std::array<Shadow::Block*, machine::ByTurns::kMost> blocks{};
  for (size_t w = 0; w < ways.size(); ++w) {
    // What is strong may leave writes before the last one, which blocks do not have.
    if (ways[w] == nullptr || !ways[w]->alone || strength(ways[w]->site) != 0) return false;
    if (!ways[w]->shadow->any_blocks()) return false;
    const std::optional<Shadow::Shape> shape = shape_of(of[w]);
    blocks[w] = shape ? ways[w]->shadow->block(*shape) : nullptr;
    if (blocks[w] == nullptr) return false;
  }
  FindingList& findings = ledger_.findings;
  size_t more = 0;  // of which more comes than counts
  for (size_t w = 0; w < ways.size(); ++w) {
    if (w != 0 || !counted) findings.pass(1);
    conflicts_.reach_first(ways[w]->r, *blocks[w]);
    if (!conflicts_.counts_alone(findings.marked())) ++more;
    findings.swap_marked(found_[w]);
  }
  const uint64_t count = of.front().addresses.size();
  // In which order what is counted comes makes no difference.
  if (more == 0 || (ways.size() == 1 && found_[0].counted)) {
    for (size_t w = 0; w < ways.size(); ++w)
      findings.repeat(found_[w].which, (count - 1) * (of[w].bytes >> ShadowPage::kCoarsest));
    findings.pass((count - 1) * (between + ways.size()));
    return true;
  }
  const uint64_t apart = between + ways.size();
  const std::span<const FindingList::Marked> found(found_.data(), ways.size());
  const auto cells = [&](size_t w) { return of[w].bytes >> ShadowPage::kCoarsest; };
  uint64_t most_cells = 0;
  for (size_t w = 0; w < ways.size(); ++w) most_cells = std::max(most_cells, cells(w));
  if (findings.each_may_come(found, (count - 1) * most_cells)) {
    for (size_t w = 0; w < ways.size(); ++w)
      findings.repeat_pieces(found[w],
                             {count - 1, apart, blocks[w]->shape.step, cells(w), Conflicts::kWhole});
    findings.pass((count - 1) * apart);
    return true;
  }
  for (uint64_t i = 1; i < count; ++i) {
    findings.pass(between);
    for (size_t w = 0; w < ways.size(); ++w) {
      findings.pass(1);
      findings.swap_marked(found_[w]);
      conflicts_.reach_next(blocks[w]->shape, i * blocks[w]->shape.step);
      findings.swap_marked(found_[w]);
    }
  }
  return true;
}

// All pieces, of one memory, each so many accesses behind the one before; the first has been counted as one.
void Operations::reach_all(Way& way, const machine::Access& a, uint64_t apart, Cluster& c) {
  const bool together = std::has_single_bit(a.bytes) && a.bytes >= Conflicts::kWhole &&
                        !clusters_.several_ctas() && !launches_.overlaps();
  for (size_t i = 0; i < a.addresses.size();) {
    if (i != 0) ledger_.findings.pass(apart);
    const uint64_t address = a.addresses[i];
    uint64_t count = 1;
    if (together && (address & (a.bytes - 1)) == 0) {
      const uint64_t end = (address / ShadowPage::kPageBytes + 1) * ShadowPage::kPageBytes;
      while (i + count < a.addresses.size() && address + count * a.bytes < end &&
             a.addresses[i + count] == address + count * a.bytes)
        ++count;
    }
    reach(way, a, address, c, count, apart);
    i += count;
  }
  count_all();
}

void Operations::by_turns(const machine::ByTurns& turns, Cluster& c) {
  std::array<Way*, machine::ByTurns::kMost> found{};
  for (size_t i = 0; i < turns.of.size(); ++i) found[i] = way(i, turns.of[i], c);
  if (reach_blocks({found.data(), turns.of.size()}, turns.of, turns.between, false)) return;
  std::array<std::optional<Shadow::Shape>, machine::ByTurns::kMost> later;
  for (size_t i = 0; i < turns.of.size(); ++i)
    if (found[i] != nullptr) later[i] = to_be_block(*found[i], turns.of[i]);
  reach_by_turns(found, turns, c);
  for (size_t i = 0; i < turns.of.size(); ++i)
    if (later[i]) found[i]->shadow->make_block(*later[i]);
}

void Operations::reach_by_turns(std::span<Way* const> found, const machine::ByTurns& turns, Cluster& c) {
  if (turns.of.size() == 1 && found[0] != nullptr) {
    ledger_.findings.next_access();
    return reach_all(*found[0], turns.of[0], 1 + turns.between, c);
  }
  for (size_t piece = 0; piece < turns.of.front().addresses.size(); ++piece) {
    if (piece != 0) ledger_.findings.pass(turns.between);
    for (size_t i = 0; i < turns.of.size(); ++i) {
      ledger_.findings.pass(1);
      if (found[i] != nullptr) reach(*found[i], turns.of[i], turns.of[i].addresses[piece], c);
    }
  }
  count_all();
}

bool Operations::find(Way& way, const machine::Access& a, Cluster& c) {
  const auto mma = c.mma_operations.empty() ? c.mma_operations.end() : c.mma_operations.find(a.operation);
  if (c.starting != nullptr && mma == c.mma_operations.end()) c.mma_operations[a.operation] = c.starting;
  Warpgroup* const group = mma != c.mma_operations.end() ? mma->second : c.starting;
  c.starting = nullptr;
  const uint64_t address = a.addresses[0];
  Shadow* const shadow = shadow_of(c, ledger_.global, address);
  if (shadow == nullptr) return false;
  const bool shared = shadow != &ledger_.global;
  const bool reads = a.kind == machine::AccessKind::read;
  Site& site = way.site = {a.ptx_line, Actor::wgmma, a.kind, a.order};
  if (a.kind == machine::AccessKind::update)  // a reduction, which is relaxed (PTX ISA 9.0, 9.7.9.25.4)
    site.order.semantics = machine::Semantics::relaxed, site.order.scope = machine::Scope::gpu;
  std::array<Viewer, machine::kLanes>& viewers = way.viewers;
  Reach& r = way.r = {viewers.data(), 1, false, &site, 0, 1, shared ? 0ul : 1ul, nullptr, nullptr};
  if (group != nullptr) {
    r.viewer_count = std::min<size_t>(group->running.size(), 4);
    for (size_t i = 0; i < r.viewer_count; ++i) {
      const Warpgroup::Issue& issue = group->running[i];
      viewers[i] = {issue.known.get(), issue.warp, 0, issue.until, &issue.ended};
    }
    r.record = ledger_.records.record(
        {group->unit, static_cast<uint32_t>(group->started) + 1, ledger_.records.site(site)});
    r.lanes = ~0u;
  } else {
    const auto found = c.operations.find(a.operation);
    if (found == c.operations.end()) return false;
    Operation& op = found->second;
    r.lanes = a.issuer >= 0 ? 1u << a.issuer : op.lanes;
    r.viewer_count = 0;
    for (uint32_t rest = r.lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
      viewers[r.viewer_count++] = {op.known[lane].get(), op.by, lane, op.until, &op.ended[lane]};
    }
    if (!reads) r.lanes = std::bit_floor(r.lanes);  // the last of them: what it did, the others have done
    r.record = record_of(op, site, address, reads, shared, r.lanes);
  }
  way.shadow = shadow;
  way.kind = a.kind;
  way.order = a.order;
  way.issuer = a.issuer;
  way.of_group = group != nullptr;
  way.alone = shared ? group != nullptr || !clusters_.several_ctas() : !launches_.overlaps();
  way.again = {};
  return true;
}

uint32_t Operations::record_of(Operation& op, Site& site, uint64_t address, bool reads, bool shared,
                               uint32_t& lanes) {
  Stream s{};
  switch (op.ending) {
    case machine::Ending::copy_group:
      site.actor = Actor::copy;
      s = Stream::copy;
      break;
    case machine::Ending::bulk_group:
      site.actor = Actor::bulk_copy;
      s = reads ? Stream::bulk_read : Stream::bulk_write;
      break;
    case machine::Ending::commit:
      site.actor = Actor::tcgen05;
      s = Stream::tcgen05;
      break;
    default: {
      site.actor = Actor::mbarrier_copy;
      lanes = 1;
      const uint32_t number = ledger_.records.site(site);
      const auto rank = static_cast<uint32_t>(
          shared && !reads ? (address - machine::kSharedWindow) >> machine::kRankShift : kAnyRank);
      for (const Operation::Part& p : op.unfinished)
        if (p.site == number && p.rank == rank) return p.record;
      op.unfinished.push_back({ledger_.records.unfinished(number), number, rank});
      return op.unfinished.back().record;
    }
  }
  return ledger_.records.record({ledger_.units.stream(*op.by, s), op.number, ledger_.records.site(site)});
}

}  // namespace bitwell::hazard
