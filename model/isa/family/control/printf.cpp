#include "model/isa/family/control/printf.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "model/isa/family/control/builtin.h"
#include "model/run/access.h"
#include "model/run/watch/follow.h"

namespace bitwell::isa {
namespace {

using machine::Fault;
using machine::kLanes;

template <class T>
std::string formatted(const std::string& conversion, T value) {
  const int n = std::snprintf(nullptr, 0, conversion.c_str(), value);
  std::string text(static_cast<size_t>(std::max(n, 0)) + 1, '\0');
  std::snprintf(text.data(), text.size(), conversion.c_str(), value);
  text.pop_back();
  return text;
}

// Arguments lie one after the other, each at its natural alignment; integers are 4 or 8 bytes (l, ll),
// floating values are doubles.
struct Format {
  std::string text;
  int conversions = 0;
};

// Where the letter of the conversion that begins at i stands. Only what C and the device agree on reaches the
// host's snprintf: flags, a width and a precision of three digits at most, a length, one letter; of all else
// npos.
size_t letter_of(const std::string& pattern, size_t i) {
  const auto is_one_of = [&](const char* characters) {
    return i < pattern.size() && pattern[i] != '\0' && std::strchr(characters, pattern[i]) != nullptr;
  };
  const auto skip_digits = [&] {
    for (int n = 0; n < 3 && is_one_of("0123456789"); ++n) ++i;
  };
  for (++i; is_one_of("-+ #0"); ++i) {
  }
  skip_digits();
  if (is_one_of(".")) {
    ++i;
    skip_digits();
  }
  if (pattern.compare(i, 2, "hh") == 0 || pattern.compare(i, 2, "ll") == 0)
    i += 2;
  else if (is_one_of("hlzj"))
    ++i;
  return is_one_of("diouxXeEfFgGaAcsp") ? i : std::string::npos;
}

Format format(run::Context& context, int lane, const std::string& pattern, uint64_t at) {
  Format out;
  const auto take = [&](auto& v) {
    at = (at + sizeof v - 1) / sizeof v * sizeof v;
    const bool written = run::read_generic(context, lane, at, sizeof v, &v);
    if (!written && context.follow() != nullptr)
      context.follow()->used(context.cta.line(context.split()).ptx, "what printf prints");
    else if (context.checked && !written)
      throw Fault("printf prints argument " + std::to_string(out.conversions) + ", of " +
                      std::to_string(sizeof v) + " bytes, which was never written",
                  lane);
    at += sizeof v;
  };
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      out.text += pattern[i];
      continue;
    }
    if (i + 1 < pattern.size() && pattern[i + 1] == '%') {
      out.text += '%';
      ++i;
      continue;
    }
    const size_t letter = letter_of(pattern, i);
    if (letter == std::string::npos)
      throw machine::Unsupported("printf: the conversion at \"" + pattern.substr(i, 8) + "\"");
    std::string conversion = pattern.substr(i, letter - i);
    const char kind = pattern[letter];
    const bool wide = conversion.find_first_of("lzj") != std::string::npos;
    std::erase_if(conversion, [](char c) { return c == 'l' || c == 'h' || c == 'z' || c == 'j'; });
    i = letter;
    ++out.conversions;
    if (kind == 's') {
      uint64_t address = 0;
      take(address);
      out.text += formatted(conversion + "s", run::read_string(context, lane, address).c_str());
    } else if (std::strchr("eEfFgGaA", kind) != nullptr) {
      double v = 0;
      take(v);
      out.text += formatted(conversion + kind, v);
    } else if (kind == 'p') {
      uint64_t v = 0;
      take(v);
      out.text += formatted(conversion + "p", reinterpret_cast<void*>(v));
    } else if (wide) {
      long long v = 0;
      take(v);
      out.text += formatted(conversion + "ll" + kind, v);
    } else {
      int v = 0;
      take(v);
      out.text += formatted(conversion + kind, v);
    }
  }
  return out;
}

}  // namespace

void builtin_call(const CallSite& site, run::Context& context, uint32_t mask) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    const auto first = builtin_argument<uint64_t>(context, site, 0, lane);
    if (site.kind == CallSite::Callee::assertfail)
      throw Fault("assertion failed: " + run::read_string(context, lane, first) + " (" +
                      run::read_string(context, lane, builtin_argument<uint64_t>(context, site, 1, lane)) +
                      ":" + std::to_string(builtin_argument<uint32_t>(context, site, 2, lane)) + ")",
                  lane);
    const std::string pattern = run::read_string(context, lane, first);
    const Format printed = format(context, lane, pattern, builtin_argument<uint64_t>(context, site, 1, lane));
    context.cta.cluster.print(printed.text);
    builtin_result(context, site, "vprintf", lane, printed.conversions);
  }
}

}  // namespace bitwell::isa
