#include "experiments/study/spread.h"

#include <cstdlib>
#include <stdexcept>

#ifdef BITWELL_MPI
#include <mpi.h>
#endif

namespace bitwell::study {

#ifdef BITWELL_MPI
namespace {

constexpr int kPiece = 1;  // tags
constexpr int kFinish = 2;

void check(int status, const char* what) {
  if (status != MPI_SUCCESS) throw std::runtime_error(std::string("MPI: ") + what);
}

}  // namespace

Spread::Spread(bool launched) {
  if (!launched) return;
  // Of Open MPI, and of launchers that speak PMI or PMIx.
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && std::getenv("PMI_SIZE") == nullptr &&
      std::getenv("PMIX_RANK") == nullptr)
    return;
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "starting");
  if (provided < MPI_THREAD_SERIALIZED)
    throw std::runtime_error("MPI: this one takes calls of one thread alone");
  int rank = 0;
  int size = 1;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size), "size");
  rank_ = static_cast<size_t>(rank);
  size_ = static_cast<size_t>(size);
  if (size_ == 1) MPI_Finalize();
}
Spread::~Spread() {
  if (size_ > 1) MPI_Finalize();
}

size_t Spread::agree(size_t value) const {
  if (size_ == 1) return value;
  unsigned long long all = value;
  check(MPI_Bcast(&all, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD), "agreeing");
  return all;
}

void Spread::send(size_t piece, const std::string& text) const {
  const std::string whole = std::to_string(piece) + "\n" + text;
  check(MPI_Send(whole.data(), static_cast<int>(whole.size()), MPI_CHAR, 0, kPiece, MPI_COMM_WORLD),
        "sending");
}
void Spread::finish(const std::string& failure) const {
  check(MPI_Send(failure.data(), static_cast<int>(failure.size()), MPI_CHAR, 0, kFinish, MPI_COMM_WORLD),
        "sending");
}

void Spread::receive(const std::function<void(size_t, const std::string&)>& take) const {
  std::string failure;
  for (size_t running = size_ - 1; running > 0;) {
    MPI_Status status;
    check(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status), "waiting");
    int bytes = 0;
    check(MPI_Get_count(&status, MPI_CHAR, &bytes), "receiving");
    std::string whole(static_cast<size_t>(bytes), '\0');
    check(MPI_Recv(whole.data(), bytes, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE),
          "receiving");
    if (status.MPI_TAG == kFinish) {
      --running;
      if (!whole.empty()) failure = "process " + std::to_string(status.MPI_SOURCE) + ": " + whole;
      continue;
    }
    const size_t end = whole.find('\n');
    take(std::stoull(whole.substr(0, end)), whole.substr(end + 1));
  }
  if (!failure.empty()) throw std::runtime_error(failure);
}
#else
Spread::Spread(bool) {}
Spread::~Spread() = default;
size_t Spread::agree(size_t value) const { return value; }
void Spread::send(size_t, const std::string&) const {}
void Spread::finish(const std::string&) const {}
void Spread::receive(const std::function<void(size_t, const std::string&)>&) const {}
#endif

}  // namespace bitwell::study
