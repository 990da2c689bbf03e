// What the compiler says that each form reads, writes and touches, against what executing it does: registers
// that it does not read make no difference, those that it does not write stay, memory is touched as it says.
// Of values that all have been written the results are so too; a register that makes a difference and was
// never written is told. Registers are loaded before, and stored behind, by ordinary instructions of each
// lane.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <regex>

#include "../../kernel.h"
#include "../../uses_against.h"
#include "found_operands.h"
#include "model/isa/family/families.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

using Bytes = std::vector<std::byte>;
using Take = isa::Use::Take;

constexpr size_t kRow = 512;  // a register of 32 lanes, 16 bytes each
constexpr size_t kSharedRows = 8, kLocalRows = 4;
constexpr size_t kGlobalBytes = 8192;
constexpr size_t kMostChanged = 10;  // registers of one instruction

// Those that operands name.
std::vector<std::string> registers_in(const std::string& operands) {
  static const std::regex name("%[pchrfdgq][0-9]+");
  std::vector<std::string> out;
  for (std::sregex_iterator at(operands.begin(), operands.end(), name), end; at != end; ++at)
    if (std::find(out.begin(), out.end(), at->str()) == out.end()) out.push_back(at->str());
  return out;
}

// Of a register's name: how it is loaded and stored.
std::string type_of(const std::string& name) {
  switch (name[1]) {
    case 'c': return "b8";
    case 'h': return "b16";
    case 'f': return "f32";
    case 'd': return "b64";
    case 'g': return "f64";
    case 'q': return "b128";
    default: return "b32";
  }
}

// What an address register is added to; "": it is none.
std::string base_of(const Touch* touch) {
  if (touch == nullptr) return "";
  if (touch->barrier) return "mb";
  if (touch->space == isa::Space::param) return "param";
  switch (touch->space) {
    case isa::Space::shared:
    case isa::Space::cluster: return "sv";
    case isa::Space::local: return "lv";
    default: return "mem";
  }
}

struct Kernel {
  std::string text;
  int line = 0;
  std::vector<std::string> registers;
};

