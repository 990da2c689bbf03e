// Which of an image's PTX a device takes.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "model/machine/arch.h"
#include "model/machine/failure.h"
#include "model/ptx/link.h"
#include "model/ptx/reach.h"
#include "verify/image/image.h"
#include "verify/image/target.h"

namespace bitwell::image {
namespace {

using machine::InputError;
namespace fs = std::filesystem;

// Whether a device of that compute capability takes the target (PTX ISA 9.0, 11.1.2 ".target").
bool runs_on(const machine::Target& t, int sm) {
  if (sm == 0) return true;
  if (t.suffix == 'a') return t.arch->sm == sm;
  if (t.suffix == 'f') return t.arch->sm / 10 == sm / 10 && t.arch->sm <= sm;
  return t.arch->sm <= sm;
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& n : names) out += (out.empty() ? "" : ", ") + n;
  return out;
}

// Texts of the folder's files that define one of the entries.
std::vector<std::string> in_folder(const std::string& folder, const std::vector<std::string>& entries) {
  std::error_code failed;
  std::set<fs::path> files;
  for (const auto& file : fs::recursive_directory_iterator(folder, failed))
    if (file.path().extension() == ".ptx") files.insert(file.path());
  if (failed) throw InputError("cannot look for PTX in '" + folder + "': " + failed.message());
  std::vector<std::string> out;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    const std::vector<std::string> names = ptx::entry_names(text.view());
    if (std::any_of(names.begin(), names.end(), [&](const std::string& n) {
          return std::find(entries.begin(), entries.end(), n) != entries.end();
        }))
      out.push_back(text.str());
  }
  return out;
}

std::string gencode(int sm) {
  const std::string to = std::to_string(sm) + (sm >= 90 ? "a" : "");
  return "nvcc -gencode arch=compute_" + to + ",code=compute_" + to;
}

// What was kept of a text that stands beside it is the same once more. What defines no entry is for a linker.
void leave_out_repeated(std::vector<std::string>& texts) {
  std::set<std::vector<std::string>> seen{{}};
  std::vector<std::string> out;
  for (std::string& text : texts)
    if (texts.size() == 1 || seen.insert(ptx::entry_names(text)).second) out.push_back(std::move(text));
  if (!out.empty()) texts = std::move(out);
}

// Those for that device which were made for the newest target.
std::vector<std::string> for_device(std::vector<std::string> all, int sm) {
  std::vector<std::string> out;
  int best = -1;
  for (std::string& text : all) {
    const auto target = target_of(text);
    if (!target || !runs_on(*target, sm)) continue;
    const int rank = 2 * target->arch->sm + (target->suffix != 0);
    if (rank > best) out.clear();
    best = std::max(best, rank);
    if (rank == best) out.push_back(std::move(text));
  }
  return out;
}

std::vector<std::string> texts_of(const Image& image) {
  std::vector<std::string> all = image.ptx;
  all.insert(all.end(), image.kept.begin(), image.kept.end());
  return all;
}

// The newest device that every object has PTX for.
int newest_of_all(const std::vector<Image>& objects) {
  int out = 0;
  for (const Image& object : objects) {
    const std::vector<std::string> newest = for_device(texts_of(object), 0);
    if (newest.empty()) continue;
    const int sm = target_of(newest.front())->arch->sm;
    out = out == 0 ? sm : std::min(out, sm);
  }
  return out;
}

// One text of each object of what was linked, joined where they need one another. Of an object without any
// for that device, such as CUDA's own library for launches from kernels, nothing.
std::vector<std::string> linked(const std::vector<Image>& objects, int sm) {
  if (sm == 0) sm = newest_of_all(objects);
  std::vector<std::string> all;
  for (const Image& object : objects)
    if (std::vector<std::string> texts = for_device(texts_of(object), sm); !texts.empty())
      all.push_back(std::move(texts.front()));
  try {
    return ptx::link(std::move(all));
  } catch (const ptx::LinkError& e) {
    throw InputError(e.what());
  }
}

[[noreturn]] void refuse(const Image& image, const Wanted& wanted) {
  std::vector<std::string> texts = texts_of(image);
  for (const Image& object : image.objects)
    for (std::string& text : texts_of(object)) texts.push_back(std::move(text));
  const bool none = texts.empty();
  if (none && !image.trouble.empty()) throw InputError(listed(image.trouble));
  if (none && image.machine_code.empty()) throw InputError("there is no code for a device in it");
  if (none) {
    std::set<std::string> devices(image.machine_code.begin(), image.machine_code.end());
    throw InputError(
        "it has machine code only (" + listed({devices.begin(), devices.end()}) + "), and bitwell runs PTX" +
        (wanted.folder.empty() ? "" : ", of which '" + wanted.folder + "' has none for it") +
        ": build it with " + gencode(wanted.sm == 0 ? 90 : wanted.sm) +
        ", or with -lineinfo, by which machine code keeps its PTX (" + std::string(switches()) + ")");
  }
  std::set<std::string> targets;
  for (const std::string& text : texts)
    if (const auto t = target_of(text))
      targets.insert("sm_" + std::to_string(t->arch->sm) + (t->suffix == 0 ? "" : std::string(1, t->suffix)));
  if (targets.empty()) throw InputError("its text is no PTX for a target that bitwell knows");
  throw InputError("none of its PTX (" + listed({targets.begin(), targets.end()}) +
                   ") is for a device of sm_" + std::to_string(wanted.sm) +
                   ": choose another device, or build it with " + gencode(wanted.sm));
}

}  // namespace

std::string_view switches() {
  return "CUTE_DSL_LINEINFO=1 for the CuTe DSL, DG_JIT_WITH_LINEINFO=1 for DeepGEMM, "
         "FLASHINFER_JIT_LINEINFO=1 "
         "for FlashInfer, lineinfo=True for numba and cuda.core, no TRITON_DISABLE_LINE_INFO for Triton";
}

std::optional<machine::Target> target_of(std::string_view ptx) {
  const size_t at = ptx.find(".target");
  if (at == std::string::npos) return std::nullopt;
  const size_t from = ptx.find("sm_", at);
  if (from == std::string::npos) return std::nullopt;
  try {
    return machine::find_target(ptx.substr(from, ptx.find_first_of(", \t\r\n;", from) - from));
  } catch (const machine::Unsupported&) {
    return std::nullopt;
  }
}

std::vector<std::string> candidates(const Image& image, const Wanted& wanted) {
  std::vector<std::string> out = linked(image.objects, wanted.sm);
  std::vector<std::string> all = texts_of(image);
  if (all.empty() && out.empty() && !wanted.folder.empty()) all = in_folder(wanted.folder, image.entries);
  for (std::string& text : for_device(std::move(all), wanted.sm)) out.push_back(std::move(text));
  if (out.empty()) refuse(image, wanted);
  leave_out_repeated(out);
  return out;
}

std::string ptx_of(std::span<const std::byte> bytes, const Wanted& wanted) {
  std::vector<std::string> found = candidates(read(bytes), wanted);
  if (found.size() > 1) throw InputError(several(found));
  return std::move(found.front());
}

std::string several(const std::vector<std::string>& found) {
  std::string entries;
  for (const std::string& text : found)
    for (const std::string& name : ptx::entry_names(text)) entries += (entries.empty() ? "" : ", ") + name;
  return "it has " + std::to_string(found.size()) + " PTX texts (" + entries +
         "): take one out by cuobjdump -xptx all";
}

}  // namespace bitwell::image
