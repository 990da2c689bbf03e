#include "verify/device/children.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace bitwell::device {
namespace {

bool write_all(int file, const void* data, size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size != 0) {
    const ssize_t n = write(file, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

bool read_all(int file, void* data, size_t size) {
  auto* at = static_cast<char*>(data);
  while (size != 0) {
    const ssize_t n = read(file, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

// The child: sends each piece's text, its size before it.
[[noreturn]] void send_answers(int file, size_t first, size_t count,
                               const std::function<Answer(size_t)>& work) {
  for (size_t i = first; i < count; ++i) {
    const Answer answer = work(i);
    const uint64_t size = answer.text.size();
    if (!write_all(file, &size, sizeof size) || !write_all(file, answer.text.data(), size) || !answer.go_on)
      break;
  }
  _exit(0);  // no destructors: a driver's would wait for a kernel that hangs
}

std::optional<std::string> receive_answer(int file) {
  uint64_t size = 0;
  if (!read_all(file, &size, sizeof size)) return std::nullopt;
  std::string text(size, '\0');
  if (!read_all(file, text.data(), size)) return std::nullopt;
  return text;
}

}  // namespace

void each_in_children(size_t count, const std::function<Answer(size_t)>& work,
                      const std::function<void(size_t, const std::optional<std::string>&)>& done) {
  for (size_t next = 0; next < count;) {
    int ends[2];
    if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) {
      close(ends[0]);
      send_answers(ends[1], next, count, work);
    }
    close(ends[1]);
    const size_t first = next;
    while (next < count) {
      const std::optional<std::string> text = receive_answer(ends[0]);
      if (!text && next != first)
        break;  // it ended between two pieces, or died in this one: a new one will tell
      done(next++, text);
      if (!text) break;
    }
    close(ends[0]);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

}  // namespace bitwell::device
