// A PTX text that is read once: its syntax, its variables, its entries' programs. Contexts place it in their
// memory (model/isa/context/context.h), however many and however often.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/isa/compile/compile.h"
#include "model/machine/failure.h"
#include "model/ptx/token.h"

namespace bitwell::isa {

// Const, whatever it remembers: any number of threads may ask it. What is refused names the path, where there
// is one.
class Module {
 public:
  // `path`: of the file that the text stands in, or empty. Nothing is read before somebody asks.
  explicit Module(std::string text, std::string path = "");
  // Of one entry that is compiled already, at the first place of a memory. All else is as in `rest`; without
  // it, there is nothing else.
  explicit Module(std::shared_ptr<const Program> program, std::shared_ptr<const Module> rest = nullptr);

  // The one whose variables it has: this, or `rest`.
  const Module* own() const { return rest_ != nullptr ? rest_->own() : this; }

  const std::string& text() const { return rest_ != nullptr ? rest_->text_ : text_; }
  const std::string& path() const { return rest_ != nullptr ? rest_->path_ : path_; }
  // The names of its entries in the order of the text, found without reading bodies.
  const std::vector<std::string>& entries() const;
  // Heads of functions, and variables. Throws InputError.
  const ptx::Module& heads() const;
  // With the bodies that the entry can come to, each where it stands in the text; of "" all. Throws
  // InputError.
  const ptx::Module& syntax(const std::string& entry) const;
  // The program that runs the entry where the variables are at `place`. Compiled when it is first asked for,
  // and kept while it is one of the last; of a module without variables one serves for all places. Throws as
  // compile does.
  std::shared_ptr<const Program> program(const std::string& entry,
                                         Approximate approximate = Approximate::h200,
                                         const machine::ModulePlace& place = {}) const;
  // The .global and .const variables as they are at `place`. Throws InputError or Unsupported for those that
  // cannot be laid out, and for initial values that are not understood.
  std::vector<GlobalVariable> variables(const machine::ModulePlace& place = {}) const;

 private:
  using Key = std::tuple<std::string, Approximate, uint64_t, uint64_t>;
  const ptx::Module& parsed(const std::string& entry) const;
  std::shared_ptr<const Program> keep(const Key& key, std::shared_ptr<const Program> program) const;
  std::string text_, path_;
  std::shared_ptr<const Program> ready_;
  std::shared_ptr<const Module> rest_;
  mutable std::mutex mutex_;
  mutable std::optional<std::vector<std::string>> entries_;
  mutable std::optional<ptx::Module> heads_;
  mutable std::map<std::string, ptx::Module> syntax_;  // by entry
  mutable std::map<Key, std::shared_ptr<const Program>> programs_;
  mutable std::deque<Key> kept_;  // their keys, the oldest first
};

// `f`, with the name of the file in what it refuses; an empty one is none.
template <class F>
decltype(auto) naming(const std::string& path, F f) {
  const std::string named = path.empty() ? "" : "'" + path + "': ";
  try {
    return f();
  } catch (const ptx::SyntaxError& e) {
    throw machine::InputError((path.empty() ? "the text" : "'" + path + "'") + " is not PTX: " + e.what());
  } catch (const machine::InputError& e) {
    throw machine::InputError(named + e.what());
  } catch (const machine::Unsupported& e) {
    throw machine::Unsupported(named + e.what());
  }
}

}  // namespace bitwell::isa
