// The processes of one MPI run, where bitwell was built with MPI and started by mpirun; else one process.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

namespace bitwell::study {

class Spread {
 public:
  Spread() = default;              // one process
  explicit Spread(bool launched);  // those of the launcher that started this process, if one did
  ~Spread();                       // ends MPI where it was started
  Spread(const Spread&) = delete;
  Spread& operator=(const Spread&) = delete;

  size_t rank() const { return rank_; }
  size_t size() const { return size_; }
  // The first process's value for all.
  size_t agree(size_t value) const;
  // To the first process; any thread, one at a time.
  void send(size_t piece, const std::string& text) const;
  // That this process sends no more, and what stopped it if something did.
  void finish(const std::string& failure = "") const;
  // In the first process: what the others send, until all have finished. Then throws std::runtime_error with
  // the process and its failure, if one had one.
  void receive(const std::function<void(size_t piece, const std::string& text)>& take) const;

 private:
  size_t rank_ = 0;
  size_t size_ = 1;
};

}  // namespace bitwell::study
