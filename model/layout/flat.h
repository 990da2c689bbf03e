// Layouts as flat lists of modes: what the algebra works on inside.
#pragma once
#include "model/layout/layout.h"

namespace bitwell::layout {

struct Mode {
  int64_t extent;
  int64_t stride;
};
using Flat = std::vector<Mode>;

Flat flat(const Layout& l);
// No modes: 1:0; one: an integer shape.
Layout unflat(const Flat& modes);
// Neighbours that continue each other merged, extents of 1 dropped.
Flat merged(const Flat& modes);

}  // namespace bitwell::layout
