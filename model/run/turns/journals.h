// Journals of clusters, put together in the order of their start, in whatever order they end.
#pragma once
#include <cstdint>
#include <map>

#include "model/run/cta.h"
#include "model/run/journal.h"

namespace bitwell::run {

class Journals {
 public:
  // Of a cluster of the grid that has ended, the one with that number; each from 0 on ends once. What all up
  // to it have noted and printed becomes the launch's.
  void add(uint32_t number, Grid& grid, Journal journal);
  // Those before that number have ended, elsewhere.
  void begin_behind(uint32_t number) { first_ = number; }
  // Those of clusters that have ended, while one that started before them goes on, by number.
  struct Kept {
    Grid* grid;
    uint32_t end;  // the number behind the last that is in it
    Journal journal;
  };
  const std::map<uint32_t, Kept>& kept() const { return kept_; }

 private:
  void join(std::map<uint32_t, Kept>::iterator at);
  uint32_t first_ = 0;  // that has not ended
  std::map<uint32_t, Kept> kept_;
};

}  // namespace bitwell::run
