// Asynchronous copies: cp.async, cp.async.bulk, tensor copies, st.async (PTX ISA 9.0, 9.7.9.25 to 9.7.9.27).
#include <algorithm>

#include "model/isa/family/emit.h"
#include "model/isa/family/operands.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

// A tensor map and coordinates, [map, {c0, ...}].
AddressOperand tensor(const ptx::Operand& o, Operands& operands, Transfer& t) {
  if (o.kind != ptx::OperandKind::memory || o.elements.size() != 2 ||
      o.elements[1].kind != ptx::OperandKind::vector)
    throw Invalid("a tensor map and its coordinates, [map, {...}], are needed");
  if (o.elements[1].elements.size() != (t.rows != 0 ? 1 + t.rows : t.rank))
    throw Invalid(std::to_string(o.elements[1].elements.size()) + " coordinates for " +
                  (t.rows != 0 ? "a column and " + std::to_string(t.rows) + " rows"
                               : "a tensor of " + std::to_string(t.rank) + " dimensions"));
  ptx::Operand map = o;
  map.elements.resize(1);
  AddressOperand out = operands.address(map, Space::generic);
  operands.uses().touch_there({.reads = true, .operation = true, .bytes = 128});
  for (const ptx::Operand& c : o.elements[1].elements) {
    const size_t at = operands.value(c, ".s32", Use::Take::address);
    if (&c == &o.elements[1].elements.front()) t.coordinates = at;
  }
  return out;
}

// cp.async.bulk, cp.reduce.async.bulk and their .tensor and .prefetch forms.
void bulk(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  Op op = effect(bulk_copy);
  Transfer* t = &b.payload<Transfer>(op);
  t->order.proxy = Proxy::async;
  Operands operands(b, op);
  const bool is_tensor = ptx::has(i, ".tensor");
  t->prefetch = ptx::has(i, ".prefetch");
  t->pair = ptx::has(i, ".cta_group::2");
  if (is_tensor)
    for (const std::string& modifier : i.modifiers)
      if (modifier.size() == 3 && modifier[2] == 'd') t->rank = static_cast<uint32_t>(modifier[1] - '0');
  if (ptx::has(i, ".tile::gather4") || ptx::has(i, ".tile::scatter4")) t->rows = 4;
  // The first state space is the destination's.
  const auto spaces = [&] {
    std::vector<std::string> out;
    for (const std::string& modifier : i.modifiers)
      if (modifier == ".global" || modifier.starts_with(".shared")) out.push_back(modifier);
    return out;
  }();
  t->to_shared = !t->prefetch && spaces[0] != ".global";
  t->from_shared = !t->prefetch && spaces[1] != ".global";
  const Space own = Space::shared;
  const Space destination = spaces[0] == ".shared::cluster" ? Space::cluster : own;
  size_t next = 0;
  const bool reduces = i.modifiers[0] == ".reduce";
  const Touch read{.reads = true, .operation = true},
      write{.reads = reduces, .writes = true, .operation = true};
  const auto at = [](Touch touch, Space space) {
    touch.space = space;
    return touch;
  };
  const auto global = [&](AddressOperand& where, const Touch& touch) {
    where =
        is_tensor ? tensor(b.operand(next), operands, *t) : operands.address(b.operand(next), Space::global);
    ++next;
    if (t->prefetch)
      b.uses().touch_nothing();
    else if (is_tensor)  // where the map says
      b.uses().touch(at(touch, Space::global));
    else
      b.uses().touch_there(at(touch, Space::global));
  };
  if (t->to_shared) {
    t->to = operands.address(b.operand(next++), destination);
    b.uses().touch_there(at(write, destination));
  } else if (!t->prefetch) {
    global(t->to, write);
  }
  if (t->from_shared) {
    t->from = operands.address(b.operand(next++), own);
    b.uses().touch_there(at(read, own));
  } else {
    global(t->from, read);
  }
  if (!is_tensor) {
    need_range(b.operand(next), 0, (1 << 20) - 16, 16, "the size of a bulk copy");
    t->size = operands.value(b.operand(next++), ".u32");
  }
  if (t->to_shared) {
    t->barrier = operands.address(b.operand(next++), destination);
    b.uses().touch_there(barrier_touch(destination, true));
  }
  t->im2col = ptx::has(i, ".im2col") || ptx::has(i, ".im2col_no_offs");
  if (ptx::has(i, ".im2col")) {
    const ptx::Operand& offsets = b.operand(next++);
    if (t->rank < 3 || offsets.kind != ptx::OperandKind::vector || offsets.elements.size() != t->rank - 2)
      throw Invalid("'" + m.name +
                    "' needs a vector of offsets, as many as the tensor has dimensions but two");
    for (const ptx::Operand& e : offsets.elements) {
      const size_t offset = operands.value(e, ".u16", Use::Take::address);
      if (!t->offsets) t->offsets = offset;
    }
  }
  if (ptx::has(i, ".multicast::cluster"))
    t->mask = operands.value(b.operand(next++), ".u16", Use::Take::address);
  if (ptx::has(i, ".L2::cache_hint")) operands.value(b.operand(next++), ".u64", Use::Take::hint);
  operands_left(b, m, next);
  if (reduces) {
    t->reduce = operation_of(i);
    if (!is_tensor) t->element = element_of(i.modifiers.back());
  }
  b.emit(op);
}

