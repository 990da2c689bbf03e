#include "model/isa/context/context.h"

#include <algorithm>

#include "model/isa/context/turn.h"
#include "model/machine/memory/heap.h"

namespace bitwell::isa {

using machine::InputError;

namespace {

std::atomic<uint64_t> contexts{0};

// Modules that are kept when they are not loaded, as they may be again.
constexpr size_t kMostIdle = 64;

}  // namespace

uint64_t Context::next_number() { return ++contexts; }

Context::Context(const ContextOptions& options) : number_(next_number()) {
  if (options.heap) memory_.heap().limit = *options.heap;
}

bool Context::is_own(uint64_t context) const {
  return context == number_ ||
         std::any_of(origins_.begin(), origins_.end(), [&](const Origin& o) { return o.context == context; });
}

void Context::check_owner(uint64_t context, const std::string& what) const {
  if (context != 0 && !is_own(context))
    throw Misuse(Misuse::Kind::other_context, what + " is of another context");
}

Context::Loaded& Context::find(ModuleHandle module) const {
  check_owner(module.context, "the module of the handle");
  const std::string name = "module " + std::to_string(module.number);
  for (const Origin& o : origins_)
    if (module.context == o.context && module.number > o.last)
      throw Misuse(Misuse::Kind::other_context,
                   name + " is of another context, which loaded it after this one began as it");
  if (module.context == 0 || module.number == 0 || module.number > last_)
    throw Misuse(Misuse::Kind::unknown_module, name + ": the context has given no such handle");
  const auto at = loaded_.find(module.number);
  if (at == loaded_.end())
    throw Misuse(Misuse::Kind::unloaded_module, name + " was unloaded: load its text again");
  return *at->second;
}

// A place of its own.
std::shared_ptr<const Context::Place> Context::next_place(const isa::Module& module) {
  auto out = std::make_shared<Place>();
  out->variables = module.variables();
  if (out->variables.empty()) return out;
  out->has_constants =
      std::any_of(out->variables.begin(), out->variables.end(), [](const auto& v) { return v.is_const; });
  const bool again = !free_constants_.empty();
  out->at = out->has_constants && !again ? memory_.next_module() : memory_.next_globals();
  if (out->has_constants && again) out->at.constants = free_constants_.back();
  out->variables = module.variables(out->at);
  return out;
}

// The variables, with their first values; all of them or none.
machine::Region Context::put(const Place& place) {
  try {
    return run::place_variables(place.variables, place.at.constants, memory_);
  } catch (...) {
    for (const GlobalVariable& v : place.variables)
      if (!v.is_const && memory_.find(v.address, v.size) != nullptr) memory_.remove(v.address);
    throw;
  }
}

ModuleHandle Context::load(Known& known, Approximate approximate) {
  std::shared_ptr<const Place> place;
  const bool stood = !known.places.empty();
  if (stood) {
    place = std::move(known.places.back());
    known.places.pop_back();
  } else {
    place = next_place(*known.module);
  }
  machine::Region constants = put(*place);
  if (!stood && !place->variables.empty()) {
    const bool again = place->has_constants && !free_constants_.empty();
    if (again) free_constants_.pop_back();
    memory_.end_module(place->has_constants && !again);
  }
  const bool has_constants = place->has_constants;
  const uint64_t number = ++last_;
  Loaded& loaded =
      *loaded_
           .emplace(number, std::make_unique<Loaded>(
                                Loaded{known.module, approximate, std::move(place), std::move(constants)}))
           .first->second;
  if (has_constants) constants_.emplace(loaded.constants.base(), &loaded.constants);
  if (known.loaded++ == 0) idle_.erase(known.idle);
  return {number_, number};
}

ModuleHandle Context::load(const std::string& text, const LoadOptions& options) {
  const Turn turn(*this, "load");
  const size_t hash = std::hash<std::string_view>()(text);
  for (auto [at, last] = texts_.equal_range(hash); at != last; ++at)
    if (at->second->text() == text && at->second->path() == options.path)
      return load(known_.at(at->second), options.approximate);
  auto module = std::make_shared<const isa::Module>(text, options.path);
  module->heads();  // for what it refuses
  const isa::Module* const key = module.get();
  texts_.emplace(hash, key);
  idle_.push_back(key);
  Known& known =
      known_.emplace(key, Known{std::move(module), hash, 0, {}, std::prev(idle_.end())}).first->second;
  try {
    return load(known, options.approximate);
  } catch (...) {
    if (known.loaded == 0) forget(key);
    throw;
  }
}

ModuleHandle Context::load(std::shared_ptr<const isa::Module> module, Approximate approximate) {
  const Turn turn(*this, "load");
  const isa::Module* const key = module.get();
  auto at = known_.find(key);
  if (at == known_.end()) {
    idle_.push_back(key);
    at = known_.emplace(key, Known{std::move(module), 0, 0, {}, std::prev(idle_.end())}).first;
  }
  return load(at->second, approximate);
}

void Context::unload(ModuleHandle module) {
  const Turn turn(*this, "unload");
  Loaded& loaded = find(module);
  for (const GlobalVariable& v : loaded.place->variables)
    if (!v.is_const) memory_.remove(v.address);
  if (loaded.place->has_constants) constants_.erase(loaded.constants.base());
  const isa::Module* const key = loaded.module.get();
  Known& known = known_.at(key);
  known.places.push_back(std::move(loaded.place));
  loaded_.erase(module.number);
  if (--known.loaded != 0) return;
  known.idle = idle_.insert(idle_.end(), key);
  if (idle_.size() > kMostIdle) forget(idle_.front());
}

// Of a module that is not loaded.
void Context::forget(const isa::Module* module) {
  const auto at = known_.find(module);
  for (const auto& place : at->second.places)
    if (place->has_constants) free_constants_.push_back(place->at.constants);
  for (auto [text, last] = texts_.equal_range(at->second.hash); text != last; ++text)
    if (text->second == module) {
      texts_.erase(text);
      break;
    }
  idle_.erase(at->second.idle);
  known_.erase(at);
}

const std::shared_ptr<const Program>& Context::program(Loaded& of, const std::string& entry) {
  const auto at = of.programs.find(entry);
  if (at != of.programs.end()) return at->second;
  return of.programs.emplace(entry, of.module->program(entry, of.approximate, of.place->at)).first->second;
}

std::shared_ptr<const isa::Module> Context::module(ModuleHandle module) const {
  const Turn turn(*this, "module");
  return find(module).module;
}

std::shared_ptr<const Program> Context::program(ModuleHandle module, const std::string& entry) const {
  const Turn turn(*this, "program");
  return program(find(module), entry);
}

const std::vector<GlobalVariable>& Context::variables(ModuleHandle module) const {
  const Turn turn(*this, "variables");
  return find(module).place->variables;
}

machine::ModulePlace Context::place(ModuleHandle module) const {
  const Turn turn(*this, "place");
  return find(module).place->at;
}

Allocation Context::variable(ModuleHandle module, const std::string& name) const {
  const Turn turn(*this, "variable");
  for (const GlobalVariable& v : find(module).place->variables)
    if (v.name == name) return {v.address, v.size, number_};
  throw InputError("the module has no .global or .const variable '" + name + "'");
}

Allocation Context::allocate(const std::string& name, uint64_t bytes) {
  const Turn turn(*this, "allocate");
  return {memory_.allocate(name, bytes).base(), bytes, number_};
}

Allocation Context::adopt(const std::string& name, void* host, uint64_t bytes, bool written) {
  const Turn turn(*this, "adopt");
  return {memory_.adopt(name, static_cast<std::byte*>(host), bytes, written).base(), bytes, number_};
}

void Context::mark(uint64_t address, uint64_t bytes, bool written) {
  const Turn turn(*this, "mark");
  memory_.mark(address, bytes, written);
}

void Context::free(const Allocation& buffer) {
  const Turn turn(*this, "free");
  check_owner(buffer.context, "the buffer that is freed");
  memory_.free(buffer.address);
}

// The constants of a module that have these bytes, or nullptr.
machine::Region* Context::constants_at(uint64_t address, uint64_t bytes) const {
  const auto at = constants_.upper_bound(address);
  if (at == constants_.begin()) return nullptr;
  machine::Region* const region = std::prev(at)->second;
  return region->contains(address, bytes) ? region : nullptr;
}

void Context::write(const Allocation& to, std::span<const std::byte> bytes, uint64_t offset) {
  const Turn turn(*this, "write");
  check_owner(to.context, "the memory that is written");
  const uint64_t address = to.address + offset;
  if (machine::Region* const constants = constants_at(address, bytes.size()); constants != nullptr)
    constants->put(address, bytes);
  else
    memory_.write(address, bytes);
}

void Context::read(const Allocation& from, std::span<std::byte> bytes, uint64_t offset) const {
  std::optional<Turn> turn;
  if (turn_ != std::this_thread::get_id()) turn.emplace(*this, "read");
  check_owner(from.context, "the memory that is read");
  const uint64_t address = from.address + offset;
  if (const machine::Region* const constants = constants_at(address, bytes.size()); constants != nullptr)
    constants->get(address, bytes);
  else
    memory_.read(address, bytes);
}

uint64_t Context::add_texture(const machine::Texture& texture) {
  const Turn turn(*this, "add_texture");
  return memory_.add_texture(texture);
}

void Context::remove_texture(uint64_t handle) {
  const Turn turn(*this, "remove_texture");
  memory_.remove_texture(handle);
}

Outcome Context::launch(ModuleHandle module, const std::string& entry, const run::Shape& shape,
                        const std::vector<Argument>& arguments, const run::Options& options) {
  const KernelLaunch one{module, entry, shape, arguments};
  return std::move(launch({&one, 1}, options).front());
}

std::vector<Outcome> Context::launch(std::span<const KernelLaunch> launches, const run::Options& options) {
  const Turn turn(*this, "launch", true);
  std::vector<std::shared_ptr<const Program>> programs;
  std::vector<std::vector<std::vector<std::byte>>> arguments(launches.size());
  std::vector<run::ChainedLaunch> chain;
  for (size_t i = 0; i < launches.size(); ++i) {
    const KernelLaunch& asked = launches[i];
    Loaded& of = find(asked.module);
    for (size_t a = 0; a < asked.arguments.size(); ++a) {
      check_owner(asked.arguments[a].context, "entry '" + asked.entry + "': the memory that argument " +
                                                  std::to_string(a) + " points to");
      arguments[i].push_back(asked.arguments[a].bytes);
    }
    programs.push_back(asked.program != nullptr ? asked.program : program(of, asked.entry));
    chain.push_back({*programs.back(), of.constants, asked.shape, arguments[i]});
  }
  const struct AtEnd {
    machine::Memory& memory;
    ~AtEnd() { memory.drop_retired(); }
  } at_end{memory_};
  try {
    return run::run_chain(chain, memory_, options);
  } catch (const machine::Fault&) {
    throw;
  } catch (const machine::Unsupported&) {
    throw;
  } catch (const InputError&) {
    throw;
  } catch (const std::logic_error&) {  // ModelBug
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    if (options.chooser != nullptr) throw;
    throw CallbackError(std::string("what a launch called threw an exception: ") + e.what());
  } catch (...) {
    if (options.chooser != nullptr) throw;
    throw CallbackError("what a launch called threw something that is no std::exception");
  }
}

}  // namespace bitwell::isa
