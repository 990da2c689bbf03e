#include "verify/cli/report/xml.h"

#include "model/strict_json/write.h"

namespace bitwell::cli {

std::string xml_escaped(const std::string& text) {
  std::string out;
  // What is no UTF-8 is none in XML either.
  const std::string whole = nlohmann::json::parse(strict_json::dumped(nlohmann::json(text)));
  for (const char c : whole) switch (c) {
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
