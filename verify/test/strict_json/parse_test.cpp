#include "model/strict_json/parse.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

namespace bitwell::strict_json {
namespace {

std::string refusal(const std::string& text) {
  const auto of = [&](const auto& parse_text) {
    try {
      parse_text(text);
    } catch (const JsonError& e) {
      return std::string(e.what());
    }
    return std::string("taken");
  };
  const std::string plain = of(parse);
  EXPECT_EQ(of(parse_ordered), plain) << text;
  return plain;
}

std::string nested(int levels, bool lists) {
  std::string out;
  for (int i = 0; i < levels; ++i) out += lists ? "[" : "{\"a\":";
  out += lists ? "" : "1";
  for (int i = 0; i < levels; ++i) out += lists ? "]" : "}";
  return out;
}

TEST(StrictJson, NestingEndsAtTheCap) {
  for (const bool lists : {true, false}) {
    EXPECT_EQ(refusal(nested(1, lists)), "taken");
    EXPECT_EQ(refusal(nested(kDeepest, lists)), "taken");
    const char* at = lists ? "/0/0/0: nested deeper than 64" : "/a/a/a: nested deeper than 64";
    EXPECT_EQ(refusal(nested(kDeepest + 1, lists)), at);
    EXPECT_EQ(refusal(nested(1'000'000, lists)), at);
  }
}

TEST(StrictJson, RefusalsSayWhere) {
  EXPECT_EQ(refusal(R"({"a":1,"a":1})"), "the whole has 'a' twice");
  EXPECT_EQ(refusal(R"({"a":[0,[],{},{"b":{"c":1,"d":2,"c":3}}]})"), "/a/3/b has 'c' twice");
  EXPECT_EQ(refusal(R"({"a":{"b":1},"b":{"a":1},"c":[{"a":1},{"a":1}]})"), "taken");
  EXPECT_EQ(refusal(R"(["x","y\u0000"])"), "/1: a string with a NUL inside");
  EXPECT_EQ(refusal(R"({"k":{"\u0000":1}})"), "/k/: a key with a NUL inside");
  EXPECT_EQ(refusal(R"({"k":[1,1e400]})"), "/k/1: number overflow parsing '1e400'");
  EXPECT_NE(refusal("{\n \"a\": [1,\n 2 3]}").find("line 3, column 4: syntax error"), std::string::npos)
      << refusal("{\n \"a\": [1,\n 2 3]}");
  EXPECT_NE(refusal("").find("line 1, column 1: syntax error"), std::string::npos) << refusal("");
  EXPECT_LT(refusal('"' + std::string(1 << 20, 'x')).size(), 400u);
  EXPECT_EQ(refusal("/* why */ [1] // so\n"), "taken");
}

nlohmann::json any(int depth) {
  switch (*rc::gen::inRange(0, depth == 0 ? 4 : 6)) {
    case 0: return *rc::gen::arbitrary<int64_t>();
    case 1: return *rc::gen::arbitrary<bool>();
    case 2: return *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
    case 3: return nullptr;
    case 4: {
      nlohmann::json list = nlohmann::json::array();
      for (int n = *rc::gen::inRange(0, 4); n > 0; --n) list.push_back(any(depth - 1));
      return list;
    }
    default: {
      nlohmann::json object = nlohmann::json::object();
      for (int n = *rc::gen::inRange(0, 4); n > 0; --n)
        object[*rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127))] = any(depth - 1);
      return object;
    }
  }
}

RC_GTEST_PROP(StrictJson, WhatWasWrittenIsReadAgain, ()) {
  const nlohmann::json written = any(4);
  RC_ASSERT(parse(written.dump()) == written);
  RC_ASSERT(nlohmann::json::parse(parse_ordered(written.dump(2)).dump()) == written);
}

}  // namespace
}  // namespace bitwell::strict_json
