// A program as PTX.
#include <sstream>

#include "verify/program/drawing.h"

namespace bitwell::program {
namespace {

void replace(std::string& text, std::string_view what, const std::string& by) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

bool collective(const Body& body) {
  for (const Statement& s : body) {
    if (s.collective || s.kind == Statement::Kind::leave) return true;
    for (const Body& b : s.bodies)
      if (collective(b)) return true;
  }
  return false;
}

bool calls(const Body& body, const std::string& function) {
  for (const Statement& s : body) {
    if (s.text.find(function) != s.text.npos) return true;
    for (const Body& b : s.bodies)
      if (calls(b, function)) return true;
  }
  return false;
}

class Printer {
 public:
  explicit Printer(std::string functions) : functions_(std::move(functions)) {}

  // Where a body stands: depth, the register with the mask of its threads, and of the loop whose body it is.
  struct At {
    int depth;
    std::string mask;
    int loop = 0;  // 0: none
  };

  void body(const Body& body, const At& at) {
    for (const Statement& s : body) statement(s, at);
  }
  void add(const std::string& text) { out_ += text; }
  std::string take() { return std::move(out_); }

 private:
  void statement(const Statement& s, const At& at) {
    const int number = ++numbers_;
    // A loop that is left has the registers of the statement around it.
    const bool leaves = s.kind == Statement::Kind::leave_loop;
    const std::string depth = std::to_string(leaves ? at.depth - 1 : at.depth);
    std::string text = s.text;
    replace(text, "$m", at.mask);
    replace(text, "$n", std::to_string(number));
    replace(text, "$d", depth);
    replace(text, "$f", functions_);
    out_ += text;
    switch (s.kind) {
      case Statement::Kind::plain: return;
      case Statement::Kind::branch: return branch(s, at, depth, std::to_string(number));
      case Statement::Kind::loop: return loop(s, at, depth, number);
      case Statement::Kind::table: return table(s, at, depth, std::to_string(number));
      case Statement::Kind::leave_loop:
        if (at.mask == "%m" + depth) vote("%m" + depth, "!%q" + depth, at.mask);
        out_ += "@%q" + depth + " bra DONE" + std::to_string(at.loop) + ";\n";
        return;
      case Statement::Kind::leave:
        vote(at.mask, "!%q0", at.mask);
        out_ += "@%q0 st.global.b32 [%own], %r0;\n@%q0 exit;\n";
    }
  }

  // The register gets the mask of those of `among` where the predicate holds.
  void vote(const std::string& to, const std::string& where, const std::string& among) {
    out_ += "vote.sync.ballot.b32 " + to + ", " + where + ", " + among + ";\n";
  }

  void branch(const Statement& s, const At& at, const std::string& d, const std::string& n) {
    At then = at, otherwise = at;
    ++then.depth, ++otherwise.depth;
    then.loop = otherwise.loop = 0;
    if (collective(s.bodies[0])) vote(then.mask = "%m" + d, "%q" + d, at.mask);
    if (collective(s.bodies[1])) vote(otherwise.mask = "%e" + d, "!%q" + d, at.mask);
    out_ += "@!%q" + d + " bra ELSE" + n + ";\n";
    body(s.bodies[0], then);
    out_ += "bra END" + n + ";\nELSE" + n + ":\n";
    body(s.bodies[1], otherwise);
    out_ += "END" + n + ":\n";
  }

  void loop(const Statement& s, const At& at, const std::string& d, int number) {
    const std::string n = std::to_string(number);
    At inside{at.depth + 1, at.mask, number};
    out_ += "mov.b32 %c" + d + ", 0;\n";
    const bool meets = collective(s.bodies[0]);
    if (meets) out_ += "mov.b32 " + (inside.mask = "%m" + d) + ", " + at.mask + ";\n";
    out_ += "LOOP" + n + ":\nsetp.ge.u32 %q" + d + ", %c" + d + ", %t" + d + ";\n";
    if (meets) vote(inside.mask, "!%q" + d, inside.mask);
    out_ += "@%q" + d + " bra DONE" + n + ";\n";
    body(s.bodies[0], inside);
    out_ += "add.u32 %c" + d + ", %c" + d + ", 1;\nbra LOOP" + n + ";\nDONE" + n + ":\n";
  }

  void table(const Statement& s, const At& at, const std::string& d, const std::string& n) {
    std::string labels;
    for (size_t i = 0; i < s.bodies.size(); ++i)
      labels += (i == 0 ? "" : ", ") + ("CASE" + std::to_string(i)) + "_" + n;
    out_ += "TABLE" + n + ": .branchtargets " + labels + ";\nbrx.idx %i" + d + ", TABLE" + n + ";\n";
    for (size_t i = 0; i < s.bodies.size(); ++i) {
      out_ += "CASE" + std::to_string(i) + "_" + n + ":\n";
      body(s.bodies[i], {at.depth + 1, at.mask, 0});
      out_ += "bra END" + n + ";\n";
    }
    out_ += "END" + n + ":\n";
  }

