#include "model/isa/compile/module.h"

#include <algorithm>

#include "model/isa/compile/module_layout.h"
#include "model/machine/failure.h"
#include "model/ptx/parse.h"
#include "model/ptx/reach.h"

namespace bitwell::isa {
namespace {

bool has_place(const ptx::Variable& v) { return v.space == ".global" || v.space == ".const"; }

bool at_first_place(const machine::ModulePlace& place) {
  const machine::ModulePlace first;
  return place.globals == first.globals && place.constants == first.constants;
}

std::shared_ptr<const Program> compiled(const ptx::Module& syntax, const std::string& entry,
                                        Approximate approximate, const machine::ModulePlace& place) {
  return std::make_shared<const Program>(compile(syntax, entry, approximate, place));
}

}  // namespace

Module::Module(std::string text, std::string path) : text_(std::move(text)), path_(std::move(path)) {}

Module::Module(std::shared_ptr<const Program> program, std::shared_ptr<const Module> rest)
    : ready_(std::move(program)), rest_(std::move(rest)) {
  entries_ = {ready_->functions[static_cast<size_t>(ready_->entry)].name};
}

const std::vector<std::string>& Module::entries() const {
  if (rest_ != nullptr) return rest_->entries();
  const std::scoped_lock lock(mutex_);
  if (!entries_) entries_ = ptx::entry_names(text_);
  return *entries_;
}

const ptx::Module& Module::heads() const {
  if (rest_ != nullptr) return rest_->heads();
  const std::scoped_lock lock(mutex_);
  if (!heads_) heads_ = naming(path_, [&] { return ptx::parse(ptx::without_bodies(text_)); });
  return *heads_;
}

// With the lock.
const ptx::Module& Module::parsed(const std::string& entry) const {
  const auto at = syntax_.find(entry);
  if (at != syntax_.end()) return at->second;
  // A text of which many entries are asked for is read as a whole, if it can be.
  constexpr size_t kMany = 4;
  if (const auto whole = syntax_.find(""); whole != syntax_.end()) return whole->second;
  if (syntax_.size() == kMany) {
    try {
      return syntax_.emplace("", ptx::parse(text_)).first->second;
    } catch (const ptx::SyntaxError&) {  // in what these entries do not come to
    }
  }
  return syntax_.emplace(entry, ptx::parse(entry.empty() ? text_ : ptx::reached_from(text_, entry)))
      .first->second;
}

const ptx::Module& Module::syntax(const std::string& entry) const {
  if (rest_ != nullptr) return rest_->syntax(entry);
  const std::scoped_lock lock(mutex_);
  return naming(path_, [&]() -> const ptx::Module& { return parsed(entry); });
}

std::shared_ptr<const Program> Module::keep(const Key& key, std::shared_ptr<const Program> program) const {
  constexpr size_t kMost = 64;
  if (kept_.size() == kMost) {
    programs_.erase(kept_.front());
    kept_.pop_front();
  }
  kept_.push_back(key);
  return programs_[key] = std::move(program);
}

std::shared_ptr<const Program> Module::program(const std::string& entry, Approximate approximate,
                                               const machine::ModulePlace& place) const {
  if (ready_ != nullptr) {
    if (!ready_->globals.empty() && !at_first_place(place))
      throw machine::ModelBug("the variables of a program that is compiled already are elsewhere");
    if (entry == entries_->front()) return ready_;
    if (rest_ != nullptr) return rest_->program(entry, approximate, place);
    throw machine::InputError("no entry '" + entry + "', it has '" + entries_->front() + "' alone");
  }
  const std::scoped_lock lock(mutex_);
  return naming(path_, [&] {
    const Key key{entry, approximate, place.globals, place.constants};
    if (const auto at = programs_.find(key); at != programs_.end()) return at->second;
    const ptx::Module& syntax = parsed(entry);
    if (std::any_of(syntax.variables.begin(), syntax.variables.end(), has_place))
      return keep(key, compiled(syntax, entry, approximate, place));
    const machine::ModulePlace any;
    const Key anywhere{entry, approximate, any.globals, any.constants};
    const auto at = programs_.find(anywhere);
    if (at != programs_.end()) return at->second;
    return keep(anywhere, compiled(syntax, entry, approximate, any));
  });
}

std::vector<GlobalVariable> Module::variables(const machine::ModulePlace& place) const {
  if (ready_ != nullptr) return ready_->globals;
  const ptx::Module& of = heads();
  return naming(path_, [&] { return ModuleLayout(of, "", place).globals(); });
}

}  // namespace bitwell::isa
