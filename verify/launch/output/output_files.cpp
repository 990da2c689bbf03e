#include "verify/launch/output/output_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "model/machine/failure.h"

namespace bitwell::launch {
namespace {

using machine::InputError;

// Beside the target: a rename then replaces it in one step. Unique in this process, and of it.
std::string partial_name(const std::string& path) {
  static std::atomic<int> count = 0;
  const std::filesystem::path target = path;
  constexpr size_t longest = 200;  // of the 255 bytes of a name
  const std::string name = target.filename().string().substr(0, longest) + ".partial-" +
                           std::to_string(getpid()) + "-" + std::to_string(count++);
  return (target.parent_path() / name).string();
}

}  // namespace

OutputFiles::OutputFiles() {
  for (const auto& [descriptor, name] :
       {std::pair{STDOUT_FILENO, "the standard output"}, {STDERR_FILENO, "the standard error"}}) {
    struct stat s {};
    if (fstat(descriptor, &s) == 0 && S_ISREG(s.st_mode))
      taken_.emplace(Identity{s.st_dev, s.st_ino}, std::string("the file that ") + name + " goes to");
  }
}

void OutputFiles::reads(const std::string& path) {
  taken_.emplace(identity_of(path), "'" + path + "', which this command reads");
}

void OutputFiles::plan(const std::string& path, const std::string& what) {
  Planned planned;
  try {
    planned.target = output_target(path);
  } catch (const InputError& e) {
    throw InputError(what + ": " + e.what());
  }
  if (planned.target.replaced) {
    const auto [at, is_new] =
        taken_.emplace(planned.target.identity, "'" + path + "', another output of this command");
    if (!is_new) throw InputError(what + " '" + path + "' would replace " + at->second);
  }
  planned_.emplace(path, std::move(planned));
}

void OutputFiles::write(const std::string& path, std::string_view text) {
  Planned& planned = planned_.at(path);
  if (planned.target.replaced)
    write_beside(planned, text);
  else
    planned.text += text;
  planned.written = true;
}

void OutputFiles::write_beside(Planned& planned, std::string_view text) {
  const OutputTarget& target = planned.target;
  const std::string partial = partial_name(target.path);
  unlink(partial.c_str());  // of a process of the same number that was killed
  planned.partial = PartialFile(partial);
  const int file = open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, target.there ? 0600 : 0666);
  if (file < 0) cannot_write(target.path, errno);
  int error = write_all(file, text);
  if (error == 0 && target.there) {
    // As the file that it replaces. Another's file stays another's only where the system lets us.
    const bool owned = fchown(file, target.owner, target.group) == 0;
    if (fchmod(file, owned ? target.mode : target.mode & 0777) != 0) error = errno;
  }
  if (close(file) != 0 && error == 0) error = errno;
  if (error != 0) cannot_write(target.path, error);
}

void OutputFiles::commit() {
  for (auto& [path, planned] : planned_)
    if (planned.written && !planned.target.replaced) {
      Appender(path).write(planned.text);
      planned.written = false;
    }
  for (auto& [path, planned] : planned_)
    if (planned.written) {
      if (std::rename(planned.partial.path().c_str(), planned.target.path.c_str()) != 0)
        cannot_write(path, errno);
      planned.partial.renamed();
      planned.written = false;
    }
}

void replace_file(const std::string& path, const std::string& what, std::string_view text) {
  OutputFiles files;
  files.plan(path, what);
  files.write(path, text);
  files.commit();
}

}  // namespace bitwell::launch
