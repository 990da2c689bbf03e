#include "verify/cli/picture/time_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "verify/cli/picture/svg.h"
#include "verify/cli/report/trace.h"

namespace bitwell::cli {

namespace {

// "mbarrier 'ring' + 8 (shared address 1032 of CTA rank 0)": what stands beside its row, which has room for
// so much.
std::string barrier_label(const std::string& name) {
  constexpr std::string_view kKind = "mbarrier ";
  constexpr size_t kLabel = 34;
  std::string out = name.substr(0, name.find(" ("));
  if (out.rfind(kKind, 0) == 0) out = out.substr(kKind.size());
  // The end of a long name says more than its beginning.
  return out.size() <= kLabel ? out : "..." + out.substr(out.size() - kLabel + 3);
}

// 1, 2 or 5 times a power of ten, so that the length has at most so many of them.
double round_step(double length, int most) {
  const double least = length / most, power = std::pow(10, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0})
    if (times * power >= least) return times * power;
  return 10 * power;
}

}  // namespace

TimePicture::TimePicture(const isa::Program& program) {
  for (const isa::Function& f : program.functions)
    for (const isa::Line& l : f.lines) kinds_.emplace(l.ptx, operation_kind(l.text));
}

machine::Observer TimePicture::observer(std::function<double()> now) {
  now_ = std::move(now);
  return {[this](const machine::Event& event) {
    const auto of = [&](const std::array<uint32_t, 3>& cta) {
      if (!cta_) {
        cta_ = cta;
        begin_ = now_();
      }
      if (cta != *cta_) return false;
      end_ = std::max(end_, now_());
      return true;
    };
    if (const auto* turn = std::get_if<machine::Turn>(&event.what)) {
      of(turn->cta);
    } else if (const auto* over = std::get_if<machine::PhaseOver>(&event.what)) {
      if (of(over->cta)) phases_[over->barrier].push_back(now_());
    } else if (const auto* step = std::get_if<machine::OperationStep>(&event.what)) {
      using Kind = machine::OperationStep::Kind;
      if (!of(step->cta) || step->kind == Kind::moved) return;
      const auto known = kinds_.find(step->ptx_line);
      under_way_[known == kinds_.end() ? "operations" : known->second].push_back(
          {now_(), step->kind == Kind::issued ? 1 : -1});
    }
  }};
}

std::string TimePicture::document(const std::string& title) const {
  Svg svg;
  constexpr double kLeft = 210, kWidth = 1000, kHeight = 60, kRow = 14, kText = 12;
  constexpr size_t kMostBarriers = 32;
  const double length = std::max(end_ - begin_, 1e-9);
  const auto x_of = [&](double at) { return kLeft + kWidth * std::clamp((at - begin_) / length, 0.0, 1.0); };
  double y = 20;
  svg.text(10, y, title, 16, "start", "#1a1a1a", true);
  y += 22;
  svg.text(10, y, "A model, not a measurement. One CTA: operations under way, and ends of barriers' phases.",
           kText);
  y += 24;
  int hue = 0;
  for (const auto& [kind, events] : under_way_) {
    // The most in each pixel: what is told need not come in the order of time.
    std::vector<Change> changes = events;
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return a.at < b.at; });
    std::vector<int> most(static_cast<size_t>(kWidth) + 1);
    int count = 0, highest = 1;
    size_t pixel = 0;
    for (const Change& c : changes) {
      const auto to = static_cast<size_t>(x_of(c.at) - kLeft);
      for (++pixel; pixel < to; ++pixel) most[pixel] = count;
      count = std::max(0, count + c.by);
      most[to] = std::max(most[to], count);
      pixel = to;
      highest = std::max(highest, count);
    }
    svg.box(kLeft, y, kWidth, kHeight, "#f7f7f7", "", "#cccccc");
    const double scale = kHeight / highest;
    for (size_t from = 0; from < most.size();) {
      size_t to = from + 1;
      while (to < most.size() && most[to] == most[from]) ++to;
      const double height = scale * most[from];
      if (most[from] > 0)
        svg.box(kLeft + static_cast<double>(from), y + kHeight - height, static_cast<double>(to - from),
                height, tint(hue, 1), fmt::format("{} {} under way", most[from], kind), "none");
      from = to;
    }
    svg.text(10, y + kHeight / 2, kind, kText);
    svg.text(kLeft - 8, y + kText / 2, fmt::format("{}", highest), kText, "end");
    svg.text(kLeft - 8, y + kHeight - kText / 2, "0", kText, "end");
    y += kHeight + 8;
    hue = (hue + 1) % 8;
  }
  size_t barriers = 0;
  for (const auto& [name, ends] : phases_) {
    if (++barriers > kMostBarriers) continue;
    svg.text(10, y + kRow / 2, barrier_label(name), 10);
    svg.line(kLeft, y + kRow, kLeft + kWidth, y + kRow, "#dddddd");
    int last = -1;
    for (const double at : ends) {
      const double x = x_of(at);
      if (static_cast<int>(x) == last) continue;
      last = static_cast<int>(x);
      svg.line(x, y + 2, x, y + kRow, "#1a1a1a");
    }
    y += kRow;
  }
  if (barriers > kMostBarriers) {
    svg.text(10, y + kRow / 2, fmt::format("and {} barriers more", barriers - kMostBarriers), 10);
    y += kRow;
  }
  if (under_way_.empty() && phases_.empty()) {
    svg.text(kLeft, y, "Nothing was under way beside the warps: no copies, products or barriers.", kText);
    y += kRow;
  }
  y += 10;
  constexpr int kTicks = 10;
  svg.line(kLeft, y, kLeft + kWidth, y, "#1a1a1a");
  const double step = round_step(length, kTicks);
  for (double tick = std::ceil(begin_ / step); tick * step <= begin_ + length; ++tick) {
    const double at = tick * step;
    svg.line(x_of(at), y, x_of(at), y + 5, "#1a1a1a");
    svg.text(x_of(at), y + 14, fmt::format("{:.4g}", at), 11, "middle");
  }
  svg.text(kLeft + kWidth / 2, y + 32, "us of the model", kText, "middle");
  return svg.document();
}

}  // namespace bitwell::cli
