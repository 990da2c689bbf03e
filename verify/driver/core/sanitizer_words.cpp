#include "verify/driver/core/sanitizer_words.h"

#include <fmt/format.h>

#include "verify/driver/names/errors.h"
#include "verify/launch/file/names.h"

namespace bitwell::driver {
namespace {

constexpr const char* kPrefix = "========= ";

// Each line of a text behind the prefix.
std::string prefixed(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += kPrefix + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

std::string at_line(const std::string& kernel, const machine::CudaPlace& cuda, int ptx_line) {
  std::string out = fmt::format("    at {}+0x0", kernel);
  if (cuda != nullptr) return out + " in " + cuda->chain.front().words() + "\n";
  return ptx_line > 0 ? out + fmt::format(" in PTX line {}\n", ptx_line) : out + "\n";
}

std::string thread_line(const machine::Place& place) {
  if (!place.has_thread) return "";
  const auto words = [](const std::array<uint32_t, 3>& v) {
    return fmt::format("({},{},{})", v[0], v[1], v[2]);
  };
  return fmt::format("    by thread {} in block {}\n", words(place.thread), words(place.cta));
}

}  // namespace

FaultKind kind_of(const machine::Fault& fault) {
  // What a fault says begins behind its place; names of the program's come later.
  std::string_view words = fault.what();
  const std::string place = fault.placed ? machine::describe(fault.place, "") : "";
  if (words.starts_with(place)) words.remove_prefix(place.size());
  if (words.starts_with("assertion failed: ")) return FaultKind::assertion;
  if (words.starts_with("misaligned ")) return FaultKind::misaligned;
  return words.starts_with("out-of-bounds ") ? FaultKind::out_of_bounds : FaultKind::other;
}

std::string sanitizer_fault(const machine::Fault& fault, const std::string& kernel,
                            const DeviceMemory& memory) {
  const std::string words = launch::as_written(fault.what());
  if (!fault.access)
    return prefixed(words + "\n" + at_line(kernel, fault.place.cuda, fault.place.ptx_line) +
                    thread_line(fault.place));
  const machine::Fault::Access& a = *fault.access;
  if (a.kind == "uninitialized read")
    return prefixed(fmt::format("Uninitialized __{}__ memory read of size {} bytes\n", a.space, a.bytes) +
                    at_line(kernel, fault.place.cuda, fault.place.ptx_line) + thread_line(fault.place) +
                    "    " + words + "\n");
  std::string out = fmt::format("Invalid __{}__ {} of size {} bytes\n", a.space, a.kind, a.bytes) +
                    at_line(kernel, fault.place.cuda, fault.place.ptx_line) + thread_line(fault.place);
  const FaultKind kind = kind_of(fault);
  const bool outside = kind == FaultKind::out_of_bounds;
  out += fmt::format("    Access at {:#x} is {}\n", a.address,
                     outside                         ? "out of bounds"
                     : kind == FaultKind::misaligned ? "misaligned"
                                                     : "not allowed");
  if (outside && a.space == "global")
    if (const Block* const near = memory.nearest(a.address); near != nullptr) {
      const uint64_t end = near->address + near->bytes;
      // An access that begins inside is as far behind as its last byte is.
      const uint64_t first =
          a.address >= near->address && a.address < end ? a.address + a.bytes - 1 : a.address;
      out += fmt::format("    and is {} bytes {} the nearest allocation at {:#x} of size {} bytes\n",
                         first >= end ? first - end + 1 : near->address - first,
                         first >= end ? "after" : "before", near->address, near->bytes);
    }
  return prefixed(out);
}

std::string sanitizer_finding(const session::Finding& finding, const std::string& kernel) {
  const session::Told& told = finding.pairs.front();
  std::string out =
      fmt::format("{}: {}\n", finding.level == session::Level::error ? "Error" : "Warning", told.what);
  for (const session::Act* act : {&told.earlier, &told.later}) {
    out += fmt::format("    {} access by warp {} of block ({},{},{})\n", act->access, act->warp, act->cta[0],
                       act->cta[1], act->cta[2]);
    out += at_line(kernel, act->cuda, act->ptx_line);
  }
  if (!told.remedy.empty()) out += "    " + told.remedy + "\n";
  return prefixed(out);
}

std::string sanitizer_mistake(const std::string& call, const Mistake& mistake) {
  if (mistake.code == CUDA_SUCCESS)
    return prefixed(fmt::format("Uninitialized read by {}.\n    {}\n", call, mistake.what()));
  const ErrorRow* const row = error_row(mistake.code);
  const char* const name = row == nullptr ? nullptr : call.starts_with("cuda") ? row->runtime : row->driver;
  return prefixed(fmt::format("Program hit {} (error {}) due to \"{}\" on CUDA API call to {}.\n    {}\n",
                              name == nullptr ? "an error" : name, static_cast<int>(mistake.code),
                              row == nullptr ? "" : row->words, call, mistake.what()));
}

std::string sanitizer_text(const std::string& title, const std::string& text, const std::string& kernel) {
  return prefixed(title + "\n" + at_line(kernel, nullptr, 0) + "    " + text);
}

}  // namespace bitwell::driver
