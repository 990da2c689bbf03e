// CuTe's layout algebra at run time, as CUTLASS computes it for static layouts (compared with its headers in
// verify/test/layout). Every function throws LayoutError where CUTLASS would not compile: an indivisible
// composition, the complement of a layout that is not injective, ...
#pragma once
#include <optional>

#include "model/layout/layout.h"

namespace bitwell::layout {

// What divides or multiplies a layout: a layout, or one tiler a mode. `nothing` (CuTe's `_`) leaves a mode as
// it is.
struct Tiler {
  Tiler(Layout l) : layout(std::move(l)) {}                 // NOLINT(google-explicit-constructor)
  Tiler(std::vector<Tiler> all) : modes(std::move(all)) {}  // NOLINT(google-explicit-constructor)
  static Tiler nothing() { return Tiler(std::vector<Tiler>{}); }

  std::optional<Layout> layout;
  std::vector<Tiler> modes;
};

// The same function of integers in [0, size), flat, neighbouring modes merged, no extents of 1.
Layout coalesce(const Layout& l);
// Each mode that the profile's leaves name coalesced on its own; further modes stay.
Layout coalesce(const Layout& l, const Tuple& profile);
// Extents whose stride is 0 become 1; the nesting stays.
Layout filter_zeros(const Layout& l);
// Without strides of 0 and extents of 1; an equal set of offsets.
Layout filter(const Layout& l);

// composition(a, b)(c) == a(b(c)); shaped like b.
Layout composition(const Layout& a, const Layout& b);
// Mode by mode; modes of `a` beyond the tiler's are dropped.
Layout composition(const Layout& a, const Tiler& b);

// What `l` leaves out of [0, cotarget): joined with `l` it reaches every offset once. The cotarget may be a
// shape; default: cosize(l).
Layout complement(const Layout& l, const Tuple& cotarget);
Layout complement(const Layout& l);

// l(right_inverse(l)(i)) == i for all i < size(right_inverse(l)), the longest such.
Layout right_inverse(const Layout& l);
// left_inverse(l)(l(i)) == i for all i < size(l), if l is injective.
Layout left_inverse(const Layout& l);

// (tile, rest): the elements of `l` that the tiler picks, and the repetitions that cover the rest.
Layout logical_divide(const Layout& l, const Tiler& t);
Layout zipped_divide(const Layout& l, const Tiler& t);  // ((tiles), (rests))
Layout tiled_divide(const Layout& l, const Tiler& t);   // ((tiles), rest0, rest1, ...)
Layout flat_divide(const Layout& l, const Tiler& t);    // (tile0, tile1, ..., rest0, rest1, ...)

// (block, repetitions): `block` repeated as the tiler says, without overlap.
Layout logical_product(const Layout& block, const Tiler& t);
Layout zipped_product(const Layout& block, const Tiler& t);
Layout tiled_product(const Layout& block, const Tiler& t);
Layout flat_product(const Layout& block, const Tiler& t);
Layout blocked_product(const Layout& block, const Layout& t);  // mode i: (block's, tiler's)
Layout raked_product(const Layout& block, const Layout& t);    // mode i: (tiler's, block's)

// Compact over `shape`, in the order of the integers in `order` (congruent to the shape): the mode with the
// least one is fastest.
Layout ordered(const Tuple& shape, const Tuple& order);
// `block` repeated to the target shape, which its extents must divide; order as in ordered(), default: the
// first mode fastest.
Layout tile_to_shape(const Layout& block, const Tuple& target, const std::optional<Tuple>& order = {});

// The layout of n times larger (smaller) elements over the same storage.
Layout upcast(const Layout& l, int64_t n);
Layout downcast(const Layout& l, int64_t n);
// From elements of old_bits to elements of new_bits.
Layout recast(const Layout& l, int64_t old_bits, int64_t new_bits);

}  // namespace bitwell::layout
