#include "model/budget/search.h"

namespace bitwell::budget {
namespace {

bool beats(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  bool higher = false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] < b[i]) return false;
    higher = higher || a[i] > b[i];
  }
  return higher;
}

}  // namespace

SearchResult search(const Spec& spec, const Names& overrides) {
  if (spec.search.empty())
    throw BudgetError("'" + spec.name + "' has no \"search\": the names to vary, each with its choices");
  SearchResult out;
  size_t choices = 1;
  for (const auto& [name, list] : spec.search) {
    choices *= list.size();
    if (choices > kMostChoices)
      throw BudgetError("\"search\" asks for more than " + std::to_string(kMostChoices) + " choices");
  }
  std::vector<size_t> at(spec.search.size());
  for (bool more = true; more;) {
    Choice choice;
    for (size_t i = 0; i < at.size(); ++i) choice.chosen[spec.search[i].first] = spec.search[i].second[at[i]];
    ++out.tried;
    Names all = overrides;
    for (const auto& [name, value] : choice.chosen) all[name] = value;
    Names names = names_of(spec, all);
    bool legal = evaluate(spec.legal, names) != 0;
    if (legal) {
      try {
        choice.fit = audit(spec, all).laid_out;
      } catch (const LayoutRefused&) {
        legal = false;  // a layout that no hardware has
      }
    }
    if (!legal) {
      ++out.illegal;
    } else if (choice.fit.fits) {
      names["stages"] = choice.fit.stages;
      names["epilogue_stages"] = choice.fit.epilogue_stages;
      names["used"] = choice.fit.used;
      names["columns"] = choice.fit.columns;
      for (const auto& [label, formula] : spec.maximise) choice.scores.push_back(evaluate(formula, names));
      out.fitting.push_back(std::move(choice));
    }
    more = false;
    for (size_t i = 0; i < at.size() && !more; ++i) {
      more = ++at[i] < spec.search[i].second.size();
      if (!more) at[i] = 0;
    }
  }
  for (Choice& c : out.fitting) {
    c.front = true;
    for (const Choice& other : out.fitting) c.front = c.front && !beats(other.scores, c.scores);
  }
  return out;
}

}  // namespace bitwell::budget
