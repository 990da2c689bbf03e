#include "model/isa/compile/function_builder.h"

#include <algorithm>
#include <utility>

#include "model/isa/compile/source_line.h"
#include "model/isa/family/families.h"
#include "model/machine/failure.h"

namespace bitwell::isa {

using machine::InputError;
using machine::ModelBug;
using machine::Unsupported;

void FunctionBuilder::body() {
  block(source_.body);
  instruction_ = nullptr;
  ptx::Instruction ret;
  ret.opcode = "ret";  // falling off the end returns
  ret.at = source_.at;
  translate(ret);
  for (size_t n = 0; n < label_at.size(); ++n)
    if (!label_at[n])
      throw InputError("in function '" + out_.name + "': a branch names a label that is not there");
}

void FunctionBuilder::block(const std::vector<ptx::Statement>& statements) {
  // Labels may be used before they stand: each block's labels are known at its start.
  for (const ptx::Statement& s : statements) {
    if (s.kind == ptx::Statement::Kind::label) {
      const auto line = "line " + std::to_string(s.at.line) + ": ";
      if (!scopes_.back().labels.emplace(s.name, next_label_).second)
        throw InputError(line + "label '" + s.name + "' stands twice");
      ++next_label_;
      label_at.emplace_back();
    } else if (s.kind == ptx::Statement::Kind::branch_targets ||
               s.kind == ptx::Statement::Kind::call_prototype ||
               s.kind == ptx::Statement::Kind::call_targets) {
      scopes_.back().tables[s.name] = &s;
    }
  }
  for (const ptx::Statement& s : statements) {
    try {
      switch (s.kind) {
        case ptx::Statement::Kind::instruction: translate(spread(s.instruction)); break;
        case ptx::Statement::Kind::label:
          label_at[scopes_.back().labels.at(s.name)] = static_cast<uint32_t>(out_.code.size());
          behind_label_ = true;
          break;
        case ptx::Statement::Kind::variable: declare(s.variable); break;
        case ptx::Statement::Kind::block:
          scopes_.emplace_back();
          block(s.body);
          scopes_.pop_back();
          break;
        default: break;
      }
    } catch (const Invalid& e) {
      if (!collect_) throw InputError("line " + std::to_string(s.at.line) + ": " + e.what());
      findings_.push_back({Finding::Kind::invalid, s.at.line, e.what()});
    } catch (const Unsupported& e) {
      if (s.kind == ptx::Statement::Kind::block) throw;  // it names its line already
      if (!collect_) throw Unsupported("line " + std::to_string(s.at.line) + ": " + e.what());
      findings_.push_back({Finding::Kind::unsupported, s.at.line, e.what()});
    }
  }
}

namespace {

constexpr int kTablesVersion = 90;  // 10 * major + minor

// The targets of the architectures that have a feature, for a message.
std::string targets_with(std::string_view Features::*feature) {
  std::string out;
  for (const machine::Arch& a : machine::archs())
    for (const char suffix : a.has.*feature)
      out += (out.empty() ? "sm_" : ", sm_") + std::to_string(a.sm) + suffix;
  return out;
}

}  // namespace

const FunctionBuilder::Chosen& FunctionBuilder::chosen(const ptx::Instruction& i) {
  written_ = i.opcode;
  for (const std::string& m : i.modifiers) written_ += m;
  if (const auto at = chosen_.find(written_); at != chosen_.end()) return at->second;
  Chosen out;
  out.form = &choose(i, written_, out.match);
  const UnitRow* const unit = unit_row(out.match.name);
  if (unit == nullptr) throw ModelBug("form " + std::string(out.form->pattern) + " has no unit");
  out.unit = unit->unit;
  if (out.form->operands != "*") out.roles = roles_of(*out.form, out.match);
  for (const Role& role : out.roles) out.types.push_back(find_type(role.type));
  return chosen_.emplace(written_, std::move(out)).first->second;
}

const Form& FunctionBuilder::choose(const ptx::Instruction& i, const std::string& written,
                                    Match& found) const {
  struct Candidate {
    const Form* form;
    std::vector<Element> elements;
  };
  static const std::map<std::string, std::vector<Candidate>, std::less<>> by_opcode = [] {
    std::map<std::string, std::vector<Candidate>, std::less<>> m;
    for (const Form* f : all_forms()) m[std::string(opcode_of(*f))].push_back({f, elements_of(*f)});
    return m;
  }();
  const auto candidates = by_opcode.find(i.opcode);
  if (candidates == by_opcode.end())
    throw Unsupported("instruction '" + written + "': opcode '" + i.opcode + "'");
  size_t best = 0;
  for (const auto& [form, elements] : candidates->second) {
    size_t reached = 0;
    if (!match(*form, elements, i.modifiers, found, reached)) {
      best = std::max(best, reached);
      continue;
    }
    if (layout_.module.version < form->version)
      throw Invalid("'" + written + "' needs PTX " + std::to_string(form->version / 10) + "." +
                    std::to_string(form->version % 10));
    // What the tables refuse a target they may refuse by PTX 9.0 alone.
    const auto refuse = [&](const std::string& why) {
      if (layout_.module.version > kTablesVersion)
        throw Unsupported("instruction '" + written + "' on " + layout_.module.target +
                          ": the tables hold PTX 9.0, by which " + why);
      throw Invalid("'" + written + "' is not available on " + layout_.module.target + "; " + why);
    };
    const auto carried = [&](std::string_view suffixes) {
      return !layout_.suffix.empty() && suffixes.find(layout_.suffix) != std::string_view::npos;
    };
    const Needs& needs = form->needs;
    if (needs.feature != nullptr && !carried(machine::arch(layout_.sm).has.*needs.feature))
      refuse("it needs " + targets_with(needs.feature));
    if (layout_.sm < needs.sm || (!form->only.empty() && !carried(form->only)))
      refuse("it needs sm_" + std::to_string(needs.sm) + std::string(form->only) + " or later");
    return *form;
  }
  if (best < i.modifiers.size())
    throw Unsupported("instruction '" + written + "': modifier '" + i.modifiers[best] + "' at that place");
  throw Unsupported("instruction '" + written + "': a modifier is missing");
}

// The instructions behind one .loc share it.
machine::CudaPlace FunctionBuilder::cuda_of(const ptx::SourceLine& source) {
  const bool same = source.file == last_source_.file && source.line == last_source_.line &&
                    source.inlined_at == last_source_.inlined_at;
  if (same) return last_cuda_;
  last_source_ = source;
  return last_cuda_ = cuda_place(layout_.module, source);
}

void FunctionBuilder::translate(const ptx::Instruction& i) {
  const Chosen& of = chosen(i);
  const Form& form = *of.form;
  // Families see the modifiers in the order of their patterns.
  ptx::Instruction ordered;
  instruction_ = &i;
  if (of.match.modifiers != i.modifiers) {
    ordered = i;
    ordered.modifiers = of.match.modifiers;
    instruction_ = &ordered;
  }
  out_.lines.push_back({i.at.line, cuda_of(i.source), written_, of.unit});
  out_.uses.begin(std::exchange(behind_label_, false));
  guard_ = 0;
  has_effect_ = false;
  if (i.guard) {
    ptx::Operand guard;
    guard.name = i.guard->predicate;
    bool unused = false;
    guard_ = predicate(guard, false, unused).row;
    out_.uses.as(Use::Take::guard);
  }
  operands(of);
  note(i);
  form.build(*this, of.match);
  if (has_effect_ && !out_.uses.stated())
    throw ModelBug("form " + std::string(form.pattern) + " does not say what memory it touches");
}

// What a reader of a verdict must know: results that are not fixed by the PTX.
void FunctionBuilder::note(const ptx::Instruction& i) {
  if (ptx::has(i, ".approx") || ptx::has(i, ".full"))
    findings_.push_back({Finding::Kind::approximate, i.at.line,
                         "'" + out_.lines.back().text + "' has an error bound, not bits", last_cuda_});
}

void FunctionBuilder::operands(const Chosen& of) {
  values_.clear();
  negated_.clear();
  if (of.form->operands == "*") return;
  const std::vector<Role>& roles = of.roles;
  const auto& written = instruction_->operands;
  const auto least = static_cast<size_t>(
      std::count_if(roles.begin(), roles.end(), [](const Role& r) { return !r.optional; }));
  if (written.size() < least || written.size() > roles.size())
    throw Invalid("'" + of.match.name + "' takes " + std::to_string(least) +
                  (least == roles.size() ? "" : " to " + std::to_string(roles.size())) + " operands, found " +
                  std::to_string(written.size()));
  for (size_t n = 0; n < roles.size(); ++n) {
    negated_.push_back(false);
    if (n >= written.size()) {
      values_.emplace_back();
      continue;
    }
    const Role& role = roles[n];
    const auto typed = [&]() -> const Type& {
      return of.types[n] != nullptr ? *of.types[n] : type(role.type);
    };
    bool negated = false;
    switch (role.kind) {
      case 'd': values_.push_back(destination(written[n], typed())); break;
      case 's': values_.push_back(source(written[n], typed())); break;
      case 'r': values_.push_back(source(written[n], typed(), false, false)); break;
      case 'i':
        values_.push_back({constant_row(typed().bits, constant(written[n])), nullptr});
        out_.uses.add_constant(Use::Take::data, written[n].integer);
        break;
      case 'q': values_.push_back(predicate(written[n], true, negated)); break;
      case 'p': values_.push_back(predicate(written[n], false, negated)); break;
      default:
        throw ModelBug("role '" + std::string(1, role.kind) + "' in form " + std::string(of.form->pattern));
    }
    negated_.back() = negated;
  }
}

Op& FunctionBuilder::emit(Op op) {
  op.line = static_cast<int>(out_.lines.size()) - 1;
  if (instruction_->guard) {
    op.guard = guard_;
    op.guard_negated = instruction_->guard->negated;
  }
  has_effect_ = has_effect_ || op.kind == OpKind::effect;
  if (op.kind == OpKind::branch || op.kind == OpKind::leave || op.kind == OpKind::table ||
      op.kind == OpKind::call)
    out_.uses.decide();
  out_.code.push_back(op);
  return out_.code.back();
}

}  // namespace bitwell::isa
