#include "verify/launch/output/output_target.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "model/machine/failure.h"

namespace bitwell::launch {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) { return path.parent_path().empty() ? "." : path.parent_path(); }

// Links in /proc lead to open descriptors, whatever text they show.
bool in_proc(const fs::path& path) {
  struct statfs s {};
  return statfs(folder_of(path).c_str(), &s) == 0 && s.f_type == PROC_SUPER_MAGIC;
}

// The path where a chain of links ends, which may be a link of /proc or nothing yet.
fs::path followed(const std::string& path) {
  fs::path at = path;
  for (int links = 0; links < 40; ++links) {  // as many as Linux follows (path_resolution(7))
    struct stat s {};
    if (lstat(at.c_str(), &s) != 0 || !S_ISLNK(s.st_mode) || in_proc(at)) return at;
    std::error_code error;
    const fs::path next = fs::read_symlink(at, error);
    if (error) cannot_write(path, error.value());
    at = next.is_absolute() ? next : folder_of(at) / next;
  }
  cannot_write(path, ELOOP);
}

// The descriptor of this process that the path names, or -1.
int own_descriptor(const fs::path& end) {
  std::error_code error;
  const fs::path folder = fs::canonical(folder_of(end), error);
  const std::string process = "/proc/" + std::to_string(getpid());
  if (folder != process + "/fd" && folder.string().find(process + "/task/") != 0) return -1;
  const std::string name = end.filename().string();
  int out = -1;
  const auto r = std::from_chars(name.data(), name.data() + name.size(), out);
  return r.ec == std::errc() && r.ptr == name.data() + name.size() ? out : -1;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw machine::InputError("cannot write '" + path + "': " + why);
}

}  // namespace

void cannot_write(const std::string& path, int error) {
  if (error == EPIPE) throw std::system_error(error, std::generic_category(), "'" + path + "'");
  refuse(path, std::generic_category().message(error));
}

int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(descriptor, text.data(), text.size());
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) text.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

Identity identity_of(const std::string& path) {
  struct stat s {};
  if (stat(path.c_str(), &s) == 0) return {s.st_dev, s.st_ino};
  const fs::path end = followed(path);
  if (stat(folder_of(end).c_str(), &s) == 0) return {s.st_dev, s.st_ino, end.filename().string()};
  return {0, 0, end.string()};
}

OutputTarget output_target(const std::string& path) {
  OutputTarget out;
  const fs::path end = followed(path);
  out.path = end.string();
  if (path.empty() || end.filename().empty()) refuse(path, "no name of a file");
  struct stat s {};
  out.there = stat(out.path.c_str(), &s) == 0;
  if (!out.there && errno != ENOENT) cannot_write(path, errno);
  out.identity = identity_of(out.path);
  if (out.there) {
    if (S_ISDIR(s.st_mode)) refuse(path, "it is a folder");
    if (S_ISBLK(s.st_mode)) refuse(path, "it is a block device");
    const bool open_descriptor = in_proc(end) && fs::is_symlink(fs::symlink_status(end));
    if (S_ISSOCK(s.st_mode) && !open_descriptor) refuse(path, "it is a socket");
    out.replaced = S_ISREG(s.st_mode) && !open_descriptor;
    if (faccessat(AT_FDCWD, out.path.c_str(), W_OK, AT_EACCESS) != 0) cannot_write(path, errno);
    out.mode = s.st_mode & 07777;
    out.owner = s.st_uid;
    out.group = s.st_gid;
  }
  // A file is written beside and renamed.
  if (out.replaced && faccessat(AT_FDCWD, folder_of(end).c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    refuse(path, "no file can be made in its folder: " + std::generic_category().message(errno));
  return out;
}

Appender::Appender(const std::string& path) : path_(path) {
  const OutputTarget target = output_target(path);
  const int own = own_descriptor(target.path);
  // A descriptor opened anew would have a place of its own in the file, and write over what goes there.
  if (own >= 0) std::fflush(nullptr);
  descriptor_ = own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 0)
                         : open(target.path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
  if (descriptor_ < 0) cannot_write(path, errno);
}

Appender::~Appender() { close(descriptor_); }

void Appender::write(std::string_view text) {
  if (const int error = write_all(descriptor_, text); error != 0) cannot_write(path_, error);
}

}  // namespace bitwell::launch
