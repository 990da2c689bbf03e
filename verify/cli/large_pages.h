// How the memory of the command line's process grows.
#pragma once

namespace bitwell::cli {

// To be called first. The C library's heap grows by large pages, of which a file of PTX with 10^5 lines needs
// a few hundred: as small ones they were 44,000, and a quarter of the time that it takes. Nothing happens
// where the host has none, or another C library.
void grow_by_large_pages();

}  // namespace bitwell::cli
