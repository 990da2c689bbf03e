// A list of findings that is put together of several, each of a part of the accesses, is that of all of them
// in order.
#include "model/hazard/finding_list.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/hazard/checker.h"

namespace bitwell::hazard {
namespace {

Party party_at(int line, int lane) {
  Party out;
  out.site.ptx_line = line;
  out.lane = lane;
  return out;
}

// An access, and what is found of it: nothing where the line is 0.
struct Find {
  int line = 0, later = 0;
  bool race = false;
  uint32_t launches_before = 0;
  std::string where, object;
};

void tell(FindingList& list, const Find& s, int number) {
  list.next_access();
  if (s.line == 0) return;
  Finding& f =
      list.add(s.race ? Kind::race : Kind::scope, party_at(s.line, number), party_at(s.later, number),
               1000u + static_cast<uint64_t>(number), 4, s.launches_before);
  if (!s.where.empty()) f.where = s.where;
  if (!s.object.empty()) f.object.name = s.object;
}

std::string list_text(const FindingList& list) {
  std::string out = std::to_string(list.accesses()) + " accesses\n";
  for (const Finding& f : list.all()) {
    out += std::string(row_of(f.kind).name) + " " + std::to_string(f.earlier.site.ptx_line) + " " +
           std::to_string(f.later.site.ptx_line) + " " + std::to_string(f.launches_before) + " at " +
           std::to_string(f.address) + ", " + std::to_string(f.count) + " times, " + f.where + "," +
           f.object.name + ":";
    for (const Finding::Met& m : f.met)
      out += " " + std::to_string(m.access) + "/" + std::to_string(m.address) + "/" +
             std::to_string(m.earlier.lane) + "/" + std::to_string(m.later.lane);
    out += "\n";
  }
  return out;
}

Find drawn_find() {
  const auto below = [](int n) { return *rc::gen::inRange(0, n); };
  Find out;
  out.line = below(4);
  out.later = 10 + below(2);
  out.race = below(2) != 0;
  out.launches_before = static_cast<uint32_t>(below(2));
  if (below(2) != 0) out.where = "register " + std::to_string(below(9));
  if (below(2) != 0) out.object = "object " + std::to_string(below(9));
  return out;
}

RC_GTEST_PROP(FindingLists, PartsBehindEachOtherAreOneList, ()) {
  const auto most = static_cast<size_t>(*rc::gen::inRange(0, 5));
  FindingList one, all;
  one.keep(most, true);
  all.keep(most, true);
  int number = 0;
  for (int parts = *rc::gen::inRange(1, 5); parts > 0; --parts) {
    FindingList part;
    part.keep(most, true);
    for (int steps = *rc::gen::inRange(0, 12); steps > 0; --steps, ++number) {
      const Find s = drawn_find();
      tell(one, s, number);
      tell(part, s, number);
    }
    all.add(part.all(), part.accesses());
    RC_ASSERT(list_text(all) == list_text(one));
  }
}

// Two parts by hand: the same pair of lines in both, and one in the second alone.
TEST(FindingLists, WhatTheSecondPartHas) {
  FindingList first, second;
  first.keep(2, true);
  second.keep(2, true);
  tell(first, Find(), 0);
  tell(first, {7, 11, true, 0, "barrier 1", "tile"}, 1);
  tell(second, {7, 11, true, 0, "", "full"}, 2);
  tell(second, {9, 11, true, 0, "", ""}, 3);
  tell(second, {7, 11, true, 0, "", ""}, 4);
  FindingList all;
  all.keep(2, true);
  all.add(first.all(), first.accesses());
  all.add(second.all(), second.accesses());
  EXPECT_EQ(list_text(all),
            "5 accesses\n"
            "race 7 11 0 at 1001, 3 times, barrier 1,full: 2/1001/1/1 3/1002/2/2\n"
            "race 9 11 0 at 1003, 1 times, ,: 4/1003/3/3\n");
}

// What was found of one piece comes of others behind it: as if it had been added there.
TEST(FindingLists, WhatComesOnceMoreBehind) {
  for (size_t most = 0; most < 6; ++most)
    for (const bool notes : {false, true}) {
      FindingList again, each;
      for (FindingList* list : {&again, &each}) {
        list->keep(most, notes);
        list->next_access();
        const auto find = [&](uint64_t offset) {
          list->add(Kind::race, party_at(3, 0), party_at(7, 1), 64 + offset, 4);
          list->add(Kind::race, party_at(3, 2), party_at(7, 1), 64 + offset, 4);
          list->add(Kind::equal_stores, party_at(4, 0), party_at(7, 1), 64 + offset, 4);
        };
        find(0);
        for (const uint64_t offset : {16, 48}) {
          list->pass(offset);
          if (list == &each) {
            find(offset);
            continue;
          }
          const auto kept = [&] { return list->all()[0].met.size() + list->all()[1].met.size(); };
          const size_t before = kept();
          list->repeat_at(offset);
          EXPECT_EQ(list->marked().counted, kept() == before);
        }
      }
      EXPECT_EQ(list_text(again), list_text(each));
    }
}

// Of that some may have been added as what was found before: each finding's last pair is still its own.
TEST(FindingLists, WhatWasAddedAgainComesOnceMoreBehind) {
  for (size_t most = 1; most < 6; ++most) {
    FindingList again, each;
    for (FindingList* list : {&again, &each}) {
      list->keep(most, false);
      list->next_access();
      list->add(Kind::equal_stores, party_at(4, 0), party_at(7, 1), 64, 4);
      const std::vector<size_t> first{0};
      const auto find = [&](uint64_t offset) {
        list->add_again(first);
        list->add(Kind::race, party_at(3, 0), party_at(7, 1), 64 + offset, 4);
      };
      list->next_access();
      list->mark();
      find(0);
      for (const uint64_t offset : {16, 48}) {
        list->pass(offset);
        list == &each ? find(offset) : list->repeat_at(offset);
      }
    }
    EXPECT_EQ(list_text(again), list_text(each));
  }
}

// Of several pieces all cells at once, as one by one; or none are to come so, where there is not room for all
// or a finding is there twice.
TEST(FindingLists, PiecesComeAtOnceAsOneByOne) {
  size_t at_once = 0, otherwise = 0;
  for (size_t most = 0; most < 20; ++most)
    for (const bool notes : {false, true})
      for (const size_t cells : {1u, 3u})
        for (const size_t count : {1u, 2u, 4u})
          for (const bool twice : {false, true}) {
            FindingList lists[2];
            for (FindingList& list : lists) {
              list.keep(most, notes);
              list.next_access();
              list.add(Kind::race, party_at(3, 0), party_at(7, 1), 64, 16);
              list.add(twice ? Kind::race : Kind::scope, party_at(3, 0), party_at(7, 2), 64, 16);
              list.add(Kind::equal_stores, party_at(4, 0), party_at(7, 1), 64, 16);
              const FindingList::Marked found = list.marked();
              if (&list == &lists[1] && list.each_may_come({&found, 1}, count * cells)) {
                list.repeat_pieces(found, {count, 5, 256, cells, 16});
                list.pass(5 * count);
                ++at_once;
              } else {
                otherwise += &list == &lists[1] ? 1 : 0;
                for (size_t piece = 1; piece <= count; ++piece) {
                  list.pass(5);
                  for (size_t cell = 0; cell < cells; ++cell) list.repeat_at(256 * piece + 16 * cell);
                }
              }
              list.repeat_at(256 * count + 16 * cells);  // where the last piece's next cell would be
            }
            EXPECT_EQ(list_text(lists[0]), list_text(lists[1])) << most << " " << cells << " " << count;
            for (size_t fewer = 0; fewer < most; ++fewer) {
              FindingList cut[2];
              for (size_t i = 0; i < 2; ++i) {
                cut[i].keep(fewer, notes);
                cut[i].next_access();
                cut[i].add(lists[i].all(), lists[i].accesses());
              }
              EXPECT_EQ(list_text(cut[0]), list_text(cut[1]));
            }
          }
  EXPECT_GT(at_once, 100u);
  EXPECT_GT(otherwise, 100u);
}

// Of all findings together a quarter of a million pairs are kept, and 4,096 of each whatever others have.
TEST(FindingLists, AsManyPairsAreKeptAsThereIsRoomFor) {
  const auto several = [](FindingList& list, int line, size_t times) {
    for (size_t i = 0; i < times; ++i) list.add(Kind::race, party_at(line, 0), party_at(line + 1, 0), 64, 4);
  };
  FindingList one, behind;
  one.keep(FindingList::kMostMet + 10, true);
  behind.keep(FindingList::kMostMet + 10, true);
  several(one, 1, 4095);
  several(one, 3, FindingList::kMostMet - 4095);  // all that there is room for
  behind.add(one.all(), 0);
  for (FindingList* const list : {&one, &behind}) {
    several(*list, 3, 1);
    several(*list, 1, 2);
    several(*list, 5, 5000);
    ASSERT_EQ(list->size(), 3u);
    EXPECT_EQ((*list)[0].met.size(), 4096u);
    EXPECT_EQ((*list)[1].met.size(), FindingList::kMostMet - 4095);
    EXPECT_EQ((*list)[2].met.size(), 4096u);
    EXPECT_EQ((*list)[2].count, 5000u);
  }
}

// What is added so often at one access, told once and repeated where the list can do that.
void several_times(FindingList& list, const std::vector<std::pair<Kind, int>>& which, uint64_t times) {
  const auto add = [&] {
    list.mark();
    for (const auto& [kind, line] : which) list.add(kind, party_at(line, 0), party_at(line + 1, 0), 64, 4);
  };
  for (add(); times > 1; --times) {
    if (list.repeat(times - 1)) return;
    add();
  }
}

// Pairs of notes are not kept where nobody asks for them: all else is what it is where they are.
void expect_errors_alike(const FindingList& with, const FindingList& without) {
  ASSERT_EQ(with.all().size(), without.all().size());
  for (size_t i = 0; i < with.all().size(); ++i) {
    const Finding &a = with.all()[i], &b = without.all()[i];
    EXPECT_EQ(a.count, b.count);
    EXPECT_EQ(b.met.size(), a.kind == Kind::race ? a.met.size() : 0);
    for (size_t j = 0; j < std::min(a.met.size(), b.met.size()); ++j)
      EXPECT_EQ(a.met[j].access, b.met[j].access);
  }
}

RC_GTEST_PROP(FindingLists, ErrorsAreKeptAlikeWithoutPairsOfNotes, ()) {
  const auto most = static_cast<size_t>(*rc::gen::inRange(0, 9));
  FindingList with, without;
  with.keep(most, true);
  without.keep(most, false);
  for (int parts = *rc::gen::inRange(1, 4); parts > 0; --parts) {
    FindingList one, other;
    one.keep_as(with);
    other.keep_as(without);
    for (int steps = *rc::gen::inRange(0, 6); steps > 0; --steps) {
      std::vector<std::pair<Kind, int>> which;
      for (int n = *rc::gen::inRange(1, 4); n > 0; --n)
        which.emplace_back(*rc::gen::arbitrary<bool>() ? Kind::race : Kind::lockstep,
                           *rc::gen::inRange(1, 3));
      const auto times = static_cast<uint64_t>(*rc::gen::inRange(1, 7));
      for (FindingList* const list : {&one, &other}) {
        list->next_access();
        several_times(*list, which, times);
      }
    }
    with.add(one.taken(), one.accesses());
    without.add(other.taken(), other.accesses());
    expect_errors_alike(with, without);
  }
}

// Notes take no room from errors, kept or not.
TEST(FindingLists, AsManyErrorsAreKeptAsBesideNotes) {
  FindingList with, without;
  with.keep(FindingList::kMostMet + 10, true);
  without.keep(FindingList::kMostMet + 10, false);
  for (FindingList* const list : {&with, &without}) {
    several_times(*list, {{Kind::lockstep, 1}}, FindingList::kMostMet - 4500);
    several_times(*list, {{Kind::race, 1}, {Kind::lockstep, 3}}, 5000);
    EXPECT_EQ((*list)[1].met.size(), 5000u);
  }
  EXPECT_EQ(with[0].met.size(), FindingList::kMostMet - 4500);
  EXPECT_EQ(with[2].met.size(), 4500u);
  expect_errors_alike(with, without);
}

// Pairs at even distances, and others, are those that came, in their order; copies stay as they were.
RC_GTEST_PROP(MetLists, HoldWhatCame, ()) {
  const auto below = [](int n) { return *rc::gen::inRange(0, n); };
  std::vector<Met> all;
  MetList list;
  for (int runs = below(5); runs > 0; --runs) {
    Met next{static_cast<uint64_t>(below(3)), static_cast<uint64_t>(below(3)),
             4u + static_cast<unsigned>(below(2)), party_at(below(2), below(3)), party_at(3, below(3) - 1)};
    const uint64_t access = static_cast<uint64_t>(below(3)), address = static_cast<uint64_t>(below(3)) - 1;
    const int earlier = below(3) - 1, later = below(3) - 1;
    for (int n = below(5); n > 0; --n) {
      all.push_back(next);
      list.push_back(next);
      next.access += access;
      next.address += address;
      next.earlier.lane += earlier;
      next.later.lane += later;
    }
  }
  const auto expect = [](const MetList& now, const std::vector<Met>& those) {
    RC_ASSERT(now.size() == those.size());
    RC_ASSERT(now.empty() == those.empty());
    size_t i = 0;
    for (const Met& met : now) {
      RC_ASSERT(met == those[i]);
      RC_ASSERT(now[i] == those[i]);
      ++i;
    }
    RC_ASSERT(i == those.size());
    if (i != 0) RC_ASSERT(now.front() == those.front());
  };
  expect(list, all);
  const MetList before = list;
  std::vector<Met> cut = all;
  const auto most = static_cast<size_t>(below(8));
  list.cut_and_shift(most, 7);
  cut.resize(std::min(most, cut.size()));
  for (Met& met : cut) met.access += 7;
  expect(list, cut);
  for (int n = below(3); n > 0; --n) {
    cut.push_back({1, 2, 4, party_at(1, 2), party_at(3, 4)});
    list.push_back(cut.back());
  }
  expect(list, cut);
  expect(before, all);
}

// What clusters cost one after the other is what the largest one did.
TEST(FindingLists, TheCostIsOfTheLargestCluster) {
  Checker all({8, 1, 1}, {1, 1, 1});
  for (const size_t shadow : {5u, 9u, 3u, 9u, 1u}) {
    Checker::OfCluster one;
    one.cost = {shadow, 10 * shadow};
    all.add(std::move(one));
  }
  EXPECT_EQ(all.cost().shadow, 9u);
  EXPECT_EQ(all.cost().touched, 90u);
}

}  // namespace
}  // namespace bitwell::hazard
