// One walk over the grammar gives a table of options per command; each shell gets that table in its own words
// and a few fixed lines that use it. The scripts ask nothing of the program when they run, so completion is
// as quick as the shell, and names of locks are not completed: to know them, every key of every node would
// have to be read.
#include "cli/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/grammar.h"
#include "redlock/name.h"

namespace redlock::cli {

namespace {

struct Option {
  std::vector<std::string> spellings;  // with their dashes
  bool takes_value = false;
  std::string values;  // FILE, or words with | between them; empty: anything
};

struct Command {
  std::string name;  // empty: options of all commands
  std::vector<Option> options;
  std::string words;  // that its first argument is chosen from
};

Command read(const CLI::App& app, std::string name) {
  Command command{std::move(name), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->nonpositional()) {
      command.words = option->get_type_name().find('|') != std::string::npos ? option->get_type_name() : "";
      continue;
    }
    if (!command.name.empty() && option == app.get_help_ptr()) continue;  // everybody's
    Option entry;
    for (const auto& letter : option->get_snames()) entry.spellings.push_back("-" + letter);
    for (const auto& word : option->get_lnames()) entry.spellings.push_back("--" + word);
    entry.takes_value = option->get_items_expected_min() > 0;
    entry.values = entry.takes_value ? option->get_type_name() : "";
    command.options.push_back(std::move(entry));
  }
  return command;
}

std::vector<Command> read_all(const Grammar& grammar) {
  std::vector<Command> commands = {read(grammar.app, "")};
  for (const CLI::App* sub : grammar.app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(read(*sub, sub->get_name()));
  return commands;
}

std::string with_spaces(std::string words) {
  for (char& c : words)
    if (c == '|') c = ' ';
  return words;
}

template <class Fits>
std::string spellings(const std::vector<Option>& options, const std::string& between, Fits&& fits) {
  std::string text;
  for (const Option& option : options)
    if (fits(option))
      for (const auto& spelling : option.spellings) (text += text.empty() ? "" : between) += spelling;
  return text;
}

std::string command_names(const std::vector<Command>& commands) {
  std::string text;
  for (std::size_t i = 1; i < commands.size(); ++i) (text += i == 1 ? "" : " ") += commands[i].name;
  return text;
}

// Every option of every command, once: a spelling means the same everywhere.
std::vector<Option> every_option(const std::vector<Command>& commands) {
  std::vector<Option> all;
  for (const Command& command : commands)
    for (const Option& option : command.options)
      if (std::none_of(all.begin(), all.end(),
                       [&option](const Option& known) { return known.spellings == option.spellings; }))
        all.push_back(option);
  return all;
}

// What bash and zsh have in common: case branches for the words of a shell.
std::string value_cases(const std::vector<Option>& all, std::string_view file, std::string_view words) {
  std::string text;
  for (const Option& option : all) {
    if (!option.takes_value) continue;
    const std::string pattern = spellings({option}, "|", [](const Option&) { return true; });
    if (option.values == "FILE")
      text += fmt::format("    {}) {} ;;\n", pattern, file);
    else if (!option.values.empty())
      text += fmt::format("    {}) {} ;;\n", pattern,
                          fmt::format(fmt::runtime(words), with_spaces(option.values)));
    else
      text += fmt::format("    {}) return ;;\n", pattern);
  }
  return text;
}

std::string option_cases(const std::vector<Command>& commands) {
  const auto any = [](const Option&) { return true; };
  std::string text;
  for (std::size_t i = 1; i < commands.size(); ++i) {
    const Command& command = commands[i];
    text += fmt::format("    {}) options+=\" {}\" words=\"{}\" ;;\n", command.name,
                        spellings(command.options, " ", any), with_spaces(command.words));
  }
  return text;
}

std::string with_value(const std::vector<Option>& all) {
  return spellings(all, "|", [](const Option& option) { return option.takes_value; });
}

// `complete -o` is not relied on: this has to work in a plain bash without the package bash-completion.
std::string bash(const std::vector<Command>& commands) {
  const auto all = every_option(commands);
  std::string text = R"(# redlock(1) completion for bash; made by 'redlock completion bash'
_redlock_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}
_redlock() {
  local current=${COMP_WORDS[COMP_CWORD]} previous= command= options= words= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
    --)
      [[ $command == run ]] || return
      if ((i + 1 == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
      else
        _redlock_files "$current"
      fi
      return
      ;;
    @VALUED@) ((i++)) ;;
    -*) ;;
    *) [[ -n $command ]] || command=${COMP_WORDS[i]} ;;
    esac
  done
  previous=${COMP_WORDS[COMP_CWORD - 1]}
  case $previous in
@VALUES@  esac
  options="@GLOBAL@"
  case $command in
    '') words="@COMMANDS@" ;;
