// The bitwell command line.
#include <fmt/format.h>

#include "model/machine/failure.h"
#include "verify/cli/command.h"

namespace cli = bitwell::cli;

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
  try {
    app.parse(argc, argv);
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
  } catch (const std::exception& e) {
    fmt::print(stderr, "bitwell: a bug in bitwell: {}\n", e.what());
    return cli::model_bug;
  }
  return status;
}
