#include "verify/cli/report/xml.h"

namespace bitwell::cli {

std::string xml_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n': out += "&#10;"; break;  // an attribute's own would become a space
      default:
        if (static_cast<unsigned char>(c) >= ' ' || c == '\t') out += c;
    }
  return out;
}

}  // namespace bitwell::cli
