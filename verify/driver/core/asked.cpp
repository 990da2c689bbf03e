#include "verify/driver/core/asked.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/machine/failure.h"
#include "model/strict_json/write.h"

namespace bitwell::driver {
namespace {

using nlohmann::json;

// `f(key, member)` of each.
template <class A, class F>
void each(A& a, F f) {
  f("told", a.told);
  f("log", a.log);
  f("arch", a.arch);
  f("record", a.record);
  f("ptx", a.ptx);
  f("record_count", a.record_count);
  f("record_bytes", a.record_bytes);
  f("kernels", a.kernels);
  f("kernels_not", a.kernels_not);
  f("launch_skip", a.launch_skip);
  f("launch_count", a.launch_count);
  f("only_program", a.only_program);
  f("host_reads", a.host_reads);
  f("sanitizer_words", a.sanitizer_words);
  f("dump_launches", a.dump_launches);
  f("verbose", a.verbose);
  f("print_limit", a.print_limit);
  f("fmad", a.fmad);
  f("unchecked", a.unchecked);
  f("races", a.races);
  f("once", a.once);
  f("explain", a.explain);
  f("strict", a.strict);
  f("all", a.all);
  f("schedules", a.schedules);
  f("seed", a.seed);
  f("step_limit", a.step_limit);
  f("resident", a.resident);
  f("threads", a.threads);
  f("schedule", a.schedule);
  f("approximate", a.approximate);
  f("baseline", a.baseline);
  f("error_on", a.error_on);
  f("driver", a.driver);
  f("record_after", a.record_after);
  f("record_time", a.record_time);
}

// Names of files are bytes, which the libraries must have as they are, whether or not they are UTF-8: each
// byte stands as the character of its number.
json characters_of(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80)
      out += c;
    else
      out += {static_cast<char>(0xC0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3F))};
  }
  return out;
}
json characters_of(const std::vector<std::string>& all) {
  json out = json::array();
  for (const std::string& one : all) out.push_back(characters_of(one));
  return out;
}
template <class T>
json characters_of(const T& number) {
  return number;
}

void read_bytes(const json& from, std::string& to) {
  to.clear();
  const std::string text = from;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    to += first < 0x80 ? text[i] : static_cast<char>(first << 6 | (text.at(++i) & 0x3F));
  }
}
void read_bytes(const json& from, std::vector<std::string>& to) {
  for (const json& one : from) read_bytes(one, to.emplace_back());
}
template <class T>
void read_bytes(const json& from, T& to) {
  from.get_to(to);
}

}  // namespace

std::string text_of(const Asked& asked) {
  json j;
  each(asked, [&](const char* key, const auto& member) { j[key] = characters_of(member); });
  return strict_json::dumped(j, 1) + "\n";
}

Asked asked_from(const std::string& text) {
  Asked out;
  try {
    const json j = json::parse(text);
    each(out, [&](const char* key, auto& member) {
      if (j.contains(key)) read_bytes(j.at(key), member);
    });
  } catch (const json::exception& e) {
    throw machine::InputError(std::string(kAskedVariable) + ": " + e.what());
  }
  return out;
}

Asked asked_of_environment() {
  Asked out;
  if (const char* const file = std::getenv(kAskedVariable); file != nullptr) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (in) out = asked_from(text.str());
  }
  if (const char* const device = std::getenv(kDeviceVariable); out.arch.empty() && device != nullptr)
    out.arch = device;
  return out;
}

}  // namespace bitwell::driver
