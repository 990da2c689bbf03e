// Files that are not finished: whatever ends the process politely takes them along.
#pragma once
#include <string>

namespace bitwell::launch {

// A file that is written beside the one it will replace. Its name, until it has another or is gone.
class PartialFile {
 public:
  PartialFile() = default;
  explicit PartialFile(std::string path);
  ~PartialFile() { remove(); }
  PartialFile(PartialFile&& other) noexcept { *this = std::move(other); }
  PartialFile& operator=(PartialFile&& other) noexcept;

  const std::string& path() const { return path_; }
  void remove();   // the file, if there is one
  void renamed();  // the file has its own name now

 private:
  void forget();
  std::string path_;
  int slot_ = -1;
};

// All that there are, for a process that is about to end; a signal handler may call it.
void remove_partial_files();
// From now on SIGINT, SIGTERM and SIGHUP remove all partial files before they end the process, unless they
// were ignored before.
void remove_partial_files_when_stopped();

}  // namespace bitwell::launch
