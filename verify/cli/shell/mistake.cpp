#include "verify/cli/shell/mistake.h"

#include <optional>
#include <sstream>
#include <string_view>

#include "verify/cli/shell/tree.h"
#include "verify/schema/nearest.h"

namespace bitwell::cli {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// The command that was named last.
const CLI::App& last_command(const CLI::App& app) {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  return *last;
}

// "run has", or of the whole program "bitwell has".
std::string in_the_way(const CLI::App& app, const CLI::App& command, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (!word.starts_with("-") || word == "-") continue;
    const std::string name = word.substr(0, word.find('='));
    std::vector<std::string> known;
    for (const CLI::Option* option : options_of(command))
      for (const std::string& one : names_of(*option)) known.push_back(one);
    return (&app == &command ? "bitwell" : command.get_name()) + " has no option '" + name + "'" +
           schema::did_you_mean(name, known);
  }
  return "";
}

std::string wrong_command(const CLI::App& app, const CLI::App& command,
                          const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const CLI::App* c : commands_of(command)) known.push_back(c->get_name());
  if (known.empty()) return "";
  const bool top = &app == &command;
  for (const std::string& word : words)
    if (!word.starts_with("-")) {
      const std::string near = schema::did_you_mean(word, known);
      return (top ? "there is no '" : command.get_name() + " has no '") + word + "'" +
             (near.empty() ? "; there are " + listed(known) : near);
    }
  return (top ? "it" : command.get_name()) + " needs one of " + listed(known);
}

// "--most: 1 required UINT missing", "--error-on: x not in {a,b}", ...: what CLI11 says of a value.
std::string of_a_value(const std::string& said) {
  const std::string_view all = said;
  const size_t in = all.rfind(" not in {"), colon = all.rfind(": ", in), equals = all.rfind(" = ");
  constexpr std::string_view kIn = " not in {", kNumber = "Could not convert: ";
  if (in != std::string::npos && colon != std::string::npos && all.ends_with('}')) {
    std::vector<std::string> names;
    std::istringstream list(said.substr(in + kIn.size(), said.size() - 1 - in - kIn.size()));
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    const std::string value = said.substr(colon + 2, in - colon - 2);
    return said.substr(0, colon) + ": '" + value + "' is not one of " + listed(names) +
           schema::did_you_mean(value, names);
  }
  if (all.starts_with(kNumber) && equals != std::string::npos)
    return said.substr(kNumber.size(), equals - kNumber.size()) + ": '" + said.substr(equals + 3) +
           "' is no number";
  if (colon != std::string::npos && all.find(" required ", colon) != std::string::npos &&
      all.ends_with(" missing"))
    return said.substr(0, colon) + " needs a value";
  return said;
}

std::string needed(const CLI::App& command, const std::string& said) {
  for (const CLI::Option* option : command.get_options())
    if (said == option->get_name() + " is required")
      return command.get_name() + " needs " + option->get_name() + ": " + in_short(option->get_description());
  return said;
}

}  // namespace

std::string mistake(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = last_command(app);
  const std::vector<std::string> words = app.remaining(true);
  const bool required = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const bool more = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::string help = " (" + path_of(command) + " --help)";
  if (required || more) {
    const std::string option = in_the_way(app, command, words);
    if (!option.empty() && words.front().starts_with("-")) return option + help;
    if (const std::string unknown = wrong_command(app, command, words); !unknown.empty())
      return unknown + help;
    if (!option.empty()) return option + help;
    if (more && !words.empty())
      return command.get_name() + " does not know what to do with '" + words.front() + "'" + help;
    return needed(command, error.what()) + help;
  }
  return of_a_value(error.what()) + help;
}

}  // namespace bitwell::cli
