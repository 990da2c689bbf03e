// Any text as a layout expression -> a value that reads back from its own text, or LayoutError.
#include "model/layout/expression.h"
#include "verify/fuzz/outcome.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace layout = bitwell::layout;
  constexpr int64_t kMost = 256;  // coordinates and offsets that are listed
  const std::string text = bitwell::fuzz::text_of(data, size);
  bitwell::fuzz::outcome<layout::LayoutError>([&] {
    const layout::Value value = layout::evaluate(text);
    const auto* composed = std::get_if<layout::Composed>(&value);
    if (composed == nullptr) return;
    const std::string shown = layout::to_string(*composed);
    std::string why;
    std::string again;
    try {
      again = layout::to_string(layout::parse_composed(shown));
    } catch (const layout::LayoutError& e) {
      why = e.what();
    }
    bitwell::fuzz::require(why.empty() && again == shown, shown + " reads back as " + again + why);
    const int64_t size_of = layout::size(composed->layout);
    if (size_of > kMost || layout::cosize(composed->layout) > kMost) return;
    for (int64_t i = 0; i < size_of; ++i) composed->layout(composed->layout.coordinate(i));
    layout::collision(composed->layout);
  });
  bitwell::fuzz::outcome<layout::LayoutError>([&] { layout::parse_coordinate(text); });
  return 0;
}
