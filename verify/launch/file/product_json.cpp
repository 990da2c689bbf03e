// "product": the two matrices that an output is expected to be the product of.
#include <algorithm>

#include "verify/launch/file/launch_reader.h"
#include "verify/launch/file/numbers.h"

namespace bitwell::launch {
namespace {

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string out;
  for (const uint64_t n : shape) out += (out.empty() ? "" : " x ") + std::to_string(n);
  return out;
}

}  // namespace

Factor LaunchReader::factor(const std::string& name, const std::string& where) {
  const std::vector<Buffer>& buffers = file_.launch.buffers;
  const auto at =
      std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& b) { return b.name == name; });
  Factor out;
  if (at == buffers.end() && std::filesystem::path(name).extension() == ".npy") {
    out.array = placed(where, [&] { return read_npy(input(name)); });
  } else {
    const size_t buffer = named(buffers, name, where);
    const Buffer& b = buffers[buffer];
    if (!b.defined) refuse(where + ": '" + name + "' has no contents before the launch");
    const Output& as = arrays_[buffer];
    out = {{as.dtype, as.shape, b.bytes}, as.format};
    out.array.bytes.resize(b.size());
  }
  if (out.array.shape.size() != 2)
    refuse(where + ": '" + name + "' is no matrix but " + shape_text(out.array.shape) +
           "; a buffer has a 'shape' and a 'dtype' or 'format' of its own");
  return out;
}

void LaunchReader::product(const Factored& f) {
  const std::string where = f.name + ", product";
  const Fields<Of::product> given(f.product, where);
  Output& of = file_.outputs.at(f.buffer);
  if (of.shape.size() != 2)
    refuse(where + ": the output is " + shape_text(of.shape) + ", it must be a matrix, m x n");
  Product p;
  const std::string a = given.text("a");
  const std::string b = given.text("b");
  p.a = factor(a, where);
  p.b = factor(b, where);
  const std::vector<uint64_t>& a_shape = p.a.array.shape;
  const std::vector<uint64_t>& b_shape = p.b.array.shape;
  p.m = of.shape[0];
  p.n = of.shape[1];
  p.k = a_shape[1];
  if (a_shape[0] != p.m)
    refuse(where + ": '" + a + "' is " + shape_text(a_shape) + ", it must be m x k, m is " +
           std::to_string(p.m));
  const std::vector<uint64_t> nk{p.n, p.k};
  const std::vector<uint64_t> kn{p.k, p.n};
  const std::string order = given.text("b_order", b_shape == nk ? "nk" : "kn");
  if (nk == kn && !given.has("b_order"))
    refuse(where + ": '" + b + "' is " + shape_text(b_shape) +
           ", which may be n x k or k x n: 'b_order' says which, nk or kn");
  if (b_shape != (order == "nk" ? nk : kn))
    refuse(where + ": '" + b + "' is " + shape_text(b_shape) +
           ", it must be n x k or k x n: " + shape_text(nk) + " or " + shape_text(kn));
  p.b_is_kn = order == "kn";
  p.alpha = given.number("alpha");
  of.expected->product = std::move(p);
}

}  // namespace bitwell::launch
