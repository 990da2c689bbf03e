// Standalone SVG documents: boxes with text that say more when hovered over.
#pragma once
#include <string>

namespace bitwell::cli {

class Svg {
 public:
  // x, y, width and height in pixels; `colour` in CSS terms. An empty hover text makes none.
  void box(double x, double y, double width, double height, const std::string& colour,
           const std::string& hover = "", const std::string& stroke = "#ffffff");
  // Anchored at its middle ("middle"), start or end; size in pixels.
  void text(double x, double y, const std::string& content, double size, const std::string& anchor = "start",
            const std::string& colour = "#1a1a1a", bool bold = false);
  void line(double x1, double y1, double x2, double y2, const std::string& colour, bool dashed = false);

  // The document: as large as what was drawn, on white, so that it reads on dark screens and on paper.
  std::string document() const;

 private:
  void reach(double x, double y);
  std::string body_;
  double width_ = 0;
  double height_ = 0;
};

// One of 8 tints that black text is readable on, told apart also by the colour-blind; `step` 0 to 3 darkens.
std::string tint(int hue, int step = 0);

}  // namespace bitwell::cli
