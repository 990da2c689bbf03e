// The bitwell command line.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <new>
#include <stdexcept>

#include "model/machine/failure.h"
#include "verify/cli/command.h"

namespace cli = bitwell::cli;

namespace {

// CLI11 reads "-1" as 2^64 - 1 and larger numbers as that.
const CLI::Validator whole_number(
    [](const std::string& text) {
      uint64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      return error == std::errc() && end == text.data() + text.size()
                 ? std::string()
                 : "'" + text + "' is no whole number from 0 to 18446744073709551615";
    },
    "");

void check_whole_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_type_name().starts_with("UINT")) option->check(whole_number);
  for (CLI::App* command : app.get_subcommands({})) check_whole_numbers(*command);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"bitwell runs NVFP4 GPU kernels on a CPU, bit for bit, and judges them.", "bitwell"};
  app.require_subcommand(1);
  app.set_version_flag("--version", BITWELL_VERSION);
  app.footer(
      "Exit status: 0 held, 1 a verdict failed or the kernel is at fault, 2 unusable input, 3 unsupported, 4 "
      "a bug in bitwell.");
  int status = cli::held;
  cli::add_verify(app, status);
  cli::add_run(app, status);
  cli::add_check(app, status);
  cli::add_formats(app, status);
  cli::add_layout(app, status);
  cli::add_budget(app, status);
  cli::add_mma(app, status);
  cli::add_study(app, status);
  check_whole_numbers(app);
  try {
    app.parse(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw bitwell::machine::InputError("cannot write to the standard output");
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    app.exit(e);
    return cli::unusable;
  } catch (const bitwell::machine::Fault& e) {
    fmt::print(stderr, "bitwell: fault: {}\n", e.what());
    return cli::failed;
  } catch (const bitwell::machine::Unsupported& e) {
    fmt::print(stderr, "bitwell: unsupported: {}\n", e.what());
    return cli::unsupported;
  } catch (const bitwell::machine::InputError& e) {
    fmt::print(stderr, "bitwell: {}\n", e.what());
    return cli::unusable;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "bitwell: it needs more memory than there is\n");
    return cli::unusable;
  } catch (const std::length_error&) {
    fmt::print(stderr, "bitwell: it needs more memory than there is\n");
    return cli::unusable;
  } catch (const std::exception& e) {
    fmt::print(stderr, "bitwell: a bug in bitwell: {}\n", e.what());
    return cli::model_bug;
  }
  return status;
}
