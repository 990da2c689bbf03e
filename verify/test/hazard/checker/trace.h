// A run as the race check is told of it, act by act, and what it finds, word for word: what kernels come to
// only under some schedule, each in every scope, CTA, warp and lane.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/hazard/checker.h"

namespace bitwell::hazard {

using machine::AccessKind;
using machine::Order;
using machine::Proxy;
using machine::Scope;
using machine::Semantics;
using Sync = machine::Synchronisation::Kind;
using Triple = std::array<uint32_t, 3>;

inline constexpr uint32_t kAll = ~0u;

// Lanes of a warp.
struct Who {
  Triple cta{};
  int warp = 0;
  uint32_t lanes = 1;  // one bit each
};

inline uint64_t shared(uint32_t rank, uint64_t offset) {
  return machine::kSharedWindow + (uint64_t{rank} << machine::kRankShift) + offset;
}
inline uint64_t global(uint64_t offset) { return machine::kBuffers + offset; }

// As a run tells it: rows without an event, where that is enough.
inline void tell_as_rows(Checker& checker, const machine::Event& event) {
  const auto* const a = std::get_if<machine::Access>(&event.what);
  if (a != nullptr && a->operation == 0 && a->met == 0 && !a->mbarrier && a->rows == 0 &&
      a->kind != machine::AccessKind::update && std::has_single_bit(a->bytes) && in_row(*a) &&
      checker.tell(
          {a->kind, a->order, a->cta, a->warp, a->ptx_line, a->addresses[0], a->bytes, a->unchanged}))
    return;
  checker.tell(event);
}

class Trace {
 public:
  explicit Trace(Triple grid = {1, 1, 1}, Triple cluster = {1, 1, 1}, bool once = false)
      : checker(grid, cluster, once), cluster_(cluster), observer_(checker.observer()) {}

  // Each of the lanes reaches as many bytes at the address, `apart` bytes further for each lane.
  void access(int line, const Who& who, AccessKind kind, uint64_t address, Order order = {},
              uint64_t bytes = 4, uint64_t apart = 0) {
    std::array<uint64_t, machine::kLanes> addresses{};
    for (uint32_t i = 0; i < machine::kLanes; ++i) addresses[i] = address + apart * i;
    access(line, who, kind, addresses, order, bytes);
  }
  void access(int line, const Who& who, AccessKind kind,
              const std::array<uint64_t, machine::kLanes>& addresses, Order order = {}, uint64_t bytes = 4) {
    machine::Access a{kind, order, who.cta, who.warp, who.lanes, 0, ++time_, line, addresses, bytes};
    tell(who, a);
  }
  void read(int line, const Who& who, uint64_t address, Order order = {}) {
    access(line, who, AccessKind::read, address, order);
  }
  void write(int line, const Who& who, uint64_t address, Order order = {}) {
    access(line, who, AccessKind::write, address, order);
  }
  // Lanes store at one place, all but `changing` what stands there already.
  void stores_again(int line, const Who& who, uint64_t address, Order order = {}, uint32_t changing = 0) {
    std::array<uint64_t, machine::kLanes> addresses{};
    addresses.fill(address);
    machine::Access a{AccessKind::write, order, who.cta, who.warp, who.lanes, 0, ++time_, line, addresses, 4};
    a.unchanged = who.lanes & ~changing;
    tell(who, a);
  }
  // By an operation under way, as lane `issuer` of its warp has issued it; -1: all of its lanes.
  void operation(int line, const Who& who, uint64_t number, AccessKind kind, uint64_t address, uint64_t bytes,
                 Proxy proxy, int issuer = -1) {
    const std::array<uint64_t, 1> addresses{address};
    machine::Access a{
        kind, {Semantics::weak, Scope::cta, proxy}, who.cta, who.warp, 0, number, ++time_, line, addresses,
        bytes};
    a.issuer = issuer;
    tell(who, a);
  }
  // Cells of tensor memory, 32 lanes of a warp's or all 128: by tcgen05.ld or st (number 0), or an operation.
  void cells(int line, const Who& who, uint64_t number, AccessKind kind, uint64_t column, uint64_t columns,
             uint32_t lane = 0, uint32_t rows = machine::kTensorLanes) {
    std::array<uint64_t, machine::kLanes> addresses{};
    addresses.fill(uint64_t{lane} << 16 | column);
    machine::Access a{kind,   {},      who.cta, who.warp,  number == 0 ? who.lanes : 0,
                      number, ++time_, line,    addresses, 4 * columns};
    a.rows = rows;
    tell(who, a);
  }
  void issues(int line, const Who& who, uint64_t number, const machine::TensorOrder& order) {
    auto s = sync(line, who, Sync::issued, number);
    s.ending = machine::Ending::commit;
    s.tensor = order;
    add(who, s);
  }
  // On an mbarrier: by lanes one after the other, or by an operation that completes there.
  void mbarrier(int line, const Who& who, AccessKind kind, uint64_t address, Order order = {}) {
    std::array<uint64_t, machine::kLanes> addresses{};
    addresses.fill(address);
    for (uint32_t rest = who.lanes; rest != 0; rest &= rest - 1) {
      machine::Access a{kind, order, who.cta, who.warp, rest & -rest, 0, ++time_, line, addresses, 8};
      a.mbarrier = true;
      tell(who, a);
    }
  }
  void completes(int line, const Who& who, uint64_t number, uint64_t address, int issuer = -1,
                 Scope scope = Scope::cta) {
    const std::array<uint64_t, 1> addresses{address};
    machine::Access a{AccessKind::update,
                      {Semantics::relaxed, scope, Proxy::async},
                      who.cta,
                      who.warp,
                      0,
                      number,
                      ++time_,
                      line,
                      addresses,
                      8};
    a.mbarrier = true;
    a.issuer = issuer;
    tell(who, a);
  }
  machine::Synchronisation sync(int line, const Who& who, Sync kind, uint64_t which = 0,
                                Order order = {}) const {
    return {kind, order, who.cta, who.warp, who.lanes, which, time_, line};
  }
  void add(const Who& who, machine::Synchronisation s) {
    s.time = ++time_;
    tell(who, s);
  }
  void meets(int line, const Who& who, Sync kind, uint64_t which = 0, Order order = {}) {
    add(who, sync(line, who, kind, which, order));
  }
  void issues(int line, const Who& who, uint64_t number, machine::Ending ending) {
    auto s = sync(line, who, Sync::issued, number);
    s.ending = ending;
    add(who, s);
  }
  // All of these come to a barrier of their CTA, and go on when all are there.
  // `at_once`: that these whole warps go on is told together.
  void bar(int line, const std::vector<Who>& all, uint64_t number = 0, uint32_t amount = 0,
           bool at_once = false) {
    for (const Who& who : all) {
      auto s = sync(line, who, Sync::cta_arrived, number);
      s.amount = amount;
      add(who, s);
    }
    if (at_once) {
      auto s = sync(line, all.front(), Sync::cta_passed, number);
      for (const Who& who : all) s.amount |= 1u << who.warp;
      add(all.front(), s);
    } else {
      for (const Who& who : all) meets(line, who, Sync::cta_passed, number);
    }
    meets(line, {all.front().cta, all.front().warp, 0}, Sync::cta_over, number);
  }
  // The same of their cluster, for the so-manieth time.
  void cluster_bar(int line, const std::vector<Who>& all, uint64_t phase,
                   Semantics arrive = Semantics::release) {
    for (const Who& who : all) meets(line, who, Sync::cluster_arrived, phase, {arrive, Scope::cluster});
    for (const Who& who : all)
      meets(line, who, Sync::cluster_passed, phase, {Semantics::acquire, Scope::cluster});
  }

