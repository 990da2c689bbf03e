// What one CTA has under way over the model's time: how many operations of each kind, and when each barrier's
// phases end, which is when stages are handed over.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/isa/form/program.h"
#include "model/machine/event.h"

namespace bitwell::cli {

class TimePicture {
 public:
  explicit TimePicture(const isa::Program& program);
  // Of the first CTA that is told of. `now`: microseconds, when one is told.
  machine::Observer observer(std::function<double()> now);
  // An SVG document.
  std::string document(const std::string& title) const;

 private:
  struct Change {
    double at;
    int by;
  };
  std::map<int, std::string> kinds_;  // by PTX line
  std::optional<std::array<uint32_t, 3>> cta_;
  std::map<std::string, std::vector<Change>> under_way_;  // by kind
  std::map<std::string, std::vector<double>> phases_;     // by barrier
  double begin_ = 0, end_ = 0;
  std::function<double()> now_;
};

}  // namespace bitwell::cli
