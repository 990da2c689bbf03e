#include "verify/driver/core/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "verify/driver/core/say.h"
#include "verify/launch/output/recording.h"

namespace bitwell::driver {
namespace {

namespace fs = std::filesystem;
using machine::InputError;

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw InputError("cannot write '" + path.string() + "'");
}

bool has(const fs::path& path, const std::string& text) {
  std::ifstream in(path, std::ios::binary);
  return in && std::string(std::istreambuf_iterator<char>(in), {}) == text;
}

}  // namespace

fs::path Recorder::claim(uint64_t number) {
  for (next_ = std::max(next_, number);; ++next_) {
    const fs::path folder = fs::path(asked_.record) / fmt::format("{:04}", next_);
    if (fs::create_directory(folder)) return folder;  // false: it is there
  }
}

std::string Recorder::module_of(const std::string& path, const std::string& text, const std::string& folder) {
  std::string& file = modules_[path];
  if (file.empty()) {
    file = path;
    const fs::path top = asked_.record;
    if (fs::exists(top / file) && !has(top / file, text)) file = folder + "." + path;  // another process's
    if (!fs::exists(top / file)) write_file(top / file, std::as_bytes(std::span(text)));
  }
  return "../" + file;
}

std::string Recorder::file_of(const std::string& name, std::span<const std::byte> bytes,
                              const std::string& folder) {
  const size_t hash =
      std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  auto& [was, file] = last_[name];
  if (file.empty() || was != hash) {
    file = "buffers/" + name + "." + folder + ".bin";
    was = hash;
    write_file(fs::path(asked_.record) / file, bytes);
  }
  return "../" + file;
}

bool Recorder::keeps(uint64_t number, uint64_t bytes) {
  const bool large = asked_.record_bytes != 0 && bytes > asked_.record_bytes;
  if (!large && (asked_.record_count == 0 || kept_ < asked_.record_count)) return true;
  if (!said_)
    say("launch " + std::to_string(number) + " is not kept" +
        (large ? ": its memory has " + std::to_string(bytes) + " bytes (--record-bytes)"
               : ", as " + std::to_string(kept_) + " are (--record-count)"));
  said_ = true;
  return false;
}

std::string Recorder::record(isa::Context& context, const std::vector<uint64_t>& buffers,
                             const isa::KernelLaunch& launch, uint64_t number) {
  ++kept_;
  const launch::Recording recording(context, launch, buffers);
  const fs::path folder = claim(number);
  const std::string name = folder.filename();
  fs::create_directory(folder / "out");
  fs::create_directories(folder.parent_path() / "buffers");
  const std::string module = module_of(context.module(launch.module)->path(), recording.ptx(), name);
  const std::string text = recording.text(
      module,
      [&](const std::string& of, std::span<const std::byte> bytes) { return file_of(of, bytes, name); });
  write_file(folder / "launch.json", std::as_bytes(std::span(text)));
  std::string lacks;
  for (const std::string& one : recording.lacks(context.memory())) lacks += (lacks.empty() ? "" : "; ") + one;
  if (!lacks.empty()) say("launch " + std::to_string(number) + " is kept without " + lacks);
  return folder.string();
}

}  // namespace bitwell::driver
