#include "verify/bugs/catalogue/device_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "verify/capture/digest.h"

namespace bitwell::bugs {
namespace {

using machine::InputError;

constexpr std::array<const char*, 14> kColumns{
    "kernel",  "bug",           "expected",      "launches",       "wrong",       "hangs",  "faults",
    "delayed", "delayed wrong", "delayed hangs", "delayed faults", "not counted", "device", "digest"};

uint64_t number(const std::string& field, const std::string& place) {
  if (field.empty() || field.size() > 18 || field.find_first_not_of("0123456789") != std::string::npos)
    throw InputError(place + ": '" + field + "' is not a count");
  return std::stoull(field);
}

Counted counted(const std::string* fields, const std::string& place) {
  return {number(fields[0], place), number(fields[1], place), number(fields[2], place) != 0,
          number(fields[3], place) != 0};
}

DeviceCount row_of(const std::string& line, const std::string& place) {
  std::vector<std::string> fields(1);
  for (const char c : line)
    if (c == ',')
      fields.emplace_back();
    else
      fields.back() += c;
  if (fields.size() != kColumns.size())
    throw InputError(place + ": " + std::to_string(fields.size()) + " fields, there must be " +
                     std::to_string(kColumns.size()));
  return {fields[0],  fields[1],  fields[2], counted(&fields[3], place), counted(&fields[7], place),
          fields[11], fields[12], fields[13]};
}

bool shown(const Counted& c) { return c.wrong != 0 || c.hangs || c.faults; }

// Of the bugs of a kind, how each showed: as the first of these says it.
struct Sums {
  size_t bugs = 0, always = 0, ended = 0, at_times = 0, delayed = 0, never = 0;
  void add(const DeviceCount& c) {
    ++bugs;
    ++(c.plain.hangs || c.plain.faults                           ? ended
       : c.plain.wrong != 0 && c.plain.wrong == c.plain.launches ? always
       : c.plain.wrong != 0                                      ? at_times
       : shown(c.delayed)                                        ? delayed
                                                                 : never);
  }
  std::string line(const std::string& name) const {
    return fmt::format("{:<20}{:>6}{:>8}{:>14}{:>14}{:>14}{:>8}\n", name, bugs, always, ended, at_times,
                       delayed, never);
  }
};

std::string told(const Counted& c) {
  if (c.hangs) return "hangs";
  if (c.faults) return "faults";
  if (c.launches == 0) return "-";
  return std::to_string(c.wrong);
}

}  // namespace

bool shows(const DeviceCount& count) { return shown(count.plain) || shown(count.delayed); }

std::string digest_of(const Exhibit& exhibit, const std::string& bug) {
  std::istringstream in(ptx_of(exhibit, bug));
  std::string text;
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, line.find("//"));
    line.erase(line.find_last_not_of(" \t") + 1);
    if (!line.empty()) text += line + "\n";
  }
  const run::Shape& s = exhibit.launch.shape;
  for (const auto& extent : {s.grid, s.block, s.cluster})
    text += fmt::format("{} {} {}\n", extent[0], extent[1], extent[2]);
  for (const launch::Buffer& b : exhibit.launch.buffers) text += std::to_string(b.size()) + "\n";
  capture::Digest digest;
  digest.add(std::as_bytes(std::span(text)));
  return digest.hex();
}

std::vector<DeviceCount> read_device_counts(const std::string& path) {
  std::istringstream in(launch::read_file(path));
  std::vector<DeviceCount> out;
  int n = 0;
  for (std::string line; std::getline(in, line);)
    if (++n == 1 && line + "\n" != device_counts_header())
      throw InputError(path + ":1: the columns must be " + device_counts_header());
    else if (n > 1)
      out.push_back(row_of(line, path + ":" + std::to_string(n)));
  return out;
}

std::string device_counts_header() { return fmt::format("{}\n", fmt::join(kColumns, ",")); }

std::string line_of(const DeviceCount& c) {
  const auto four = [](const Counted& n) {
    return fmt::format("{},{},{},{}", n.launches, n.wrong, n.hangs ? 1 : 0, n.faults ? 1 : 0);
  };
  return fmt::format("{},{},{},{},{},{},{},{}\n", c.kernel, c.bug, c.expected, four(c.plain), four(c.delayed),
                     c.not_counted, c.device, c.digest);
}

std::string counted_columns(const std::vector<DeviceCount>& counts, const Exhibit& exhibit,
                            const std::string& bug) {
  const auto found = std::find_if(counts.begin(), counts.end(), [&](const DeviceCount& c) {
    return c.kernel == exhibit.name && c.bug == bug;
  });
  std::string plain = "-", delayed = "-";
  if (found != counts.end() && found->digest != digest_of(exhibit, bug))
    plain = delayed = "stale";
  else if (found != counts.end() && !found->not_counted.empty())
    plain = delayed = found->not_counted;
  else if (found != counts.end())
    plain = told(found->plain), delayed = told(found->delayed);
  return fmt::format("{:>8} {:>8}", plain, delayed);
}

std::string summary_of(const std::vector<DeviceCount>& counts) {
  Sums all;
  std::map<std::string, Sums> kinds;
  size_t clean = 0, not_counted = 0;
  std::string device = "no GPU";
  uint64_t launches = 0;
  for (const DeviceCount& c : counts) {
    device = c.device;
    launches = std::max(launches, c.plain.launches);
    if (!c.not_counted.empty()) {
      ++not_counted;
    } else if (c.bug.empty()) {
      ++clean;
    } else {
      all.add(c);
      kinds[c.expected].add(c);
    }
  }
  std::string out = fmt::format(
                        "{}: {} launches of each, as many delayed; clean kernels right in all of them: {}; "
                        "void or refused: {}\n",
                        device, launches, clean, not_counted) +
                    fmt::format("{:<20}{:>6}{:>8}{:>14}{:>14}{:>14}{:>8}\n", "bugs found as", "bugs",
                                "always", "hang or error", "now and then", "delayed only", "never");
  for (const auto& [kind, sums] : kinds) out += sums.line(kind);
  return out + all.line("all");
}

}  // namespace bitwell::bugs
