// Work in processes of its own, one after the other: what a kernel breaks on a GPU, its context above all,
// ends with the process, and the rest goes on in another.
#pragma once
#include <functional>
#include <optional>
#include <string>

namespace bitwell::device {

struct Answer {
  std::string text;
  bool go_on = true;  // the process is fit for the next piece
};

// work(i) for every i below `count`, in order, in child processes; a new one where the last is unfit or has
// died. done(i, text) follows in this process, without a text where the process died in the piece. The caller
// has one thread and no GPU of its own. Throws std::system_error where no process can be had.
void each_in_children(size_t count, const std::function<Answer(size_t)>& work,
                      const std::function<void(size_t, const std::optional<std::string>&)>& done);

}  // namespace bitwell::device
