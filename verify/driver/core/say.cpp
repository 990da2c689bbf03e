#include "verify/driver/core/say.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace bitwell::driver {

void say(const std::string& text) {
  const std::string line = "bitwell: " + text + (text.ends_with('\n') ? "" : "\n");
  std::fputs(line.c_str(), stderr);
}

bool append(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const bool written =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!written) say("cannot write to '" + path + "'");
  if (file >= 0) close(file);
  return written;
}

}  // namespace bitwell::driver