// cp.async [d], [s], size[, source size | p][, policy]
void async(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  Op op = effect(async_copy);
  SmallTransfer* t = &b.payload<SmallTransfer>(op);
  Operands operands(b, op);
  const auto bytes = static_cast<uint32_t>(b.operand(2).integer);
  t->to = operands.address(b.operand(0), Space::shared);
  b.uses().touch_there({.space = Space::shared, .writes = true, .operation = true, .bytes = bytes});
  t->from = operands.address(b.operand(1), Space::global);
  b.uses().touch_there({.space = Space::global, .reads = true, .operation = true, .bytes = bytes});
  const uint64_t size = b.constant(b.operand(2));
  const bool whole = ptx::has(i, ".cg");
  if ((whole && size != 16) || (size != 4 && size != 8 && size != 16))
    throw Invalid("cp.async of " + std::to_string(size) + " bytes, it must be " +
                  (whole ? "16" : "4, 8 or 16"));
  t->bytes = static_cast<uint32_t>(size);
  size_t next = 3;
  const bool hinted = ptx::has(i, ".L2::cache_hint");
  if (b.operand_count() > next + (hinted ? 1 : 0)) {
    const ptx::Operand& o = b.operand(next++);
    if (o.kind == ptx::OperandKind::name && b.is_predicate(o.name)) {
      bool negated = false;
      t->mask = operands.add(b.predicate(o, false, negated).row);
      if (negated) throw machine::Unsupported("'" + m.name + "' with a negated predicate");
      t->ignores = true;
    } else {
      need_range(o, 0, size, 1, "cp.async's source size");
      t->mask = operands.value(o, ".u32");
    }
  }
  if (hinted) operands.value(b.operand(next++), ".u64", Use::Take::hint);
  operands_left(b, m, next);
  b.emit(op);
}

void commit(Builder& b, const Match&) {
  Op op = effect_without_memory(b, copy_commit);
  b.payload<CopyGroups>(op).bulk = ptx::has(b.instruction(), ".bulk");
  b.emit(op);
}

void wait(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  Op op = effect_without_memory(b, copy_wait);
  auto& groups = b.payload<CopyGroups>(op);
  groups.bulk = ptx::has(i, ".bulk");
  groups.read_only = ptx::has(i, ".read");
  groups.every = ptx::has(i, ".wait_all");
  operands_left(b, m, groups.every ? 0 : 1);
  if (!groups.every) groups.pending = b.constant(b.operand(0));
  b.emit(op);
}

void arrive(Builder& b, const Match& m) {
  operands_left(b, m, 1);
  Op op = effect(copy_arrive);
  auto& use = b.payload<CopyArrive>(op);
  use.increments = !ptx::has(b.instruction(), ".noinc");
  use.order = {Semantics::release, Scope::cta};
  set_address(b, op, use, b.operand(0), space_of(b.instruction()));
  b.uses().touch_there(barrier_touch(use.space, true));
  b.emit(op);
}

// st.async [a], b, [mbarrier]; red.async [a], b, [mbarrier]
void remote(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  operands_left(b, m, 3);
  Op op = effect(remote_store);
  SmallTransfer* t = &b.payload<SmallTransfer>(op);
  if (i.opcode == "red") t->order = order_of(i, {Semantics::relaxed, Scope::cluster});
  Operands operands(b, op);
  const Type& type = b.type(i.modifiers.back());
  t->bytes = static_cast<uint32_t>(type.bits / 8);
  t->to = operands.address(b.operand(0), Space::cluster);
  b.uses().touch_there(
      {.space = Space::cluster, .reads = i.opcode == "red", .writes = true, .operation = true});
  t->barrier = operands.address(b.operand(2), Space::cluster);
  b.uses().touch_there(barrier_touch(Space::cluster, true));
  const ptx::Operand& v = b.operand(1);
  const size_t count = ptx::has(i, ".v2") ? 2 : ptx::has(i, ".v4") ? 4 : 1;
  const bool vector = v.kind == ptx::OperandKind::vector;
  if (vector ? v.elements.size() != count : count > 1)
    throw Invalid("'" + m.name + "' needs a source of " + std::to_string(count) + " registers");
  for (size_t n = 0; n < count; ++n) operands.value(vector ? v.elements[n] : v, type.name.data());
  t->count = static_cast<uint32_t>(count);
  if (count * t->bytes > 16) throw Invalid("a vector of " + std::to_string(count * t->bytes) + " bytes");
  if (i.opcode == "red") {
    t->reduce = operation_of(i);
    t->element = element_of(i.modifiers.back());
  }
  b.emit(op);
}

