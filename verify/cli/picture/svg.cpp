#include "verify/cli/picture/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "verify/cli/report/xml.h"

namespace bitwell::cli {

void Svg::reach(double x, double y) {
  width_ = std::max(width_, x);
  height_ = std::max(height_, y);
}

void Svg::box(double x, double y, double width, double height, const std::string& colour,
              const std::string& hover, const std::string& stroke) {
  body_ += fmt::format(
      R"(<rect x="{:g}" y="{:g}" width="{:g}" height="{:g}" fill="{}" stroke="{}" stroke-width="0.6")", x, y,
      width, height, colour, stroke);
  body_ += hover.empty() ? "/>\n" : "><title>" + xml_escaped(hover) + "</title></rect>\n";
  reach(x + width, y + height);
}

void Svg::text(double x, double y, const std::string& content, double size, const std::string& anchor,
               const std::string& colour, bool bold) {
  body_ += fmt::format(
      R"(<text x="{:g}" y="{:g}" font-size="{:g}" text-anchor="{}" dy=".35em" fill="{}"{}>{}</text>)", x, y,
      size, anchor, colour, bold ? R"( font-weight="bold")" : "", xml_escaped(content));
  body_ += '\n';
  const double half = 0.62 * size * static_cast<double>(content.size());
  reach(x + (anchor == "start" ? half : anchor == "middle" ? half / 2 : 0), y + size / 2);
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& colour, bool dashed) {
  body_ += fmt::format(R"(<line x1="{:g}" y1="{:g}" x2="{:g}" y2="{:g}" stroke="{}" stroke-width="1.5"{}/>)",
                       x1, y1, x2, y2, colour, dashed ? R"( stroke-dasharray="5,4")" : "");
  body_ += '\n';
  reach(std::max(x1, x2), std::max(y1, y2));
}

std::string Svg::document() const {
  const double w = width_ + 20;
  const double h = height_ + 20;
  return fmt::format(
             R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:g}" height="{1:g}" viewBox="0 0 {0:g} {1:g}" font-family="Helvetica, Arial, sans-serif">)"
             "\n"
             R"(<rect width="{0:g}" height="{1:g}" fill="#ffffff"/>)"
             "\n<g pointer-events=\"all\">\n",
             w, h) +
         body_ + "</g>\n<style>text{pointer-events:none}</style>\n</svg>\n";
}

std::string tint(int hue, int step) {
  // Okabe and Ito's colours, lightened.
  static constexpr std::array<std::array<int, 3>, 8> base{{{155, 205, 240},
                                                           {250, 205, 120},
                                                           {130, 210, 180},
                                                           {240, 230, 130},
                                                           {235, 170, 120},
                                                           {220, 175, 205},
                                                           {170, 185, 230},
                                                           {205, 205, 205}}};
  const auto& c = base[static_cast<size_t>(hue) % base.size()];
  const double dark = 1 - 0.06 * (step % 4);  // black text stays readable: contrast 5.9 at least
  return fmt::format("#{:02x}{:02x}{:02x}", static_cast<int>(c[0] * dark), static_cast<int>(c[1] * dark),
                     static_cast<int>(c[2] * dark));
}

}  // namespace bitwell::cli
