#include "verify/cli/shell/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "verify/cli/shell/tree.h"

namespace bitwell::cli {
namespace {

// As roff has it: no line begins a request, backslashes and dashes are themselves.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string value_name(const CLI::Option& option) {
  const std::vector<std::string> values = values_of(option);
  if (values.empty()) return option.get_type_name().substr(0, option.get_type_name().find_first_of(":[("));
  std::string out;
  for (const std::string& value : values) out += (out.empty() ? "" : "|") + value;
  return out;
}

std::string options(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : command.get_options()) {
    std::string names;
    for (const std::string& name : names_of(*option)) names += (names.empty() ? "" : ", ") + name;
    if (names.empty()) names = option->get_name();
    out += ".TP\n.B " + roff(names) +
           (takes_value(*option) && !names_of(*option).empty() ? " \\fI" + roff(value_name(*option)) + "\\fR"
                                                               : "") +
           "\n" + roff(option->get_description()) + "\n";
    const std::string preset = option->get_default_str();
    if (!preset.empty()) out += "Default: " + roff(preset) + ".\n";
  }
  return out;
}

std::string footer(const CLI::App& command) {
  const std::string text = command.get_footer();
  return text.empty() ? "" : ".PP\n.nf\n" + roff(text) + "\n.fi\n";
}

}  // namespace

std::string manual_name(const CLI::App& command) {
  std::string name = path_of(command);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string manual(const CLI::App& command) {
  const std::string name = manual_name(command);
  std::string out = ".\\\" made by `bitwell man` from the commands themselves\n.TH " + roff(upper(name)) +
                    " 1 \"\" \"bitwell " BITWELL_VERSION "\"\n";
  out += ".SH NAME\n" + roff(name) + " \\- " + roff(in_short(command.get_description())) + "\n";
  const std::vector<const CLI::App*> inner = commands_of(command);
  std::string positional;
  for (const CLI::Option* option : command.get_options())
    if (names_of(*option).empty()) positional += " " + option->get_name();
  if (command.get_prefix_command()) positional += " -- PROGRAM ARGUMENTS";
  out += ".SH SYNOPSIS\n.B " + roff(path_of(command)) + "\n" +
         roff((inner.empty() ? "[OPTIONS]" : "COMMAND [OPTIONS]") + positional) + "\n";
  out += ".SH DESCRIPTION\n" + roff(command.get_description()) + "\n" + footer(command);
  if (!inner.empty()) out += ".SH COMMANDS\n";
  const bool top = command.get_parent() == nullptr;
  for (const CLI::App* c : inner) {
    out += ".TP\n.B " + roff(c->get_name()) + "\n" +
           roff(top ? in_short(c->get_description()) : c->get_description()) + "\n";
    if (!top) out += ".RS\n" + options(*c) + ".RE\n";
  }
  out += ".SH OPTIONS\n" + options(command);
  if (!top) return out + ".SH SEE ALSO\n.BR bitwell (1)\n";
  std::string others;
  for (const CLI::App* c : inner)
    others += (others.empty() ? "" : " ,\n.BR ") + roff(manual_name(*c)) + " (1)";
  return out + ".SH SEE ALSO\n.BR " + others + "\n";
}

}  // namespace bitwell::cli
