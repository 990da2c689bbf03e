#include "verify/cli/review_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "model/ptx/parse.h"
#include "verify/launch/launch.h"

namespace bitwell::cli {
namespace {

namespace fs = std::filesystem;

// What a path of a URI has as it is; everything else as %XX.
bool unreserved(unsigned char c) {
  return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '~' || c == '/';
}

// nvcc writes the path that it was given: relative to where it ran, which may be where the PTX lies.
fs::path source_path(const std::string& file, const fs::path& ptx_folder) {
  const fs::path path(file), beside = ptx_folder / path;
  return path.is_relative() && !fs::exists(path) && fs::exists(beside) ? beside : path;
}

}  // namespace

std::string review_uri(const std::string& path) {
  const fs::path whole = fs::absolute(path).lexically_normal();
  const fs::path here = fs::current_path().lexically_normal();
  const fs::path below = whole.lexically_relative(here);
  const bool outside = below.empty() || *below.begin() == "..";
  std::string out = outside ? "file://" : "";
  for (const char c : (outside ? whole : below).generic_string())
    out += unreserved(static_cast<unsigned char>(c)) ? std::string(1, c)
                                                     : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

ReviewPlaces::ReviewPlaces(const std::string& ptx) : ptx_(review_uri(ptx)) {
  const ptx::Module module = ptx::parse(verify::read_file(ptx));
  const fs::path folder = fs::path(ptx).parent_path();
  std::map<int, std::string> uris;  // by number of .file
  for (const auto& [number, file] : module.files) uris[number] = review_uri(source_path(file, folder));
  const auto visit = [&](const auto& self, const std::vector<ptx::Statement>& body) -> void {
    for (const ptx::Statement& s : body) {
      self(self, s.body);
      if (s.kind != ptx::Statement::Kind::instruction || s.instruction.source.line < 1) continue;
      if (const auto at = uris.find(s.instruction.source.file); at != uris.end())
        places_[s.instruction.at.line] = {at->second, s.instruction.source.line};
    }
  };
  for (const ptx::Function& f : module.functions) visit(visit, f.body);
}

ReviewPlace ReviewPlaces::of(int ptx_line) const {
  const auto at = places_.find(ptx_line);
  return at == places_.end() ? ReviewPlace{ptx_, std::max(ptx_line, 1)} : at->second;
}

}  // namespace bitwell::cli