// `bases`: of the registers that are addresses. `unset`: those that hold nothing; `unknown`: one that is
// loaded from where nobody has written, and stored only if it is a result.
Kernel kernel_of(const Spelling& s, const std::map<std::string, std::string>& bases,
                 const std::set<std::string>& unset = {}, const std::string& unknown = "",
                 bool result = false) {
  Kernel out;
  out.registers = registers_in(s.operands);
  std::string& t = out.text;
  t = ".version 9.0\n.target " + s.target +
      "\n.address_size 64\n.global .align 128 .b8 gv[1024];\n.func callee() { ret; }\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 mem, .param .b64 par)\n{\n"
      ".reg .pred %p<9>; .reg .b8 %c<9>; .reg .b16 %h<9>; .reg .b32 %r<300>; .reg .f32 %f<300>;\n"
      ".reg .b64 %d<9>; .reg .f64 %g<9>; .reg .b128 %q<9>; .reg .b64 %B<9>; .reg .b32 %W<9>; .reg .pred "
      "%G<2>;\n"
      ".shared .align 128 .b8 sv[4096]; .shared .align 8 .b8 mb[16]; .shared .align 16 .b8 uv[16]; .local "
      ".align 16 .b8 lv[64];\n"
      "targets: .branchtargets label; label:\n"
      "ld.param.u64 %B0, [in];\nld.param.u64 %B1, [out];\nld.param.u64 %B2, [mem];\nmov.u32 %W0, %tid.x;\n"
      "mul.wide.u32 %B3, %W0, 16;\nadd.u64 %B0, %B0, %B3;\nadd.u64 %B1, %B1, %B3;\n"
      "mov.u32 %W1, sv;\nmad.lo.u32 %W1, %W0, 16, %W1;\nmov.u64 %B4, lv;\n";
  size_t row = 0;
  const auto place = [&](const char* base) {
    return "[" + std::string(base) + "+" + std::to_string(kRow * row) + "]";
  };
  const char* four = "{%W4, %W5, %W6, %W7}";
  for (size_t n = 0; n < kSharedRows; ++n, ++row)
    t += "ld.global.v4.b32 " + std::string(four) + ", " + place("%B0") + ";\nst.shared.v4.b32 " +
         place("%W1") + ", " + four + ";\n";
  for (size_t n = 0; n < kLocalRows; ++n, ++row)
    t += "ld.global.v4.b32 " + std::string(four) + ", " + place("%B0") + ";\nst.local.v4.b32 [%B4+" +
         std::to_string(16 * n) + "], " + four + ";\n";
  t += "setp.eq.u32 %G0, %W0, 0;\n@%G0 mbarrier.init.shared.b64 [mb], 1;\nbar.warp.sync -1;\n";
  t += "ld.global.b32 %W4, " + place("%B0") + ";\nsetp.ne.u32 %G0, %W4, 0;\nadd.cc.u32 %W4, %W4, %W4;\n";
  ++row;
  const size_t first = row;
  for (const std::string& r : out.registers) {
    const std::string from = r == unknown ? std::string("shared.") : std::string("global.");
    const std::string at = r == unknown ? "[uv]" : place("%B0");
    if (unset.contains(r))
      t += "";
    else if (r[1] == 'p')
      t += "ld." + from + "b32 %W4, " + at + ";\nsetp.ne.u32 " + r + ", %W4, 0;\n";
    else
      t += "ld." + from + type_of(r) + " " + r + ", " + at + ";\n";
    ++row;
    const auto base = bases.find(r);
    if (base == bases.end()) continue;
    const bool named = std::any_of(s.match.modifiers.begin(), s.match.modifiers.end(),
                                   [](const std::string& m) { return m.starts_with(".shared"); });
    if (base->second == "param")
      t += "mov.b64 " + r + ", 24;\n";
    else if (r[1] == 'd' && base->second == "mem")
      t += "add.u64 " + r + ", " + r + ", %B2;\n";
    else if (r[1] == 'd')
      t += "mov.u64 %B5, " + base->second + ";\nadd.u64 " + r + ", " + r + ", %B5;\n" +
           (named || base->second == "lv" ? "" : "cvta.shared.u64 " + r + ", " + r + ";\n");
    else if (base->second != "mem")
      t += "mov.u32 %W4, " + base->second + ";\nadd.u32 " + r + ", " + r + ", %W4;\n";
  }
  out.line = static_cast<int>(std::count(t.begin(), t.end(), '\n')) + 1;
  t += "@%G0 " + written(s, s.match.modifiers, s.operands) + "\n";
  t += "cp.async.wait_all;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nbar.warp.sync -1;\n";
  row = first;
  for (const std::string& r : out.registers) {
    if (r == unknown && !result)
      t += "";
    else if (r[1] == 'p')
      t += "selp.b32 %W4, 1, 0, " + r + ";\nst.global.b32 " + place("%B1") + ", %W4;\n";
    else
      t += "st.global." + type_of(r) + " " + place("%B1") + ", " + r + ";\n";
    ++row;
  }
  row = 0;
  for (size_t n = 0; n < kSharedRows; ++n, ++row)
    t += "ld.shared.v4.b32 " + std::string(four) + ", " + place("%W1") + ";\nst.global.v4.b32 " +
         place("%B1") + ", " + four + ";\n";
  for (size_t n = 0; n < kLocalRows; ++n, ++row)
    t += "ld.local.v4.b32 " + std::string(four) + ", [%B4+" + std::to_string(16 * n) +
         "];\nst.global.v4.b32 " + place("%B1") + ", " + four + ";\n";
  t += "ret;\n}\n";
  return out;
}

constexpr size_t kGuardRow = kSharedRows + kLocalRows, kFirstRow = kGuardRow + 1;

struct Outcome {
  Bytes out, memory;
  std::string wrong;
  std::set<const Touch*> seen;
  size_t accesses = 0;

  Bytes row(size_t n) const {
    return {out.begin() + static_cast<std::ptrdiff_t>(kRow * n),
            out.begin() + static_cast<std::ptrdiff_t>(kRow * (n + 1))};
  }
};

// An instruction as it is tried.
class Tried {
 public:
  Tried(const Spelling& s, const Kernel& kernel)
      : kernel_(kernel),
        module_(test::module_of(kernel.text)),
        program_(module_->program("k")),
        uniform_(false) {
    for (const Function& f : program_->functions)
      for (size_t i = 0; i < f.uses.size(); ++i)
        if (f.lines[i].ptx == kernel.line) of_ = &f.uses, at_ = i;
    uniform_ = isa::opcode_of(*s.form) == "wmma";
    same_ids_ = isa::opcode_of(*s.form) == "mma";
    compares_ = isa::opcode_of(*s.form).starts_with("set");
  }
  isa::Uses uses() const { return of_->at(at_); }
  std::string text() const { return test::words(*of_, at_); }
  const std::string& failure() const { return failure_; }

