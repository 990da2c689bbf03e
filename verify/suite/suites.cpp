#include <cctype>

#include "model/machine/failure.h"
#include "verify/schema/nearest.h"
#include "verify/suite/suite.h"

namespace bitwell::suite {

Suite gemv_suite();
Suite gemm_suite();
Suite dense_suite();
Suite dual_suite();
Suite grouped_suite();
Suite svdquant_suite();
Suite quantise_suite();
Suite rtx_suite();

const std::vector<Suite>& suites() {
  static const std::vector<Suite> all{gemv_suite(),    gemm_suite(),     dense_suite(),    dual_suite(),
                                      grouped_suite(), svdquant_suite(), quantise_suite(), rtx_suite()};
  return all;
}

namespace {

template <class Row>
const Row& find(const std::vector<Row>& rows, std::string_view name, const std::string& what) {
  std::vector<std::string> names;
  std::string known;
  for (const Row& r : rows) {
    if (r.name == name) return r;
    names.push_back(r.name);
    known += (known.empty() ? "" : ", ") + r.name;
  }
  throw machine::InputError("no " + what + " '" + std::string(name) + "'; there are " + known +
                            schema::did_you_mean(name, names));
}

}  // namespace

const Suite& suite(std::string_view name) { return find(suites(), name, "suite"); }

const Kernel& kernel(const Suite& suite, std::string_view name) {
  std::string problem = suite.name;
  for (char& c : problem) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return find(suite.kernels, name, problem + " kernel");
}

}  // namespace bitwell::suite
