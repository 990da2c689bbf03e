#include "model/strict_json/parse.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace bitwell::strict_json {
namespace {

// An object or a list whose end has not been read.
struct Open {
  bool list = false;
  size_t index = 0;      // of the element being read
  std::string key = {};  // of the member being read
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

// Builds a value of what is read. (The library's parser with a callback looks through a list behind each
// object in it: 10,000 launches took a second.)
template <class Json>
class Builder {
 public:
  Json root;
  std::vector<Open> open;

  bool null() { return scalar(nullptr); }
  bool boolean(bool value) { return scalar(value); }
  bool number_integer(typename Json::number_integer_t value) { return scalar(value); }
  bool number_unsigned(typename Json::number_unsigned_t value) { return scalar(value); }
  bool number_float(typename Json::number_float_t value, const std::string&) { return scalar(value); }
  bool string(std::string& value) {
    no_nul(value, "a string");
    return scalar(std::move(value));
  }
  bool binary(typename Json::binary_t&) { return false; }  // which no text holds
  bool start_object(size_t) { return start(Json::object()); }
  bool start_array(size_t) { return start(Json::array()); }
  bool key(std::string& key) {
    no_nul(key, "a key");
    Json& object = *within_.back();
    if (object.contains(key))
      throw JsonError(brief(pointer(open, open.size() - 1)) + " has '" + brief(key) + "' twice");
    open.back().key = key;
    member_ = &object[key];
    return true;
  }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  template <class Exception>
  bool parse_error(size_t, const std::string&, const Exception& e) {
    throw e;
  }

 private:
  void no_nul(const std::string& value, const char* what) const {
    if (value.find('\0') != std::string::npos)
      throw JsonError(brief(pointer(open, open.size())) + ": " + what + " with a NUL inside");
  }
  Json& put(Json value) {
    if (open.empty()) return root = std::move(value);
    if (!open.back().list) return *member_ = std::move(value);
    within_.back()->push_back(std::move(value));
    return within_.back()->back();
  }
  bool after_value() {
    if (!open.empty()) ++open.back().index;
    return true;
  }
  bool scalar(Json value) {
    put(std::move(value));
    return after_value();
  }
  bool start(Json value) {
    if (open.size() == static_cast<size_t>(kDeepest))
      throw JsonError(brief(pointer(open, 3)) + ": nested deeper than " + std::to_string(kDeepest));
    const bool list = value.is_array();
    within_.push_back(&put(std::move(value)));
    open.push_back({list});
    return true;
  }
  bool end() {
    open.pop_back();
    within_.pop_back();
    return after_value();
  }

  std::vector<Json*> within_;  // as `open`: nothing is put beside one before its end
  Json* member_ = nullptr;     // of the object that is open, whose value comes next
};

template <class Json>
Json parse_as(const std::string& text) {
  Builder<Json> builder;
  try {
    Json::sax_parse(text, &builder, Json::input_format_t::json, true, true);
    return std::move(builder.root);
  } catch (const typename Json::parse_error& e) {
    throw JsonError(syntax_error(text, e.byte, e.what()));
  } catch (const typename Json::out_of_range& e) {
    const std::string what = e.what();
    const size_t detail = what.find("number overflow");
    throw JsonError(brief(pointer(builder.open, builder.open.size())) + ": " +
                    brief(detail == std::string::npos ? what : what.substr(detail)));
  }
}

}  // namespace

nlohmann::json parse(const std::string& text) { return parse_as<nlohmann::json>(text); }
nlohmann::ordered_json parse_ordered(const std::string& text) {
  return parse_as<nlohmann::ordered_json>(text);
}

}  // namespace bitwell::strict_json