  const Touch* address_of(const std::string& r) const {
    for (const Touch& t : uses().touches)
      if (t.address != Touch::kNoAddress && is(uses().operands[t.address], r)) return &t;
    return nullptr;
  }
  bool reads(const std::string& r) const {
    return any(r, [](const isa::Use& u) { return u.take != Take::result && u.take != Take::hint; });
  }
  bool writes(const std::string& r) const {
    return any(r, [](const isa::Use& u) { return u.written(); });
  }
  bool helped_by(const std::string& r) const {
    return any(r, [](const isa::Use& u) { return u.take == Take::hint; });
  }

  // Random operands.
  Bytes draw(std::mt19937_64& random) const {
    Bytes in(kRow * (kFirstRow + kernel_.registers.size()));
    for (std::byte& b : in) b = static_cast<std::byte>(random());
    set_guard(in, true);
    for (size_t n = 0; n < kernel_.registers.size(); ++n) draw(in, n, random);
    return in;
  }
  void set_guard(Bytes& in, bool on) const { std::memset(in.data() + kRow * kGuardRow, on ? 0xFF : 0, kRow); }
  // Other bits for one register.
  void draw(Bytes& in, size_t n, std::mt19937_64& random) const {
    const Touch* touch = address_of(kernel_.registers[n]);
    const bool address = any(kernel_.registers[n], [](const isa::Use& u) { return u.take == Take::address; });
    const size_t how = random() % 6, same = size_t{1} << random() % 8,
                 step = touch != nullptr && touch->space == isa::Space::local ? 0 : 64;
    const uint64_t shift = random() % 2 * (step == 0 ? 16 : 2048);
    for (size_t lane = 0; lane < 32; ++lane) {
      uint64_t words_of[2] = {random(), random()};
      if (touch != nullptr)
        words_of[0] = touch->barrier ? random() % 2 * 8 : (uniform_ ? 0 : lane * step) + shift,
        words_of[1] = 0;
      else if (address || how == 1)
        words_of[0] %= 32, words_of[1] = 0;
      else if (how == 0 && compares_)  // numbers that are often equal, and NaN
        words_of[0] = random() % 2 != 0 ? ~uint64_t{0} : 1;
      else if (how == 2)
        words_of[0] = words_of[1] = ~uint64_t{0};
      else if (how >= 4)
        words_of[0] = same, words_of[1] = 0;
      if (kernel_.registers[n][1] == 'p') words_of[0] %= 2;
      if (same_ids_ && kernel_.registers[n][1] == 'h') words_of[0] = 0;
      if (touch != nullptr && touch->barrier && lane != 0)
        std::memcpy(words_of, in.data() + kRow * (kFirstRow + n), 16);
      std::memcpy(in.data() + kRow * (kFirstRow + n) + 16 * lane, words_of, 16);
    }
  }

  // Nothing where it ends in a fault or is not modelled.
  std::optional<Outcome> run(const Bytes& in, bool all_written = false) {
    launch::Launch l;
    l.entry = "k";
    l.shape.block = {32, 1, 1};
    Bytes memory(kGlobalBytes);
    for (size_t n = 0; n < memory.size(); ++n) memory[n] = static_cast<std::byte>(n * 37 + n / 256);
    l.add_buffer({"in", in, true, true, false});
    l.add_buffer({"out", Bytes(in.size()), true, false, true});
    l.add_buffer({"mem", memory, true, false, true});
    l.add_scalar(uint64_t{0x0123456789ABCDEF});
    run::Options options;
    options.step_limit = 1 << 16;
    test::UsesAgainst against(*program_);
    options.observers.push_back(against.observer());
    try {
      test::run_ptx(module_, l, options, all_written);
    } catch (const machine::Fault& e) {
      failure_ = e.what();
      return std::nullopt;
    } catch (const machine::Unsupported& e) {
      failure_ = e.what();
      return std::nullopt;
    }
    Outcome out{
        l.buffers[1].bytes, l.buffers[2].bytes, against.wrong(), {}, against.accesses_of(kernel_.line)};
    for (const Touch& t : uses().touches)
      if (against.seen(&t)) out.seen.insert(&t);
    return out;
  }

 private:
  bool is(const isa::Use& u, const std::string& r) const {
    return u.of == isa::Use::Of::reg && of_->register_name(u.number) == r;
  }
  template <class Holds>
  bool any(const std::string& r, Holds holds) const {
    const auto& operands = of_->at(at_).operands;
    return std::any_of(operands.begin(), operands.end(),
                       [&](const isa::Use& u) { return is(u, r) && holds(u); });
  }

  const Kernel& kernel_;
  const test::Module module_;
  const std::shared_ptr<const Program> program_;
  const FunctionUses* of_ = nullptr;
  size_t at_ = 0;
  bool uniform_;           // one address for the warp
  bool same_ids_ = false;  // of scales
  bool compares_ = false;
  std::string failure_;
};

