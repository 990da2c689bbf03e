// What a cluster says, apart from all others: its launch's is made of its clusters', in the order of their
// start.
#pragma once
#include <string>

#include "model/run/note.h"

namespace bitwell::run {

struct Journal {
  Notes notes;
  std::string printed;  // that is not passed on yet
};

}  // namespace bitwell::run
