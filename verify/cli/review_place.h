// Where code review shows a PTX line: in the CUDA file that it comes from, or else in the PTX file.
#pragma once
#include <map>
#include <string>

namespace bitwell::cli {

struct ReviewPlace {
  std::string
      uri;  // RFC 3986: relative to the working directory where the file is below it, else file:///...
  int line = 1;
};

class ReviewPlaces {
 public:
  // Of a PTX file, its lines by their .loc and .file. InputError and ptx::SyntaxError as for a launch of it.
  explicit ReviewPlaces(const std::string& ptx);

  ReviewPlace of(int ptx_line) const;

 private:
  std::string ptx_;  // as a URI
  std::map<int, ReviewPlace> places_;
};

// A path as such a URI; a relative path is one from the working directory.
std::string review_uri(const std::string& path);

}  // namespace bitwell::cli