  // "race 1 (0,0,0) w0 l3 | 2 (1,0,0) w2 l5 | shared 0 +8, 4": the kind, line, CTA, warp and lane of both,
  // and where; behind it the side that lacks something, and how often it was found if more than once.
  std::vector<std::string> found() const {
    std::vector<std::string> out;
    for (const Finding& f : checker.findings()) {
      std::string s = std::string(row_of(f.kind).name) + " " + words(f.earlier) + " | " + words(f.later) +
                      " | " + (f.where.empty() ? where(f) : f.where);
      if (f.side != Side::either) s += f.side == Side::earlier ? ", earlier" : ", later";
      if (f.count != 1) s += ", x" + std::to_string(f.count);
      out.push_back(s);
    }
    return out;
  }
  // Of each finding the kind and both lines: "race 1 2".
  std::vector<std::string> kinds() const {
    std::vector<std::string> out;
    for (const Finding& f : checker.findings())
      out.push_back(std::string(row_of(f.kind).name) + " " + std::to_string(f.earlier.site.ptx_line) + " " +
                    std::to_string(f.later.site.ptx_line));
    return out;
  }
  // Of each finding "race 1 2: 5": kind, lines, and how many pairs are kept; behind it
  // " 7@4096 l3|l5" for each that is kept: which access, where, and by which lanes.
  std::vector<std::string> kept() const {
    std::vector<std::string> out = kinds();
    for (size_t i = 0; i < out.size(); ++i) {
      const Finding& f = checker.findings()[i];
      out[i] += ": " + std::to_string(f.met.size());
      for (size_t n = 0; n < f.met.size(); ++n)
        out[i] += " " + std::to_string(f.met[n].access) + "@" + std::to_string(f.met[n].address) + " l" +
                  std::to_string(f.met[n].earlier.lane) + "|l" + std::to_string(f.met[n].later.lane);
    }
    return out;
  }

  void tell(const Who& who, const decltype(machine::Event::what)& what) {
    Triple first{};
    for (size_t i = 0; i < 3; ++i) first[i] = who.cta[i] / cluster_[i] * cluster_[i];
    observer_.tell({first, what});
    if (also) also({first, what});
  }

  Checker checker;
  std::function<void(const machine::Event&)> also;  // is told of each event too

 private:
  static std::string words(const Party& p) {
    return std::to_string(p.site.ptx_line) + " (" + std::to_string(p.cta[0]) + "," +
           std::to_string(p.cta[1]) + "," + std::to_string(p.cta[2]) + ") w" + std::to_string(p.warp) + " l" +
           (p.lane < 0 ? "-" : std::to_string(p.lane));
  }
  static std::string where(const Finding& f) {
    const std::string bytes = ", " + std::to_string(f.bytes);
    if (f.address >= machine::kBuffers)
      return "global +" + std::to_string(f.address - machine::kBuffers) + bytes;
    if (const uint64_t t = f.address - machine::kTensorWindow; f.address >= machine::kTensorWindow)
      return "tensor " + std::to_string(t >> 32) + " l" + std::to_string(t >> 16 & 0xFFFF) + " c" +
             std::to_string(t & 0xFFFF) + bytes;
    const uint64_t a = f.address - machine::kSharedWindow;
    return "shared " + std::to_string(a >> machine::kRankShift) + " +" +
           std::to_string(a & ((uint64_t{1} << machine::kRankShift) - 1)) + bytes;
  }

  Triple cluster_;
  machine::Observer observer_;
  uint64_t time_ = 0;
};

using Lines = std::vector<std::string>;

}  // namespace bitwell::hazard
