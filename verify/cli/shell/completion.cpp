#include "verify/cli/shell/completion.h"

#include <fmt/format.h>

#include <functional>

#include "verify/cli/shell/tree.h"

namespace bitwell::cli {
namespace {

void each_command(const CLI::App& app, const std::function<void(const CLI::App&)>& f) {
  f(app);
  for (const CLI::App* command : commands_of(app)) each_command(*command, f);
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// In single quotes of a shell.
std::string quoted(const std::string& text, const std::string& quote) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? quote : std::string(1, c);
  return out + "'";
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* command : commands_of(app)) out.push_back(command->get_name());
  return out;
}

// What may stand in the line without an option, where that is a list.
std::vector<std::string> values_alone(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options())
    if (names_of(*option).empty())
      for (const std::string& value : values_of(*option)) out.push_back(value);
  return out;
}

std::string bash(const CLI::App& app) {
  std::string words, values;
  each_command(app, [&](const CLI::App& command) {
    std::vector<std::string> options;
    for (const CLI::Option* option : options_of(command)) {
      for (const std::string& name : names_of(*option)) {
        options.push_back(name);
        if (!takes_value(*option)) continue;
        const std::vector<std::string> list = values_of(*option);
        values += fmt::format("    '{} {}') values='{}' ;;\n", path_of(command), name,
                              list.empty() ? "<file>" : joined(list));
      }
    }
    words += fmt::format("    '{}') commands='{}' options='{}' ;;\n", path_of(command),
                         joined(names_of_commands(command)) + joined(values_alone(command)), joined(options));
  });
  return "# bash completion of bitwell, by `bitwell completion bash`\n"
         "_bitwell() {\n"
         "  local path=bitwell commands= options= values= i\n"
         "  for ((i = 1; i <= COMP_CWORD; ++i)); do\n"
         "    _bitwell_words \"$path\"\n"
         "    if ((i < COMP_CWORD)) && [[ \" $commands \" == *\" ${COMP_WORDS[i]} \"* ]]; then path+=\" "
         "${COMP_WORDS[i]}\"; fi\n"
         "  done\n"
         "  _bitwell_words \"$path\"\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "  _bitwell_values \"$path $before\"\n"
         "  if [[ -n $values && $values != '<file>' ]]; then COMPREPLY=($(compgen -W \"$values\" -- "
         "\"$word\"))\n"
         "  elif [[ -z $values && $word == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  elif [[ -z $values && -n $commands ]]; then COMPREPLY=($(compgen -W \"$commands\" -- "
         "\"$word\"))\n"
         "  else compopt -o default 2> /dev/null; COMPREPLY=()\n"
         "  fi\n"
         "}\n"
         "_bitwell_words() {\n"
         "  case $1 in\n" +
         words +
         "    *) commands= options= ;;\n"
         "  esac\n"
         "}\n"
         "_bitwell_values() {\n"
         "  case $1 in\n" +
         values +
         "    *) values= ;;\n"
         "  esac\n"
         "}\n"
         "complete -F _bitwell bitwell\n";
}

// A name and what it is, as _describe takes them.
std::string described(const std::string& name, const std::string& description) {
  std::string escaped;
  for (const char c : name) escaped += c == ':' ? "\\:" : std::string(1, c);
  return " " + quoted(escaped + ":" + in_short(description), "'\\''");
}

std::string zsh(const CLI::App& app) {
  std::string words, values;
  each_command(app, [&](const CLI::App& command) {
    std::string commands, options;
    for (const CLI::App* c : commands_of(command)) commands += described(c->get_name(), c->get_description());
    for (const std::string& value : values_alone(command)) commands += described(value, "");
    for (const CLI::Option* option : options_of(command))
      for (const std::string& name : names_of(*option)) {
        options += described(name, option->get_description());
        if (!takes_value(*option)) continue;
        const std::vector<std::string> list = values_of(*option);
        values += fmt::format("    '{} {}') {} ;;\n", path_of(command), name,
                              list.empty() ? "_files" : "compadd -- " + joined(list));
      }
    words += fmt::format("    '{}') commands=({}) options=({}) ;;\n", path_of(command), commands, options);
  });
  return "#compdef bitwell\n"
         "# zsh completion of bitwell, by `bitwell completion zsh`\n"
         "_bitwell_words() {\n"
         "  case $1 in\n" +
         words +
         "    *) commands=() options=() ;;\n"
         "  esac\n"
         "}\n"
         "_bitwell_values() {\n"
         "  case $1 in\n" +
         values +
         "    *) return 1 ;;\n"
         "  esac\n"
         "}\n"
         "_bitwell() {\n"
         "  local at=bitwell i\n"
         "  local -a commands options\n"
         "  for ((i = 2; i < CURRENT; ++i)); do\n"
         "    _bitwell_words \"$at\"\n"
         "    if [[ -n ${(M)commands:#${words[i]}:*} ]]; then at+=\" ${words[i]}\"; fi\n"
         "  done\n"
         "  _bitwell_words \"$at\"\n"
         "  _bitwell_values \"$at ${words[CURRENT-1]}\" && return\n"
         "  if [[ $PREFIX == -* ]]; then _describe -o option options\n"
         "  elif (( $#commands )); then _describe command commands\n"
         "  else _files\n"
         "  fi\n"
         "}\n"
         "if [[ $funcstack[1] == _bitwell ]]; then _bitwell \"$@\"; else compdef _bitwell bitwell; fi\n";
}

std::string fish(const CLI::App& app) {
  std::string out = "# fish completion of bitwell, by `bitwell completion fish`\n";
  each_command(app, [&](const CLI::App& command) {
    std::string where;
    for (const CLI::App* c = &command; c->get_parent() != nullptr; c = c->get_parent())
      where = fmt::format("__fish_seen_subcommand_from {}{}", c->get_name(),
                          where.empty() ? "" : "; and " + where);
    const std::vector<std::string> inner = names_of_commands(command);
    const std::string none_yet = inner.empty() ? "" : "not __fish_seen_subcommand_from " + joined(inner);
    const auto condition = [](const std::string& all) {
      return all.empty() ? "" : " -n " + quoted(all, "\\'");
    };
    for (const CLI::App* c : commands_of(command))
      out += fmt::format("complete -c bitwell -f{} -a {} -d {}\n",
                         condition(where.empty() ? none_yet : where + "; and " + none_yet), c->get_name(),
                         quoted(in_short(c->get_description()), "\\'"));
    if (const std::vector<std::string> values = values_alone(command); !values.empty())
      out += fmt::format("complete -c bitwell -f{} -a {}\n", condition(where), quoted(joined(values), "\\'"));
    for (const CLI::Option* option : options_of(command)) {
      std::string names;
      for (const std::string& name : option->get_snames()) names += " -s " + name;
      for (const std::string& name : option->get_lnames()) names += " -l " + name;
      const std::vector<std::string> list = values_of(*option);
      const std::string value = !takes_value(*option) ? ""
                                : list.empty()        ? " -r"
                                                      : " -x -a " + quoted(joined(list), "\\'");
      out += fmt::format("complete -c bitwell{}{}{} -d {}\n", condition(where.empty() ? none_yet : where),
                         names, value, quoted(in_short(option->get_description()), "\\'"));
    }
  });
  return out;
}

}  // namespace

std::string completion(const CLI::App& app, std::string_view shell) {
  return shell == "bash" ? bash(app) : shell == "zsh" ? zsh(app) : fish(app);
}

}  // namespace bitwell::cli
