// What a clock knows of an instruction, a warp, an operation under way and a cluster; for its own files.
#pragma once
#include <deque>
#include <unordered_map>
#include <vector>

#include "model/timing/clock.h"
#include "model/timing/op_kind.h"

namespace bitwell::timing {

struct Clock::Info {
  bool has_row = false;
  OpKind kind = OpKind::arithmetic;
  double latency = 0, interval = 0;  // of a quarter
  Source source = Source::guess;
  Pipe pipe = Pipe::alu;
  bool ends_block = false;
  bool cached = true;  // in L1
  std::vector<uint32_t> sources, results;
};

struct Clock::WarpTime {
  double clock = 0;    // when it can issue next
  double pending = 0;  // when the last of what it has issued began
  double stall = 0;    // the longest of this turn, and the load that it waited for
  int stall_line = 0;
  uint64_t seen_at = 0;
  bool fresh = true;
  Role role = Role::other;
  int32_t link = Path::kNone;
  size_t quarter = 0;
  uint32_t rank = 0;
  std::vector<double> ready;  // by row
  std::vector<int> loaded;    // the line of the load that writes the row, or 0
  std::deque<double> multiplies;

  void gives(uint32_t row, double at, int line) {
    if (ready.size() <= row) {
      ready.resize(row + 64);
      loaded.resize(row + 64);
    }
    ready[row] = at;
    loaded[row] = line;
  }
};

struct Clock::Operation {
  double at = -1;  // when its next step is done; -1: not known
  double issued = 0;
  int32_t issued_by = Path::kNone;
  Cause cause = Cause::copy;
  int line = 0;
  int steps = 0;
  Role role = Role::copies;
};

struct Clock::ClusterTime {
  const run::Cluster* cluster = nullptr;
  uint32_t group = 0;
  double began = 0;
  double last = 0;
  int32_t last_link = Path::kNone;
  uint64_t looks = 0;
  std::vector<WarpTime> warps;
  std::unordered_map<uint64_t, Operation> operations;
};

}  // namespace bitwell::timing
