// bitwell schema
#include <fmt/format.h>

#include <memory>

#include "verify/cli/command.h"
#include "verify/schema/json_schema.h"
#include "verify/schema/keys_page.h"

namespace bitwell::cli {

void add_schema(CLI::App& app) {
  CLI::App* command = app.add_subcommand("schema", "What a LAUNCH.json may say, as JSON Schema for editors");
  auto keys = std::make_shared<bool>(false);
  command->add_flag("--keys", *keys, "As tables to read, in Markdown");
  command->footer(
      "An editor completes and checks a launch that begins with {\"$schema\": \"launch.schema.json\", ...}.\n"
      "Example:  bitwell schema > launch.schema.json");
  command->callback([keys] { fmt::print("{}", *keys ? schema::keys_page() : schema::json_schema()); });
}

}  // namespace bitwell::cli