// What a register was loaded with, as it is stored.
Bytes stored(const Bytes& in, size_t n, const std::string& name) {
  static const std::map<char, size_t> sizes{{'p', 4}, {'c', 1}, {'h', 2}, {'r', 4},
                                            {'f', 4}, {'d', 8}, {'g', 8}, {'q', 16}};
  Bytes out(kRow);
  for (size_t lane = 0; lane < 32; ++lane)
    std::memcpy(out.data() + 16 * lane, in.data() + kRow * (kFirstRow + n) + 16 * lane, sizes.at(name[1]));
  return out;
}

// Where the two differ: a register's number, or -1 for memory.
std::set<int> differences(const Outcome& a, const Outcome& b, size_t registers) {
  std::set<int> out;
  for (size_t n = 0; n < registers; ++n)
    if (a.row(kFirstRow + n) != b.row(kFirstRow + n)) out.insert(static_cast<int>(n));
  if (a.memory != b.memory || !std::equal(a.out.begin(), a.out.begin() + kRow * kGuardRow, b.out.begin()))
    out.insert(-1);
  return out;
}

struct Totals {
  size_t tried = 0, executed = 0;
  std::map<std::string, std::string> not_executed;  // opcodes, with why
  size_t read = 0, made_none = 0;                   // registers, and those that made no difference
};

bool is_of_unknown(const std::string& fault) {
  return fault.find("never written") != std::string::npos ||
         fault.find("was ever written") != std::string::npos;
}

// What has been written, and what has not. `different`: the registers that made a difference for these
// operands.
void hold_definedness(const Spelling& s, const std::map<std::string, std::string>& bases,
                      const Kernel& kernel, const Tried& tried, const Bytes& in,
                      const std::set<std::string>& different) {
  std::set<std::string> unset;
  for (const std::string& r : kernel.registers)
    if (tried.writes(r) && !tried.reads(r)) unset.insert(r);
  const Kernel bare = kernel_of(s, bases, unset);
  Tried results(s, bare);
  EXPECT_TRUE(results.run(in, true)) << results.failure();
  for (const std::string& r : different) {
    const Kernel one = kernel_of(s, bases, {}, r, tried.writes(r));
    Tried of_unknown(s, one);
    const bool held = of_unknown.run(in, true).has_value();
    EXPECT_TRUE(!held && is_of_unknown(of_unknown.failure()))
        << r << " was never written, which leads to: " << (held ? "nothing" : of_unknown.failure());
  }
}

// An address that was never written, whatever else is wrong.
void hold_addresses(const Spelling& s, const std::map<std::string, std::string>& bases, const Tried& tried,
                    const Bytes& in) {
  for (const auto& [r, base] : bases) {
    if (base == "param") continue;
    const Kernel one = kernel_of(s, bases, {}, r, tried.writes(r));
    Tried of_unknown(s, one);
    const bool held = of_unknown.run(in).has_value();
    const bool said_before = of_unknown.failure().find("there is no pair") != std::string::npos ||
                             of_unknown.failure().find("differs between threads") != std::string::npos;
    if (said_before) continue;
    EXPECT_TRUE(!held && is_of_unknown(of_unknown.failure()))
        << "the address " << r
        << " was never written, which leads to: " << (held ? "nothing" : of_unknown.failure());
  }
}