void policy(Builder& b, const Match&) {
  // A cache policy is a hint that nothing here can show: any value will do.
  Op op = lane_op("mov.b64");
  op.d = b.destination(b.operand(0), b.type(".b64")).row;
  op.a = b.constant_row(64, 0);
  if (b.operand_count() > 1) {  // the fraction
    b.source(b.operand(1), b.type(".f32"));
    b.uses().as(Use::Take::hint);
  }
  if (b.operand_count() > 2) throw Invalid("too many operands");
  b.emit(op);
}

#define HINT "[.L2::cache_hint]"
#define PAIR "{.cta_group::1,.cta_group::2}"
#define DIMENSIONS "{.1d,.2d,.3d,.4d,.5d}"
#define BYTES ".mbarrier::complete_tx::bytes"
constexpr Form kAsync[] = {
    {"cp.async|{.ca,.cg}{.shared,.shared::cta}.global" HINT "[.L2::64B,.L2::128B,.L2::256B]", "*", async, 70,
     80},
    {"cp.async.commit_group|", "", commit, 70, 80},
    {"cp.async.wait_group|", "*", wait, 70, 80},
    {"cp.async.wait_all|", "*", wait, 70, 80},
    {"cp.async.mbarrier.arrive|[.noinc][.shared,.shared::cta].b64", "*", arrive, 70, 80},
    {"cp.async.bulk|.shared::cluster.global" BYTES "[.multicast::cluster]" HINT, "*", bulk, 80, 90},
    {"cp.async.bulk|.shared::cta.global" BYTES HINT, "*", bulk, 86, 90},
    {"cp.async.bulk|.shared::cluster.shared::cta" BYTES, "*", bulk, 80, 90},
    {"cp.async.bulk|.global.shared::cta.bulk_group" HINT, "*", bulk, 80, 90},
    {"cp.async.bulk.prefetch|.L2.global" HINT, "*", bulk, 80, 90},
    {"cp.async.bulk.tensor|" DIMENSIONS ".shared::cluster.global[.tile]" BYTES "[.multicast::cluster]" HINT,
     "*", bulk, 80, 90},
    {"cp.async.bulk.tensor|" DIMENSIONS ".shared::cta.global[.tile]" BYTES HINT, "*", bulk, 86, 90},
    {"cp.async.bulk.tensor|" DIMENSIONS PAIR ".shared::cluster.global[.tile]" BYTES
     "[.multicast::cluster]" HINT,
     "*", bulk, 86, &Features::pair_copies},
    {"cp.async.bulk.tensor|" DIMENSIONS PAIR ".shared::cta.global[.tile]" BYTES HINT, "*", bulk, 86,
     &Features::pair_copies},
    {"cp.async.bulk.tensor|{.3d,.4d,.5d}.shared::cluster.global.im2col" BYTES "[.multicast::cluster]" HINT,
     "*", bulk, 80, 90},
    {"cp.async.bulk.tensor|{.3d,.4d,.5d}.shared::cta.global.im2col" BYTES HINT, "*", bulk, 86, 90},
    {"cp.async.bulk.tensor|{.3d,.4d,.5d}" PAIR ".shared::cluster.global.im2col" BYTES
     "[.multicast::cluster]" HINT,
     "*", bulk, 86, &Features::pair_copies},
    {"cp.async.bulk.prefetch.tensor|{.3d,.4d,.5d}.L2.global.im2col" HINT, "*", bulk, 80, 90},
    {"cp.async.bulk.tensor|" DIMENSIONS ".global.shared::cta[.tile].bulk_group" HINT, "*", bulk, 80, 90},
    {"cp.async.bulk.tensor|{.3d,.4d,.5d}.global.shared::cta.im2col_no_offs.bulk_group" HINT, "*", bulk, 80,
     90},
    {"cp.async.bulk.prefetch.tensor|" DIMENSIONS ".L2.global[.tile]" HINT, "*", bulk, 80, 90},
    {"cp.async.bulk.tensor|.2d.shared::cluster.global.tile::gather4" BYTES "[.multicast::cluster]" HINT, "*",
     bulk, 86, &Features::pair_copies},
    {"cp.async.bulk.tensor|.2d.shared::cta.global.tile::gather4" BYTES HINT, "*", bulk, 86, 100},
    {"cp.async.bulk.tensor|.2d" PAIR ".shared::cluster.global.tile::gather4" BYTES
     "[.multicast::cluster]" HINT,
     "*", bulk, 86, &Features::pair_copies},
    {"cp.async.bulk.tensor|.2d" PAIR ".shared::cta.global.tile::gather4" BYTES HINT, "*", bulk, 86,
     &Features::pair_copies},
    {"cp.async.bulk.tensor|.2d.global.shared::cta.tile::scatter4.bulk_group" HINT, "*", bulk, 86,
     &Features::pair_copies},
    {"cp.async.bulk.prefetch.tensor|.2d.L2.global.tile::gather4" HINT, "*", bulk, 86, &Features::pair_copies},
    {"cp.async.bulk.commit_group|", "", commit, 80, 90},
    {"cp.async.bulk.wait_group[.read]|", "*", wait, 80, 90},
    {"cp.reduce.async.bulk|.shared::cluster.shared::cta" BYTES "{.and,.or,.xor}.b32", "*", bulk, 80, 90},
    {"cp.reduce.async.bulk|.shared::cluster.shared::cta" BYTES ".add{.u32,.s32,.u64}", "*", bulk, 80, 90},
    {"cp.reduce.async.bulk|.shared::cluster.shared::cta" BYTES "{.inc,.dec}.u32", "*", bulk, 80, 90},
    {"cp.reduce.async.bulk|.shared::cluster.shared::cta" BYTES "{.min,.max}{.u32,.s32}", "*", bulk, 80, 90},
    {"cp.reduce.async.bulk|.global.shared::cta.bulk_group" HINT "{.and,.or,.xor}{.b32,.b64}", "*", bulk, 80,
     90},
    {"cp.reduce.async.bulk|.global.shared::cta.bulk_group" HINT ".add{.u32,.s32,.u64,.f32,.f64}", "*", bulk,
     80, 90},
    {"cp.reduce.async.bulk|.global.shared::cta.bulk_group" HINT ".add.noftz{.f16,.bf16}", "*", bulk, 80, 90},
    {"cp.reduce.async.bulk|.global.shared::cta.bulk_group" HINT "{.inc,.dec}.u32", "*", bulk, 80, 90},
    {"cp.reduce.async.bulk|.global.shared::cta.bulk_group" HINT "{.min,.max}{.u32,.s32,.u64,.s64,.f16,.bf16}",
     "*", bulk, 80, 90},
    {"cp.reduce.async.bulk.tensor|" DIMENSIONS
     ".global.shared::cta{.add,.min,.max,.inc,.dec,.and,.or,.xor}[.tile].bulk_group" HINT,
     "*", bulk, 80, 90},
    {"cp.reduce.async.bulk.tensor|{.3d,.4d,.5d}"
     ".global.shared::cta{.add,.min,.max,.inc,.dec,.and,.or,.xor}.im2col_no_offs.bulk_group" HINT,
     "*", bulk, 80, 90},
    {"st.async|[.weak][.shared::cluster]" BYTES "[.v2,.v4]{.b32,.u32,.s32,.f32,.b64,.u64,.s64,.f64}", "*",
     remote, 81, 90},
    {"red.async|.relaxed.cluster[.shared::cluster]" BYTES "{.and,.or,.xor}.b32", "*", remote, 81, 90},
    {"red.async|.relaxed.cluster[.shared::cluster]" BYTES ".add{.u32,.s32,.u64}", "*", remote, 81, 90},
    {"red.async|.relaxed.cluster[.shared::cluster]" BYTES "{.inc,.dec}.u32", "*", remote, 81, 90},
    {"red.async|.relaxed.cluster[.shared::cluster]" BYTES "{.min,.max}{.u32,.s32}", "*", remote, 81, 90},
    {"createpolicy.fractional|{.L2::evict_last,.L2::evict_normal,.L2::evict_first,.L2::evict_unchanged}"
     "[.L2::evict_first,.L2::evict_unchanged].b64",
     "*", policy, 74, 80},
};
#undef HINT
#undef PAIR
#undef DIMENSIONS
#undef BYTES

}  // namespace

std::span<const Form> copy_forms() { return kAsync; }

}  // namespace bitwell::isa
