#include "model/ptx/parse.h"

#include <algorithm>
#include <array>
#include <map>

#include "model/ptx/expression.h"
#include "model/ptx/instruction.h"
#include "model/ptx/reader.h"
#include "model/ptx/variable.h"

namespace bitwell::ptx {
namespace {

struct Lines {
  int first, last;
};

// Of inline assembly, between the comments that LLVM sets around it.
std::vector<Lines> inline_assembly(std::string_view source) {
  constexpr std::string_view begin = "// begin inline asm";
  constexpr std::string_view end = "// end inline asm";
  std::vector<Lines> out;
  int line = 1;
  size_t counted = 0;
  const auto line_of = [&](size_t at) {
    line += static_cast<int>(std::count(source.begin() + static_cast<std::ptrdiff_t>(counted),
                                        source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    counted = at;
    return line;
  };
  for (size_t at = 0; (at = source.find(begin, at)) != std::string_view::npos;) {
    const size_t last = std::min(source.find(end, at), source.size());
    const int first = line_of(at);
    out.push_back({first, line_of(last)});
    at = last;
  }
  return out;
}

class Parser {
 public:
  explicit Parser(std::string_view source)
      : reader_(tokenize(source)), inline_assembly_(inline_assembly(source)) {}

  // module = ".version" "M.N" ".target" name ("," name)* [".address_size" n] item*
  Module module() {
    reader_.expect(".version");
    version();
    reader_.expect(".target");
    module_.target = reader_.identifier();
    while (reader_.accept(",")) module_.target_options.push_back(reader_.identifier());
    if (reader_.accept(".address_size")) {
      const uint32_t bits = parse_count(reader_);
      if (bits != 32 && bits != 64) reader_.fail(".address_size must be 32 or 64 before");
      module_.address_size = static_cast<int>(bits);
    }
    while (!reader_.at_end()) item();
    return std::move(module_);
  }

 private:
  void version() {
    const std::string text = reader_.expect_kind(TokenKind::floating, "a version such as 9.0");
    const size_t dot = text.find('.');
    if (dot == std::string::npos || text.size() - dot != 2 || dot > 2)
      reader_.fail("expected a version such as 9.0 before");
    module_.version = std::stoi(text.substr(0, dot)) * 10 + std::stoi(text.substr(dot + 1));
  }

  // item = file | section | pragma | [linkage] (function | variable) | alias
  void item() {
    if (reader_.is(".file")) return file();
    if (reader_.is(".section")) return section();
    if (reader_.accept(".pragma")) {
      reader_.expect_kind(TokenKind::string, "a string");
      reader_.expect(";");
      return;
    }
    const Position at = reader_.peek().at;
    std::string linkage;
    for (const char* word : {".visible", ".extern", ".weak", ".common"})
      if (linkage.empty() && reader_.accept(word)) linkage = word;
    if (reader_.is(".entry") || reader_.is(".func")) {
      Function f = function();
      f.linkage = linkage;
      f.at = at;
      module_.functions.push_back(std::move(f));
      return;
    }
    for (Variable& v : parse_variables(reader_, linkage)) module_.variables.push_back(std::move(v));
    reader_.expect(";");
  }

  // file = ".file" n "name" ["," timestamp "," size]
  void file() {
    reader_.expect(".file");
    const auto index = static_cast<int>(parse_constant(reader_).integer);
    std::string name = reader_.expect_kind(TokenKind::string, "a file name");
    module_.files[index] = name.substr(1, name.size() - 2);
    while (reader_.accept(",")) parse_constant(reader_);
  }

  // section = ".section" name "{" anything "}"; debug information, which no instruction can see
  void section() {
    reader_.expect(".section");
    reader_.expect_kind(TokenKind::dotted, "a section name");
    reader_.expect("{");
    while (!reader_.accept("}")) {
      if (reader_.at_end() || reader_.is("{")) reader_.fail("expected '}'");
      reader_.next();
    }
  }

  // params = "(" [param ("," param)*] ")"
  std::vector<Variable> params() {
    std::vector<Variable> out;
    reader_.expect("(");
    if (reader_.accept(")")) return out;
    do out.push_back(parse_parameter(reader_));
    while (reader_.accept(","));
    reader_.expect(")");
    return out;
  }

  // function = (".entry" | ".func" [params]) name [params] directive* (block | ";")
  Function function() {
    Function f;
    f.is_entry = reader_.next().text == ".entry";
    if (!f.is_entry && reader_.is("(")) f.returns = params();
    f.name = reader_.identifier();
    if (reader_.is("(")) f.params = params();
    while (reader_.peek().kind == TokenKind::dotted) directive(f);
    if (reader_.accept(";")) return f;
    f.has_body = true;
    source_ = {};
    locations_.clear();
    f.body = block();
    return f;
  }

  // directive = dotted [n ("," n)*]
  void directive(Function& f) {
    const std::string name(reader_.peek().text);
    static constexpr std::array<std::pair<std::string_view, int>, 14> known{{{".maxntid", 3},
                                                                             {".reqntid", 3},
                                                                             {".minnctapersm", 1},
                                                                             {".maxnctapersm", 1},
                                                                             {".maxnreg", 1},
                                                                             {".noreturn", 0},
                                                                             {".reqnctapercluster", 3},
                                                                             {".explicitcluster", 0},
                                                                             {".maxclusterrank", 1},
                                                                             {".blocksareclusters", 0},
                                                                             {".abi_preserve", 1},
                                                                             {".abi_preserve_control", 1},
                                                                             {".unified", 0},
                                                                             {".pragma", -1}}};
    for (const auto& [text, most] : known) {
      if (text != name) continue;
      reader_.next();
      if (most < 0) {
        reader_.expect_kind(TokenKind::string, "a string");
        reader_.expect(";");
        return;
      }
      std::vector<int64_t>& values = f.directives[name] = {};  // the last one holds, as for ptxas
      if (most == 0) return;
      do values.push_back(parse_count(reader_));
      while (static_cast<int>(values.size()) < most && reader_.accept(","));
      return;
    }
    reader_.fail("unknown function directive");
  }

  // block = "{" statement* "}"
  std::vector<Statement> block() {
    const Reader::Nest nest(reader_);
    std::vector<Statement> out;
    reader_.expect("{");
    out.reserve(reader_.count_ahead(";:", '}'));
    while (!reader_.accept("}")) {
      if (reader_.at_end()) reader_.fail("expected '}'");
      statement(out);
    }
    return out;
  }

  // statement = block | variable ";" | label | loc | pragma | instruction
  void statement(std::vector<Statement>& out) {
    Statement s;
    s.at = reader_.peek().at;
    if (reader_.is("{")) {
      s.kind = Statement::Kind::block;
      s.body = block();
    } else if (reader_.is(".loc")) {
      return location();
    } else if (reader_.accept(".pragma")) {
      s.kind = Statement::Kind::pragma;
      s.name = reader_.expect_kind(TokenKind::string, "a string");
      reader_.expect(";");
    } else if (reader_.is(".file")) {
      return file();
    } else if (reader_.peek().kind == TokenKind::dotted) {
      std::string linkage;
      if (reader_.is(".extern") || reader_.is(".visible")) linkage = reader_.next().text;
      for (Variable& v : parse_variables(reader_, linkage)) {
        s.kind = Statement::Kind::variable;
        s.variable = std::move(v);
        out.push_back(s);
      }
      reader_.expect(";");
      return;
    } else if (reader_.peek().kind == TokenKind::identifier && reader_.is(":", 1)) {
      s.name = reader_.identifier();
      reader_.expect(":");
      label(s);
    } else {
      s.instruction = parse_instruction(reader_);
      if (in_assembly(s.at.line)) assembly_has_line_ = true;
      s.instruction.source = source_;
    }
    out.push_back(std::move(s));
  }

  // label = name ":" [".branchtargets" names ";" | ".calltargets" names ";" | ".callprototype" prototype ";"]
  void label(Statement& s) {
    s.kind = Statement::Kind::label;
    if (reader_.is(".branchtargets") || reader_.is(".calltargets")) {
      s.kind = reader_.next().text == ".branchtargets" ? Statement::Kind::branch_targets
                                                       : Statement::Kind::call_targets;
      do s.targets.push_back(reader_.identifier());
      while (reader_.accept(","));
      reader_.expect(";");
    } else if (reader_.accept(".callprototype")) {
      s.kind = Statement::Kind::call_prototype;
      Function f;
      if (reader_.is("(")) f.returns = params();
      f.name = reader_.identifier();
      if (f.name != "_") reader_.fail("expected '_' as the prototype's name before");
      if (reader_.is("(")) f.params = params();
      while (reader_.peek().kind == TokenKind::dotted) directive(f);
      reader_.expect(";");
      s.prototype.push_back(std::move(f));
    }
  }

  SourceLine file_line_column() {
    SourceLine out;
    for (int* to : {&out.file, &out.line, &out.column})
      *to = static_cast<int>(parse_constant(reader_).integer);
    return out;
  }

  // loc = ".loc" file line column ["," "function_name" name ["+" n] "," "inlined_at" file line column]
  void location() {
    const bool counted_up = in_assembly(reader_.peek().at.line) && assembly_has_line_;
    reader_.expect(".loc");
    SourceLine here = file_line_column();
    if (reader_.accept(",")) {
      reader_.expect("function_name");
      reader_.identifier();
      if (reader_.accept("+")) parse_constant(reader_);
      reader_.expect(",");
      reader_.expect("inlined_at");
      SourceLine caller = file_line_column();
      // That place stands in a .loc before this one (PTX ISA 9.0, .loc), which may be inlined itself.
      const auto known = locations_.find({caller.file, caller.line, caller.column});
      if (known != locations_.end()) caller = known->second;
      here.inlined_at = static_cast<int>(module_.inlined_at.size());
      module_.inlined_at.push_back(caller);
    }
    if (counted_up) return;
    source_ = here;
    locations_[{here.file, here.line, here.column}] = here;
  }

  // Whether a line, never above the last that was asked for, is one of inline assembly.
  bool in_assembly(int line) {
    while (assembly_ < inline_assembly_.size() && inline_assembly_[assembly_].last < line) {
      ++assembly_;
      assembly_has_line_ = false;
    }
    return assembly_ < inline_assembly_.size() && inline_assembly_[assembly_].first <= line;
  }

  Reader reader_;
  Module module_;
  SourceLine source_;
  std::map<std::array<int, 3>, SourceLine> locations_;  // the last of each file, line and column
  std::vector<Lines> inline_assembly_;
  size_t assembly_ = 0;  // the first whose end has not been passed
  // An instruction of it has a line, which all have: behind it LLVM counts lines up that no source has.
  bool assembly_has_line_ = false;
};

}  // namespace

Module parse(std::string_view source) { return Parser(source).module(); }

}  // namespace bitwell::ptx
