#include "model/strict_json/parse.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace bitwell::strict_json {
namespace {

// An object or a list whose end has not been read.
struct Open {
  bool list = false;
  size_t index = 0;            // of the element being read
  std::string key = {};        // of the member being read
  std::set<std::string> keys;  // so far
};

// A JSON pointer (RFC 6901, without its escapes) to what `open` leads to.
std::string pointer(const std::vector<Open>& open, size_t levels) {
  std::string out;
  for (size_t i = 0; i < levels; ++i)
    out += "/" + (open[i].list ? std::to_string(open[i].index) : open[i].key);
  return out.empty() ? "the whole" : out;
}

// As long as a line of a terminal: the text may be a gigabyte of one string.
std::string brief(const std::string& text) {
  constexpr size_t most = 200;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

std::string syntax_error(const std::string& text, size_t byte, const std::string& what) {
  const size_t at = std::min(byte > 0 ? byte - 1 : 0, text.size());
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  const size_t start = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const size_t column = at - (start == std::string::npos ? 0 : start + 1) + 1;
  const size_t detail = what.find("syntax error");
  return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " +
         brief(detail == std::string::npos ? what : what.substr(detail));
}

template <class Json>
Json parse_as(const std::string& text) {
  using Event = typename Json::parse_event_t;
  std::vector<Open> open;
  const auto no_nul = [&](const std::string& value, const char* what) {
    if (value.find('\0') != std::string::npos)
      throw JsonError(brief(pointer(open, open.size())) + ": " + what + " with a NUL inside");
  };
  const auto after_value = [&] {
    if (!open.empty()) ++open.back().index;
  };
  const auto guard = [&](int, Event event, Json& parsed) {
    switch (event) {
      case Event::object_start:
      case Event::array_start:
        if (open.size() == static_cast<size_t>(kDeepest))
          throw JsonError(brief(pointer(open, 3)) + ": nested deeper than " + std::to_string(kDeepest));
        open.push_back({event == Event::array_start, 0, {}, {}});
        break;
      case Event::key: {
        const auto& key = parsed.template get_ref<const std::string&>();
        no_nul(key, "a key");
        if (!open.back().keys.insert(key).second)
          throw JsonError(brief(pointer(open, open.size() - 1)) + " has '" + brief(key) + "' twice");
        open.back().key = key;
        break;
      }
      case Event::value:
        if (parsed.is_string()) no_nul(parsed.template get_ref<const std::string&>(), "a string");
        after_value();
        break;
      default:  // the end of an object or a list
        open.pop_back();
        after_value();
    }
    return true;
  };
  try {
    return Json::parse(text, guard, true, true);
  } catch (const typename Json::parse_error& e) {
    throw JsonError(syntax_error(text, e.byte, e.what()));
  } catch (const typename Json::out_of_range& e) {
    const std::string what = e.what();
    const size_t detail = what.find("number overflow");
    throw JsonError(brief(pointer(open, open.size())) + ": " +
                    brief(detail == std::string::npos ? what : what.substr(detail)));
  }
}

}  // namespace

nlohmann::json parse(const std::string& text) { return parse_as<nlohmann::json>(text); }
nlohmann::ordered_json parse_ordered(const std::string& text) {
  return parse_as<nlohmann::ordered_json>(text);
}

}  // namespace bitwell::strict_json
