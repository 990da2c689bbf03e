// A table of pages against a map: whatever numbers come, and however many share a place.
#include "model/hazard/shadow/page_table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace bitwell::hazard {
namespace {

struct Named {
  uint64_t name = 0;
};

// Pages of one buffer, of one column of a matrix, or anywhere.
rc::Gen<std::vector<uint64_t>> numbers_of_pages() {
  return rc::gen::mapcat(rc::gen::element<uint64_t>(1, 64, 4096, uint64_t{1} << 40), [](uint64_t apart) {
    return rc::gen::container<std::vector<uint64_t>>(
        rc::gen::map(rc::gen::inRange<uint64_t>(0, 3000), [apart](uint64_t i) { return i * apart; }));
  });
}

RC_GTEST_PROP(PageTable, HasWhatAMapHas, ()) {
  PageTable<Named> table;
  std::map<uint64_t, Named*> all;
  for (const uint64_t number : *numbers_of_pages()) {
    RC_ASSERT(table.find(number) == (all.contains(number) ? all[number] : nullptr));
    if (all.contains(number)) continue;
    Named& page = table.add(number);
    page.name = number;
    all[number] = &page;  // where it stays
  }
  RC_ASSERT(table.size() == all.size());
  for (const auto& [number, page] : all) {
    RC_ASSERT(table.find(number) == page);
    RC_ASSERT(page->name == number);
  }
  size_t seen = 0;
  table.each([&](const Named&) { ++seen; });
  RC_ASSERT(seen == all.size());
}

// Every number of a small table's last place, and behind it: entries go on at the front.
TEST(PageTable, GoesOnAtItsFront) {
  PageTable<Named> table;
  std::vector<uint64_t> last;
  for (uint64_t number = 0; last.size() < 4; ++number)
    if (number * 0x9E3779B97F4A7C15 >> 61 == 7) last.push_back(number);
  for (const uint64_t number : last) table.add(number).name = number;
  for (const uint64_t number : last) {
    ASSERT_NE(table.find(number), nullptr) << number;
    EXPECT_EQ(table.find(number)->name, number);
  }
}

}  // namespace
}  // namespace bitwell::hazard
