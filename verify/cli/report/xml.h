// Text within XML: in elements and attributes, of JUnit's reports, compute-sanitizer's and pictures.
#pragma once
#include <string>

namespace bitwell::cli {

// With &, <, >, quotes and line ends written out, which an attribute would otherwise lose; characters that
// XML does not have are left out.
std::string xml_escaped(const std::string& text);

}  // namespace bitwell::cli
