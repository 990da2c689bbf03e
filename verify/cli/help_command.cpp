// bitwell help: the pages of docs/, as they are built and installed beside the program.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "model/machine/failure.h"
#include "verify/capture/captures.h"
#include "verify/cli/command.h"
#include "verify/schema/nearest.h"

namespace bitwell::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> pages() {
  const std::string folder = verify::share_folder("docs");
  if (!fs::is_directory(folder))
    throw machine::InputError("the pages are not there: " + folder + " belongs to the installation");
  std::vector<std::string> out;
  for (const auto& file : fs::directory_iterator(folder))
    if (file.path().extension() == ".md") out.push_back(file.path().stem().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::string text_of(const std::string& page) {
  std::ifstream file(fs::path(verify::share_folder("docs")) / (page + ".md"));
  std::ostringstream text;
  if (!(text << file.rdbuf())) throw machine::InputError("the page '" + page + "' cannot be read");
  return text.str();
}

void list_pages() {
  size_t width = 0;
  for (const std::string& page : pages()) width = std::max(width, page.size());
  for (const std::string& page : pages()) {
    const std::string text = text_of(page);
    const std::string title = text.substr(0, text.find('\n'));
    fmt::print("{:{}}  {}\n", page, width,
               title.substr(std::min(title.size(), title.find_first_not_of("# "))));
  }
  fmt::print("\nbitwell help NAME prints a page, of a command its options.\n");
}

void print_help(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names = pages();
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    fmt::print("{}", text_of(name));
    return;
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == name) {
      fmt::print("{}", command->help(app.get_name()));
      return;
    }
    names.push_back(command->get_name());
  }
  throw machine::InputError("there is no page '" + name + "'" + schema::did_you_mean(name, names) +
                            " (`bitwell help` lists all)");
}

}  // namespace

void add_help(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "Print a page of the manual, or list the pages");
  auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "A page, or a command; without it all pages");
  command->callback([&app, name] {
    if (name->empty())
      list_pages();
    else
      print_help(app, *name);
  });
}

}  // namespace bitwell::cli
