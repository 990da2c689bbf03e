// The cheapest order of summation that holds for a shape, a data family and a tolerance.
#pragma once
#include <string>
#include <vector>

#include "experiments/study/accumulate.h"

namespace bitwell::study {

struct Question {
  int m = 7168, k = 16384, l = 1;  // c[m, l]; k a multiple of 16, at most 2^20
  std::string family = "problem";
  std::vector<std::string> orders;  // names; empty: all
  bool tensor_cores = false;        // those of tensor cores too
  Tolerance tolerance;
  double confidence = 0.99;
  int problems = 4;  // whole problems tried, m * l outputs each, rounded up to 16 columns
  uint64_t seed = 1;
};
struct Answer {
  std::string order, about;
  int cost = 0;
  uint64_t outputs = 0, outside = 0;
  double most_failing =
      0;             // share of outputs outside, at most, with the confidence (Clopper and Pearson 1934)
  double worst = 0;  // largest |got - want| / (absolute + relative |want|)
  std::string why;   // for one that fails: what goes wrong first in its first failing output
};
// Its pieces are 512 rows of c each, rows of the result an order of summation: by cost, then as orders() has
// them. Throws machine::InputError for a question that is none.
Study recommend_study(const Question& q);
// By the rows of such pieces, all or some.
std::vector<Answer> answers(const Question& q, const Rows& rows);
// The first that has no output outside, or nullptr.
const Answer* cheapest(const std::vector<Answer>& answers);

}  // namespace bitwell::study
