#include "verify/capture/tuples.h"

#include <charconv>
#include <filesystem>
#include <sstream>

#include "model/machine/failure.h"
#include "verify/capture/packed.h"

namespace bitwell::capture {
namespace {

using machine::InputError;

std::string hex(const std::vector<uint64_t>& words) {
  std::string out;
  for (const uint64_t w : words) {
    char text[20];
    const auto end = std::to_chars(text, text + sizeof text, w, 16).ptr;
    out += (out.empty() ? "" : " ") + std::string(text, end);
  }
  return out;
}

// The words of "a b > c d", or nothing.
std::optional<Tuple> tuple_of(const std::string& line) {
  Tuple out;
  bool results = false;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word == ">" && !results) {
      results = true;
      continue;
    }
    uint64_t v = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), v, 16);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    (results ? out.results : out.inputs).push_back(v);
  }
  if (out.results.empty()) return std::nullopt;
  return out;
}

}  // namespace

std::optional<Tuples> read_tuples(const std::string& path) {
  std::error_code unreadable;
  if (!std::filesystem::exists(path, unreadable)) return std::nullopt;
  std::istringstream text(read_packed(path));
  Tuples out;
  std::vector<Tuple>* now = nullptr;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    const auto refuse = [&](const std::string& what) {
      return InputError("'" + path + "', line " + std::to_string(number) + ": " + what);
    };
    if (number <= 2) {
      const std::string key = number == 1 ? "device " : "driver ";
      if (line.rfind(key, 0) != 0) throw refuse("not '" + key + "' and a name");
      (number == 1 ? out.device : out.driver) = line.substr(key.size());
    } else if (line.find('>') == std::string::npos) {
      const auto [at, is_new] = out.of.emplace(line, std::vector<Tuple>());
      if (!is_new || line.empty()) throw refuse("not the name of an instruction that is not above");
      now = &at->second;
    } else {
      std::optional<Tuple> tuple = tuple_of(line);
      if (!tuple || now == nullptr) throw refuse("not 'inputs > results' of an instruction, in hexadecimal");
      now->push_back(std::move(*tuple));
    }
  }
  if (out.driver.empty()) throw InputError("'" + path + "' ends before its second line");
  return out;
}

void write_tuples(const std::string& path, const Tuples& tuples) {
  std::string text = "device " + tuples.device + "\ndriver " + tuples.driver + "\n";
  for (const auto& [name, rows] : tuples.of) {
    text += name + "\n";
    for (const Tuple& t : rows) text += hex(t.inputs) + " > " + hex(t.results) + "\n";
  }
  write_packed(path, "the tuples", text);
}

std::string first_wrong(const std::vector<Tuple>& of_device, const std::vector<Tuple>& got) {
  if (of_device.size() != got.size())
    return std::to_string(of_device.size()) + " tuples are kept, and " + std::to_string(got.size()) +
           " are compared";
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string tuple = "tuple " + std::to_string(i) + ": ";
    if (of_device[i].inputs != got[i].inputs)
      return tuple + "the operands " + hex(got[i].inputs) + " are not the " + hex(of_device[i].inputs) +
             " that were recorded";
    if (of_device[i].results != got[i].results)
      return tuple + hex(got[i].inputs) + " => " + hex(got[i].results) + " expected " +
             hex(of_device[i].results);
  }
  return "";
}

}  // namespace bitwell::capture