void hold(const Spelling& s, std::mt19937_64& random, Totals& totals, bool print) {
  constexpr int kAttempts = 80, kTrials = 2;
  const std::string instruction = written(s, s.match.modifiers, s.operands);
  ++totals.tried;
  std::map<std::string, std::string> bases;
  {
    const Kernel bare = kernel_of(s, {});
    const Tried asked(s, bare);
    for (const std::string& r : bare.registers)
      if (const std::string base = base_of(asked.address_of(r)); !base.empty()) bases[r] = base;
    if (print) std::printf("%s\n    %s\n", instruction.c_str(), asked.text().c_str());
  }
  const Kernel kernel = kernel_of(s, bases);
  Tried tried(s, kernel);
  hold_addresses(s, bases, tried, tried.draw(random));
  SCOPED_TRACE(instruction + " for " + s.target + ": " + tried.text());
  const size_t count = kernel.registers.size();
  std::set<std::string> made_none;
  for (const std::string& r : kernel.registers)
    if (tried.reads(r)) made_none.insert(r);
  std::set<const Touch*> seen;
  int trials = 0;
  for (int attempt = 0; attempt < kAttempts && trials < kTrials; ++attempt) {
    Bytes in = tried.draw(random);
    const std::optional<Outcome> first = tried.run(in);
    if (!first) continue;
    ++trials;
    EXPECT_EQ(first->wrong, "");
    seen.insert(first->seen.begin(), first->seen.end());
    std::set<std::string> different;
    for (size_t n = 0; n < count; ++n) {
      const std::string& r = kernel.registers[n];
      if (!tried.writes(r) && !bases.contains(r)) {
        EXPECT_EQ(first->row(kFirstRow + n), stored(in, n, r)) << r << " was written";
      }
      if (n % std::max<size_t>(1, count / kMostChanged) != 0) continue;
      Bytes changed = in;
      tried.draw(changed, n, random);
      const std::optional<Outcome> other = tried.run(changed);
      if (!other) {
        EXPECT_TRUE(tried.reads(r)) << r << ", which it does not read, leads to: " << tried.failure();
        made_none.erase(r);
        continue;
      }
      std::set<int> differ = differences(*first, *other, count);
      if (!tried.writes(r)) differ.erase(static_cast<int>(n));
      if (!tried.reads(r)) {
        EXPECT_TRUE(differ.empty()) << r << " makes a difference";
      }
      if (!differ.empty()) made_none.erase(r), different.insert(r);
    }
    hold_definedness(s, bases, kernel, tried, in, different);
    tried.set_guard(in, false);
    const std::optional<Outcome> off = tried.run(in);
    ASSERT_TRUE(off) << tried.failure();
    EXPECT_EQ(off->accesses, 0u);
    for (size_t n = 0; n < count; ++n)
      if (!bases.contains(kernel.registers[n])) {
        EXPECT_EQ(off->row(kFirstRow + n), stored(in, n, kernel.registers[n]))
            << kernel.registers[n] << " is written though the guard is false";
      }
  }
  const std::string opcode(isa::opcode_of(*s.form));
  if (trials == 0) {
    totals.not_executed.emplace(opcode, instruction + ": " + tried.failure());
    return;
  }
  ++totals.executed;
  for (const Touch& t : tried.uses().touches)
    if (t.space != isa::Space::param) {
      EXPECT_TRUE(seen.contains(&t)) << "it never " << test::words(t);
    }
  totals.read += static_cast<size_t>(std::count_if(kernel.registers.begin(), kernel.registers.end(),
                                                   [&](const std::string& r) { return tried.reads(r); }));
  totals.made_none += made_none.size();
}

// What needs more than a warp and plain memory: these forms are held to what they touch in kernels, of the
// suites, of the catalogue (suites_test.cpp, catalogue_test.cpp) and of other tests (uses_in.*).
const std::set<std::string, std::less<>> kNeedMore{"barrier",   "clusterlaunchcontrol",
                                                   "cp",        "getctarank",
                                                   "mapa",      "mbarrier",
                                                   "st",        "suld",
                                                   "sust",      "tcgen05",
                                                   "tensormap", "tex",
                                                   "wgmma"};

// Every eighth form, from that of this number on.
class Uses : public testing::TestWithParam<size_t> {};
constexpr size_t kParts = 8;

TEST_P(Uses, OfEveryFormAreWhatExecutingItTouches) {
  const bool print = std::getenv("BITWELL_PRINT") != nullptr;
  static const std::set<std::string, std::less<>> kControl{"bra",  "brx",   "ret", "exit",
                                                           "trap", "brkpt", "call"};
  std::mt19937_64 random(1 + GetParam());
  Totals totals;
  const std::vector<const isa::Form*> forms = isa::all_forms();
  for (size_t f = GetParam(); f < forms.size(); f += kParts) {
    const isa::Form* const form = forms[f];
    if (form->version > 90 || kControl.contains(isa::opcode_of(*form))) continue;
    for (size_t n = 0; n < 20; ++n) {  // not every spelling is legal
      Spelling s = spell(*form, random);
      if (find_operands(s, random) != Found::yes) continue;
      hold(s, random, totals, print);
      break;
    }
  }
  std::printf("%zu of %zu forms executed\n", totals.executed, totals.tried);
  for (const auto& [opcode, why] : totals.not_executed) {
    EXPECT_TRUE(kNeedMore.contains(opcode)) << why;
  }
  EXPECT_GT(10 * totals.executed, 7 * totals.tried);
  // By chance a NaN or a mask hides the others.
  EXPECT_LT(3 * totals.made_none, totals.read);
  std::printf("of %zu registers that are read %zu made no difference\n", totals.read, totals.made_none);
}

INSTANTIATE_TEST_SUITE_P(All, Uses, testing::Range<size_t>(0, kParts));

}  // namespace
}  // namespace bitwell::isa