@OPTIONS@  esac
  if [[ $current == -* ]]; then words=$options; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _redlock redlock
)";
  const auto put = [&text](std::string_view name, const std::string& value) {
    text.replace(text.find(name), name.size(), value);
  };
  put("@VALUED@", with_value(all));
  put("@VALUES@", value_cases(all, "_redlock_files \"$current\"; return",
                              "mapfile -t COMPREPLY < <(compgen -W \"{}\" -- \"$current\"); return"));
  put("@GLOBAL@", spellings(commands.front().options, " ", [](const Option&) { return true; }));
  put("@COMMANDS@", command_names(commands));
  put("@OPTIONS@", option_cases(commands));
  return text;
}

std::string zsh(const std::vector<Command>& commands) {
  const auto all = every_option(commands);
  std::string text = R"(#compdef redlock
# redlock(1) completion for zsh; made by 'redlock completion zsh'
_redlock() {
  local current=${words[CURRENT]} previous=${words[CURRENT-1]} command= options= choice= word
  local -i i=2
  while ((i < CURRENT)); do
    case ${words[i]} in
    --)
      [[ $command == run ]] || return
      shift i words
      ((CURRENT -= i))
      _normal
      return
      ;;
    @VALUED@) ((i++)) ;;
    -*) ;;
    *) [[ -n $command ]] || command=${words[i]} ;;
    esac
    ((i++))
  done
  case $previous in
@VALUES@  esac
  options="@GLOBAL@"
  case $command in
    '') choice="@COMMANDS@" ;;
@OPTIONS@  esac
  if [[ $current == -* ]]; then choice=$options; fi
  compadd -- ${=choice}
}
if [[ $funcstack[1] == _redlock ]]; then _redlock "$@"; else compdef _redlock redlock; fi
)";
  const auto put = [&text](std::string_view name, const std::string& value) {
    text.replace(text.find(name), name.size(), value);
  };
  put("@VALUED@", with_value(all));
  put("@VALUES@", value_cases(all, "_files; return", "compadd -- {}; return"));
  put("@GLOBAL@", spellings(commands.front().options, " ", [](const Option&) { return true; }));
  put("@COMMANDS@", command_names(commands));
  std::string cases = option_cases(commands);
  for (auto at = cases.find("\" words=\""); at != std::string::npos; at = cases.find("\" words=\"", at + 1))
    cases.replace(at, 9, "\" choice=\"");
  put("@OPTIONS@", cases);
  return text;
}

std::string fish(const std::vector<Command>& commands) {
  std::string text = "# redlock(1) completion for fish; made by 'redlock completion fish'\n";
  const std::string names = command_names(commands);
  text += "complete -c redlock -f\n";
  text += fmt::format("complete -c redlock -n 'not __fish_seen_subcommand_from {0}' -a '{0}'\n", names);
  for (const Command& command : commands) {
    const std::string when =
        command.name.empty() ? "" : fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name);
    for (const Option& option : command.options) {
      text += "complete -c redlock" + when;
      for (const auto& spelling : option.spellings)
        text += spelling.starts_with("--") ? " -l " + spelling.substr(2) : " -s " + spelling.substr(1);
      if (option.values == "FILE")
        text += " -r -F";
      else if (option.takes_value)
        text += " -x";
      if (option.values.find('|') != std::string::npos)
        text += fmt::format(" -a '{}'", with_spaces(option.values));
      text += "\n";
    }
    if (!command.words.empty())
      text += fmt::format("complete -c redlock{} -a '{}'\n", when, with_spaces(command.words));
  }
  // Behind "--" stands the command of `run`.
  text +=
      "complete -c redlock -n '__fish_seen_subcommand_from run; and contains -- -- (commandline -opc)' -F -a "
      "'(__fish_complete_subcommand --fcs-skip=(contains -i -- -- (commandline -opc)))'\n";
  return text;
}

}  // namespace

expected<std::string, std::string> completion(const Grammar& grammar, std::string_view shell) {
  const auto commands = read_all(grammar);
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  return unexpected<std::string>(
      fmt::format("completion: '{}' is no shell that is known; write bash, zsh or fish", printable(shell)));
}

}  // namespace redlock::cli
