#include "verify/cli/shell/tree.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace bitwell::cli {

std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent == nullptr ? "" : path_of(*parent) + " ") + command.get_name();
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> out;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) out.push_back(command);
  return out;
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  std::vector<const CLI::Option*> out;
  for (const CLI::Option* option : command.get_options())
    if (!names_of(*option).empty()) out.push_back(option);
  return out;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> out;
  for (const std::string& name : option.get_snames()) out.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.push_back("--" + name);
  return out;
}

std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();  // "TEXT:{error,note,none}"
  const size_t open = type.find('{');
  if (open == std::string::npos || !type.ends_with('}')) return {};
  std::vector<std::string> out;
  std::istringstream list(type.substr(open + 1, type.size() - open - 2));
  for (std::string value; std::getline(list, value, ',');) out.push_back(value);
  return out;
}

bool takes_value(const CLI::Option& option) { return option.get_expected_max() != 0; }

std::string in_short(const std::string& description) {
  constexpr size_t most = 72;
  // What "With --races: ..." is about stands behind it. Parentheses that stand in a formula stay.
  std::string out = description;
  if (out.starts_with("With --"))
    if (const size_t on = out.find_first_of(":,"); on != std::string::npos) out.erase(0, on + 2);
  out.erase(std::min(out.find_first_of(":;"), out.size()));
  for (size_t at = out.find(" ("); at != std::string::npos; at = out.find(" (", at + 1))
    if (at != 0 && std::isalnum(static_cast<unsigned char>(out[at - 1])) != 0) out.erase(at);
  if (const size_t stop = out.find(". "); stop != std::string::npos) out.erase(stop);
  if (out.size() > most) out = out.substr(0, out.rfind(' ', most)) + " ...";
  while (out.ends_with(' ') || out.ends_with(',')) out.pop_back();
  return out;
}

}  // namespace bitwell::cli
