// What ends a command before it has taken all of the machine's memory.
#pragma once
#include <string>

#include "verify/launch/memory_watch.h"

namespace bitwell::cli {

// While it lives: where `what` ("the launch") touches what the machine has left, the process ends in one
// line, before the machine does. It has a thread: to be made behind the last fork.
launch::MemoryWatch stopped_before_the_machine(const std::string& what);

}  // namespace bitwell::cli
