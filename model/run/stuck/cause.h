// Which mistakes a wait that nobody ends looks like.
#pragma once
#include <string>
#include <vector>

#include "model/run/cluster.h"
#include "model/run/wait.h"

namespace bitwell::run {

// Whether it waits for an mbarrier, asleep or in a loop around test_wait.
bool at_mbarrier(const machine::Split& s);

// From what proves most to what proves least: waits of later kinds are often only the consequence of an
// earlier one.
enum class Mistake : uint8_t {
  divergent_barrier,    // an aligned barrier that some threads of a warp reach, and others never
  surplus_bytes,        // more bytes came than were expected
  parity_not_flipped,   // a warp waits for the parity that it waited for last
  lapped_phase,         // a barrier ended phases that a warp did not wait for
  wrong_initial_phase,  // a first wait at a new barrier, while others wait where the waiter has arrived
  missing_bytes,        // every arrival came, and bytes that were expected never do
  count_mismatch,       // the first phase needs more arrivals than ever came
  exited_peer,          // threads ended, and nobody is left who could arrive
  mutual_wait,          // first waits at new barriers where nobody ever arrived
  under_arrival         // arrivals that never come
};
struct Cause {
  Mistake mistake;
  std::string text;  // "under-arrival: 16 of 32 arrivals never come"
};

// What fits a waiter, the likeliest first; nothing where its wait says nothing about a mistake of its own.
std::vector<Cause> causes(Cluster& cluster, const std::vector<Waiter>& waiters, const Waiter& waiter);

// "PTX line 12 (gemm.cu:30)", and the part in brackets behind `before`, or nothing where it is not known: the
// place in the kernel's own files.
std::string line_words(const Grid& grid, int ptx_line);
std::string own_words(const Grid& grid, int ptx_line, const std::string& before);

std::string plural(uint64_t n, const char* what);

}  // namespace bitwell::run
