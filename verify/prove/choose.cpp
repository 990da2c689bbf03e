#include "verify/prove/choose.h"

#include <algorithm>
#include <set>

#include "model/machine/failure.h"

namespace bitwell::prove {

std::vector<Part> chosen(std::vector<Part> all, const std::vector<std::string>& names) {
  std::string known;
  for (const Part& p : all)
    if (known.find("'" + p.name + "'") == std::string::npos)
      known += (known.empty() ? "'" : ", '") + p.name + "'";
  for (const std::string& name : names)
    if (std::none_of(all.begin(), all.end(), [&](const Part& p) { return p.name == name; }))
      throw machine::InputError("--part: no part '" + name + "'; there are " + known);
  std::erase_if(all, [&](const Part& p) {
    return !names.empty() && std::find(names.begin(), names.end(), p.name) == names.end();
  });
  return all;
}

std::map<std::string, std::string> texts_of(const std::vector<Part>& parts) {
  std::map<std::string, std::string> texts;
  std::set<const isa::Module*> seen;
  std::vector<SharedText> kept;  // whose addresses are seen
  for (const Part& part : parts) {
    if (part.name == "kernels") continue;  // share/bitwell/kernels has them
    for (const Question& q : part.questions())
      for (const Trial& t : q.trials())
        for (const SharedText& text : t.texts) {
          if (!seen.insert(text.get()).second) continue;
          kept.push_back(text);
          std::string name = part.name + "-" + std::to_string(texts.size()) + "." + part.target + ".ptx";
          std::replace(name.begin(), name.end(), ' ', '-');
          texts.emplace(std::move(name), text->text());
        }
  }
  return texts;
}

bool all_hold(const std::vector<Reply>& replies) {
  return std::all_of(replies.begin(), replies.end(), [](const Reply& r) {
    return r.kind == Reply::Kind::agrees || r.kind == Reply::Kind::left_open;
  });
}

}  // namespace bitwell::prove