  std::string functions_, out_;
  int numbers_ = 0;
};

std::string function_text(const std::string& name, const Body& body) {
  Printer out("");
  out.add(".func (.param .b32 result) " + name + "(.param .b32 first, .param .b64 second)\n{\n" +
          kRegisterText);
  out.add(
      "ld.param.b32 %r0, [first];\nld.param.b64 %d0, [second];\nmov.u32 %thread, %tid.x;\nmov.u32 %lane, "
      "%laneid;\n");
  for (int i = 1; i < kWords; ++i)
    out.add("add.u32 %r" + std::to_string(i) + ", %r0, " + std::to_string(i * 0x1234567) + ";\n");
  for (int i = 1; i < kDoubles; ++i)
    out.add("xor.b64 %d" + std::to_string(i) + ", %d0, " + std::to_string(i * 0x12345678) + ";\n");
  for (int i = 0; i < kHalves; ++i)
    out.add("cvt.u16.u32 %h" + std::to_string(i) + ", %r" + std::to_string(i) + ";\n");
  for (int i = 0; i < kPredicates; ++i)
    out.add("setp.lt.s32 %p" + std::to_string(i) + ", %r" + std::to_string(i) + ", %r5;\n");
  out.body(body, {1, ""});
  out.add("st.param.b32 [result], %r0;\nret;\n}\n");
  return out.take();
}

// Addresses; cells and slots of shared memory and the stack; then a value for each register.
std::string prologue(const RandomProgram& p) {
  const std::string cells = std::to_string(std::size(kCells));
  std::string out =
      "mov.u32 %thread, %tid.x;\nmov.u32 %threads, %ntid.x;\nmov.u32 %lane, %laneid;\nmov.u32 %x0, "
      "%ctaid.x;\n"
      "mad.lo.u32 %x1, %x0, %threads, %thread;\n"
      "ld.param.u64 %in, [in];\ncvta.to.global.u64 %in, %in;\nld.param.u64 %own, [own];\n"
      "cvta.to.global.u64 %own, %own;\nmad.wide.u32 %own, %x1, " +
      std::to_string(kOwnBytes) +
      ", %own;\nld.param.u64 %cells, [cells];\ncvta.to.global.u64 %cells, %cells;\n"
      "ld.param.u64 %ends, [ends];\ncvta.to.global.u64 %ends, %ends;\nmad.wide.u32 %ends, %x0, " +
      std::to_string(kCellBytes * std::size(kCells)) +
      ", %ends;\nmad.wide.u32 %ends, %thread, 8, %ends;\n"
      "mov.u32 %slots, slots;\nmad.lo.u32 %slot, %thread, 16, %slots;\nmov.u32 %scells, scells;\n"
      "cvt.u64.u32 %y0, %slots;\ncvta.shared.u64 %gslots, %y0;\ncvt.u64.u32 %y0, %slot;\ncvta.shared.u64 "
      "%gslot, %y0;\n"
      "cvt.u64.u32 %y0, %scells;\ncvta.shared.u64 %gscells, %y0;\nmov.u64 %stack, stack;\ncvta.local.u64 "
      "%gstack, %stack;\n"
      "ld.param.b32 %u0, [number];\nadd.u32 %u1, %x0, 1;\n";
  // The mask of the warp's threads: the last warp may have fewer than 32.
  out +=
      "sub.u32 %x2, %thread, %lane;\nsub.u32 %x2, %threads, %x2;\nmin.u32 %x2, %x2, 32;\nbmsk.clamp.b32 "
      "%all, 0, %x2;\n";
  out += "mov.b64 %y1, {%x1, %thread};\nst.shared.v2.b64 [%slot], {%y1, %y1};\n";
  for (int i = 0; i < kStackBytes; i += 16)
    out += "st.local.v2.b64 [%stack+" + std::to_string(i) + "], {%y1, %y1};\n";
  out += "setp.lt.u32 %q0, %thread, " + cells +
         ";\nmad.lo.u32 %x2, %thread, 8, %scells;\nmul.wide.u32 %y0, %thread, 123456789;\n" +
         "@%q0 st.shared.b64 [%x2], %y0;\nbar.sync 0;\n";
  const auto row = [&](size_t n, int type) {
    return "add.u32 %x2, %x1, " + std::to_string((p.seed + n) % 32) +
           ";\nand.b32 %x2, %x2, 31;\nmad.lo.u32 %x2, %x2, 8, " + std::to_string(type) +
           ";\nmad.wide.u32 %y0, %x2, 16, %in;\n";
  };
  out += row(0, 0) + "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%y0];\n" + row(1, 4) +
         "ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%y0];\n" + row(2, 7) +
         "ld.global.v2.b32 {%r8, %r9}, [%y0];\n" + row(3, 1) + "ld.global.v2.b64 {%d0, %d1}, [%y0];\n" +
         row(4, 5) + "ld.global.v2.b64 {%d2, %d3}, [%y0];\n" + row(5, 1) +
         "ld.global.v2.b64 {%d4, %d5}, [%y0];\n" + row(6, 2) +
         "ld.global.v4.b16 {%h0, %h1, %h2, %h3}, [%y0];\n" + row(7, 3) +
         "ld.global.v2.b16 {%h4, %h5}, [%y0];\n";
  for (int i = 0; i < kPredicates; ++i)
    out += "setp.lt.s32 %p" + std::to_string(i) + ", %r" + std::to_string(i) + ", %r" +
           std::to_string(i + 4) + ";\n";
  return out;
}

// Behind the last barrier of the CTA: what its cells hold.
std::string between() {
  const std::string cells = std::to_string(std::size(kCells));
  return "bar.sync 0;\nsetp.lt.u32 %q0, %thread, " + cells +
         ";\nmad.lo.u32 %x2, %thread, 8, %scells;\n@%q0 ld.shared.b64 %y0, [%x2];\n@%q0 st.global.b64 "
         "[%ends], %y0;\n"
         "mov.b32 %rest, %all;\n";
}

std::string epilogue() {
  std::string out;
  int at = 0;
  for (const auto& [prefix, count, bytes] :
       {std::tuple{"%r", kWords, 4}, std::tuple{"%d", kDoubles, 8}, std::tuple{"%h", kHalves, 2}})
    for (int i = 0; i < count; ++i, at += bytes)
      out += "st.global.b" + std::to_string(8 * bytes) + " [%own+" + std::to_string(at) + "], " + prefix +
             std::to_string(i) + ";\n";
  out += "mov.b32 %x0, 0;\n";
  for (int i = 0; i < kPredicates; ++i)
    out += "selp.b32 %x1, " + std::to_string(1 << i) + ", 0, %p" + std::to_string(i) +
           ";\nor.b32 %x0, %x0, %x1;\n";
  return out + "st.global.b32 [%own+" + std::to_string(at) + "], %x0;\nret;\n}\n";
}

std::string text_of(const RandomProgram& p) {
  const std::string name = entry_of(p);
  std::string out;
  for (size_t i = 0; i < p.functions.size(); ++i) {
    const std::string called = "$f" + std::to_string(i);
    if (calls(p.body, called) || calls(p.tail, called))
      out += function_text(name + "_" + std::to_string(i), p.functions[i]);
  }
  Printer text(name + "_");
  text.add(".visible .entry " + name +
           "(.param .u64 in, .param .u64 own, .param .u64 cells, .param .u64 ends, .param .u32 number)\n{\n" +
           kRegisterText + ".shared .align 16 .b8 slots[" + std::to_string(kSlotBytes * p.block) +
           "];\n.shared .align 8 .b8 scells[" + std::to_string(kCellBytes * std::size(kCells)) +
           "];\n.local .align 16 .b8 stack[" + std::to_string(kStackBytes) + "];\n");
  text.add(prologue(p));
  text.body(p.body, {0, "%all"});
  text.add(between());
  text.body(p.tail, {0, "%rest"});
  text.add(epilogue());
  return out + text.take();
}

}  // namespace

std::string entry_of(const RandomProgram& p) { return "program_" + std::to_string(p.seed); }

std::string listing(const RandomProgram& p) {
  Printer text(entry_of(p) + "_");
  for (size_t i = 0; i < p.functions.size(); ++i) {
    text.add("// " + entry_of(p) + "_" + std::to_string(i) + "\n");
    text.body(p.functions[i], {1, ""});
  }
  text.add("// " + entry_of(p) + "\n");
  text.body(p.body, {0, "%all"});
  text.add("// behind the last barrier\n");
  text.body(p.tail, {0, "%rest"});
  return text.take();
}

std::set<std::string> instructions_of(const RandomProgram& p) {
  std::set<std::string> out;
  std::istringstream lines(text_of(p));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('@')) line.erase(0, line.find(' ') + 1);
    const std::string name = line.substr(0, line.find_first_of(" ;"));
    const bool instruction =
        line.ends_with(';') && name.find_first_of(":{}(") == name.npos && !name.starts_with('.');
    if (instruction) out.insert(name);
  }
  return out;
}

std::string module_of(std::span<const RandomProgram> programs) {
  std::string out = ".version 9.0\n.target sm_90a\n.address_size 64\n";
  for (const RandomProgram& p : programs) out += text_of(p);
  return out;
}

}  // namespace bitwell::program
