// What a path leads to, for a command about to write there.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>

namespace bitwell::launch {

// Two paths with equal identities lead to one file: by links of either kind, or both to a file not there yet.
struct Identity {
  dev_t device = 0;
  ino_t node = 0;
  std::string name = {};  // of a file that is not there, in the folder `device` and `node`; else empty
  auto operator<=>(const Identity&) const = default;
};

struct OutputTarget {
  std::string path;  // where symbolic links lead to
  Identity identity;
  // A file, or nothing yet: replaced by a rename. Otherwise a pipe, a terminal, /dev/null, or what an open
  // descriptor (/dev/stdout, /dev/fd/3) leads to: written to as it is.
  bool replaced = true;
  bool there = false;
  mode_t mode = 0;  // its permissions and owner, where it is there
  uid_t owner = 0;
  gid_t group = 0;
};

// Follows symbolic links. Throws InputError ("cannot write 'x': why") for what nothing can be written to
// (folders, sockets, block devices), for a folder that is not there and where permissions forbid it.
OutputTarget output_target(const std::string& path);
// Of a path that is read, which need not be there.
Identity identity_of(const std::string& path);

// Writes to what is there, after what it holds: pipes, devices, open descriptors, and files that grow.
class Appender {
 public:
  explicit Appender(const std::string& path);  // throws InputError
  ~Appender();
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;
  void write(std::string_view text);  // all of it, or throws InputError

 private:
  std::string path_;
  int descriptor_;
};

// Throws InputError, "cannot write 'path'" and what the system says about `error` (an errno); for a pipe that
// nobody reads any more std::system_error (EPIPE): no mistake of the user's.
[[noreturn]] void cannot_write(const std::string& path, int error);
// All of `text`; 0, or the errno that ended it.
int write_all(int descriptor, std::string_view text);

}  // namespace bitwell::launch
