#include "verify/cli/shell/quiet.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::no_progress;
namespace {

int real = -1;  // the standard output, while it is kept back

bool write_all(const char* bytes, ssize_t count) {
  while (count > 0) {
    const ssize_t n = write(STDOUT_FILENO, bytes, static_cast<size_t>(count));
    if (n < 0) return false;
    bytes += n;
    count -= n;
  }
  return true;
}

}  // namespace

void keep_back() {
  if (real != -1) return;
  no_progress();
  const int kept = memfd_create("stdout", MFD_CLOEXEC);
  if (kept < 0) return;  // then it is said
  std::fflush(stdout);
  real = dup(STDOUT_FILENO);
  dup2(kept, STDOUT_FILENO);
  close(kept);
}

bool let_out(int status) {
  if (real == -1) return true;
  std::fflush(stdout);
  const int kept = dup(STDOUT_FILENO);
  dup2(real, STDOUT_FILENO);
  close(real);
  real = -1;
  bool out = true;
  std::array<char, 1 << 16> part{};
  lseek(kept, 0, SEEK_SET);
  if (status != 0)
    for (ssize_t n = 0; out && (n = read(kept, part.data(), part.size())) > 0;)
      out = write_all(part.data(), n);
  close(kept);
  return out;
}

}  // namespace bitwell::cli
