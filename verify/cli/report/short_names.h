// C++ names in what a command says: shortened, or whole where --verbose asks for that.
#pragma once
#include <string>

#include "model/machine/failure.h"
#include "verify/launch/file/names.h"

namespace bitwell::cli {

inline constexpr const char* kVerboseHelp = "C++ names whole, however long, in messages";

inline std::string named(const std::string& text, bool verbose) {
  return verbose ? text : launch::shortened(text);
}

// `f`, with the names so in what it throws.
template <class F>
auto naming_shortly(bool verbose, F f) {
  if (verbose) return f();
  try {
    return f();
  } catch (const machine::Fault& e) {
    throw machine::Fault(e, launch::shortened(e.what()));
  } catch (const machine::Unsupported& e) {
    throw machine::Unsupported(launch::shortened(e.what()));
  } catch (const machine::InputError& e) {
    throw machine::InputError(launch::shortened(e.what()));
  }
}

}  // namespace bitwell::cli
