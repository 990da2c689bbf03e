// What stands in a buffer or a variable before a launch, and what becomes of it afterwards.
#include <cstring>
#include <random>

#include "model/number/codec.h"
#include "verify/launch/launch_reader.h"
#include "verify/launch/memory_watch.h"
#include "verify/launch/npy.h"
#include "verify/launch/numbers.h"

namespace bitwell::verify {

namespace fs = std::filesystem;

// Bytes of a buffer. Below 2^46 sums of them stay in the range of global addresses.
size_t LaunchReader::size(const json& j, const char* key, const std::string& where) const {
  return whole_below(j.at(key), where + ": '" + key + "'", 46);
}

// Refuses contents that this machine cannot hold, before they are read or made: here, and in the simulated
// memory; `extra` bytes on the way.
void LaunchReader::hold(uint64_t bytes, uint64_t extra, const std::string& where) {
  contents_ += bytes;
  const uint64_t need = 2 * contents_ + extra;
  if (need < uint64_t{64} << 20) return;
  if (const uint64_t host = memory_left(); need > host)
    refuse(where + ": with its " + std::to_string(bytes) + " bytes the buffers' contents take " +
           std::to_string(need) + " bytes of memory, this machine has " + std::to_string(host) + " left");
}
std::string LaunchReader::file(const json& j, const char* key, const std::string& where) {
  const std::string path = input(text(j, key, where));
  std::error_code unknown;
  const uint64_t bytes = fs::file_size(path, unknown);  // reading it says what is wrong with it
  if (!unknown && bytes <= kMostBuffer) hold(bytes, bytes, where);
  return path;
}

std::vector<std::byte> LaunchReader::generate(const json& j, const std::string& where) {
  allow(j, {"kind", "bytes", "seed"}, where + ", generate");
  const std::string kind = text(j, "kind", where + ", generate");
  if (!j.contains("bytes")) refuse(where + ", generate has no 'bytes'");
  const size_t bytes = size(j, "bytes", where + ", generate");
  hold(bytes, 0, where);
  std::vector<std::byte> out(bytes);
  std::mt19937_64 random(j.contains("seed") ? whole_below(j.at("seed"), where + ", generate: 'seed'", 64)
                                            : 1);
  const auto each = [&](auto value) {
    for (size_t i = 0; i + sizeof(value(i)) <= out.size(); i += sizeof(value(i))) {
      const auto v = value(i / sizeof(value(i)));
      std::memcpy(out.data() + i, &v, sizeof v);
    }
  };
  if (kind == "uniform_bits")
    each([&](size_t) { return static_cast<uint8_t>(random()); });
  else if (kind == "iota_u32")
    each([&](size_t i) { return static_cast<uint32_t>(i); });
  else if (kind == "uniform_f32")
    each([&](size_t) { return static_cast<float>(static_cast<int32_t>(random() >> 40)) * 0x1p-23f - 1.0f; });
  else
    refuse(where + ": generator '" + kind + "' is not one of uniform_bits, iota_u32, uniform_f32");
  return out;
}

LaunchReader::Contents LaunchReader::contents(const json& j, const std::string& where,
                                              bool may_be_unwritten) {
  int sources = 0;
  for (const char* key : {"npy", "bin", "values", "zeros", "unwritten", "generate"})
    sources += j.contains(key) ? 1 : 0;
  if (sources != 1 || (!may_be_unwritten && j.contains("unwritten")))
    refuse(where + " needs exactly one of npy, bin, values, zeros, " +
           (may_be_unwritten ? "unwritten, " : "") + "generate");
  Contents out;
  out.format = text(j, "format", where, "");
  if (!out.format.empty()) placed(where, [&] { packed_format(out.format); });
  if (j.contains("npy")) {
    const std::string path = file(j, "npy", where);
    Array array = placed(where, [&] { return read_npy(path); });
    out.dtype = array.dtype;
    out.shape = array.shape;
    out.bytes = out.format.empty() ? std::move(array.bytes)
                                   : placed(where, [&] { return packed(array, out.format); });
  } else if (j.contains("values")) {
    Array array{"f8", {}, {}};
    for (const json& v : list(j, "values")) {
      if (!v.is_number()) refuse(where + ": 'values' holds " + shown(v) + ", it must be numbers");
      const double d = v.get<double>();
      const auto* bytes = reinterpret_cast<const std::byte*>(&d);
      array.bytes.insert(array.bytes.end(), bytes, bytes + sizeof d);
    }
    array.shape = {array.bytes.size() / sizeof(double)};
    out.shape = array.shape;
    if (out.format.empty()) refuse(where + ": 'values' needs a 'format' that says what they become");
    out.bytes = placed(where, [&] { return packed(array, out.format); });
  } else if (j.contains("bin")) {
    const std::string path = file(j, "bin", where);
    const std::string bytes = placed(where, [&] { return read_file(path, kMostBuffer); });
    out.bytes.resize(bytes.size());
    std::memcpy(out.bytes.data(), bytes.data(), bytes.size());
  } else if (j.contains("generate")) {
    out.bytes = generate(j.at("generate"), where);
  } else {
    out.defined = j.contains("zeros");
    out.blank = size(j, out.defined ? "zeros" : "unwritten", where);
  }
  return out;
}

std::string LaunchReader::output_path(const json& j, const std::string& where,
                                      const std::string& name) const {
  const std::string file = text(j, "output", name);
  if (file.empty()) refuse(where + ": its output: cannot write '': no name of a file");
  return place(file);
}

void LaunchReader::output(const json& j, const std::string& where, const std::string& name,
                          const Contents& before, uint64_t size, Output& out) {
  const bool keeps = j.contains("output") || j.contains("expected");
  out.format = before.format;
  out.dtype = text(j, "dtype", name, out.format.empty() ? before.dtype : "f4");
  out.shape = before.shape;
  if (j.contains("shape")) {
    if (!j.at("shape").is_array()) refuse(name + ": 'shape' must be a list of whole numbers");
    out.shape.clear();
    for (const json& v : j.at("shape")) out.shape.push_back(whole_below(v, name + ": 'shape'", 64));
  }
  const uint64_t bits = out.format.empty() ? 8 * placed(name, [&] { return element_size(out.dtype); })
                                           : bits_of_packed(out.format);
  uint64_t want = bits;
  for (const uint64_t n : out.shape)
    if (__builtin_mul_overflow(want, n, &want))
      refuse(name + ": its shape and dtype make more than 2^64 bytes");
  if (out.shape.empty()) out.shape = {size * 8 / bits}, want = out.shape[0] * bits;
  if (keeps && want != 8 * size)
    refuse(name + ": its shape and " + (out.format.empty() ? "dtype" : "format") + " make " +
           std::to_string(want / 8) + " bytes, the buffer has " + std::to_string(size));
  if (j.contains("output")) {
    out.path = output_path(j, where, name);
    out.named_by = "'" + path_ + "': " + where + ": its output";
  }
  if (j.contains("expected")) expected(j, name, out);
}

void LaunchReader::expected(const json& j, const std::string& name, Output& out) {
  const std::string path = file(j, "expected", name);
  Array want = placed(name, [&] { return read_npy(path); });
  uint64_t count = 1;
  for (const uint64_t n : out.shape) count *= n;
  uint64_t have = 1;
  for (const uint64_t n : want.shape) have *= n;
  if (have != count)
    refuse(name + ": '" + path + "' has " + std::to_string(have) + " elements, the output has " +
           std::to_string(count));
  Expected e;
  e.numbers = placed(name, [&] { return numbers(want); });
  if (j.contains("tolerance")) {
    const json& t = j.at("tolerance");
    const std::string where = name + ", tolerance";
    allow(t, {"ulp", "rtol", "atol", "nan"}, where);
    if (t.contains("ulp") && (t.contains("rtol") || t.contains("atol")))
      refuse(where + " is either 'ulp' or 'rtol' and 'atol'");
    if (t.contains("ulp")) e.tolerance.ulp = whole_below(t.at("ulp"), where + ": 'ulp'", 32);
    if (t.contains("rtol")) e.tolerance.rtol = number(t, "rtol", where);
    if (t.contains("atol")) e.tolerance.atol = number(t, "atol", where);
    const std::string nan = text(t, "nan", where, "any");
    if (nan != "any" && nan != "bits") refuse(where + ": 'nan' is '" + nan + "', it is either any or bits");
    e.tolerance.nan_bits = nan == "bits";
    if (e.tolerance.nan_bits && (!out.format.empty() || want.dtype != out.dtype))
      refuse(where + ": 'nan' can be bits only where '" + path + "' has the output's own type, " +
             (out.format.empty() ? out.dtype : out.format) + ", not " + want.dtype);
    if (e.tolerance.nan_bits) e.codes = want.bytes;
  }
  if (want.shape.size() > 1) out.shape = want.shape;
  out.expected = std::move(e);
}

size_t LaunchReader::buffer(const json& j, const std::string& where) {
  allow(j,
        {"buffer", "npy", "bin", "values", "zeros", "unwritten", "generate", "format", "read_only", "output",
         "expected", "product", "tolerance", "dtype", "shape", "fields", "address"},
        where);
  Buffer b;
  b.name = text(j, "buffer", where);
  for (const Buffer& other : file_.launch.buffers)
    if (other.name == b.name) refuse(where + ": there is a buffer '" + b.name + "' before it");
  const std::string name = where + " ('" + b.name + "')";
  Contents c = contents(j, name, true);
  b.bytes = std::move(c.bytes);
  b.defined = c.defined;
  b.blank = c.blank;
  b.read_only = flag(j, "read_only", name);
  b.output = j.contains("output") || j.contains("expected");
  if (b.read_only && b.output) refuse(name + " cannot be read_only and an output");
  if (j.contains("address")) {
    b.address = whole_below(j.at("address"), name + ": 'address'", 63);
    if (!b.defined) refuse(name + ": a buffer with an 'address' needs contents: zeros, for one");
  }
  if (j.contains("fields")) {
    if (!b.defined) refuse(name + ": a buffer with 'fields' needs contents: zeros, for one");
    hold(b.blank, 0, name);
    b.bytes.resize(b.size());
    b.blank = 0;
  }
  Output out;
  output(j, where, name, c, b.size(), out);
  const size_t at = file_.launch.add_hidden_buffer(std::move(b));
  if (j.contains("product")) {
    if (!out.expected) refuse(name + ": a 'product' goes with an 'expected'");
    factored_.push_back({at, j.at("product"), name});
  }
  arrays_.push_back(out);
  if (file_.launch.buffers[at].output) file_.outputs[at] = out;
  if (j.contains("fields")) filled_.push_back({at, j.at("fields"), name});
  return at;
}

void LaunchReader::fill(const Filled& f) {
  Buffer& b = file_.launch.buffers[f.buffer];
  Bytes bytes{std::move(b.bytes), {}};
  if (!f.fields.is_array()) refuse(f.name + ": 'fields' must be a list");
  fields(f.fields, f.name, false, bytes);
  Buffer& to = file_.launch.buffers[f.buffer];
  to.bytes = std::move(bytes.bytes);
  to.pointers = std::move(bytes.pointers);
}

void LaunchReader::variable(const json& j, const std::string& where) {
  allow(j,
        {"variable", "npy", "bin", "values", "zeros", "generate", "format", "output", "expected", "tolerance",
         "dtype", "shape"},
        where);
  Variable v;
  v.name = text(j, "variable", where);
  const std::string name = where + " ('" + v.name + "')";
  Contents c;
  bool given = false;
  for (const char* key : {"npy", "bin", "values", "zeros", "generate"}) given = given || j.contains(key);
  if (given) {
    c = contents(j, name, false);
    hold(c.blank, 0, name);
    c.bytes.resize(c.bytes.size() + c.blank);
    v.before = c.bytes;
  } else {
    c.format = text(j, "format", name, "");
  }
  v.output = j.contains("output");
  if (!given && !v.output) refuse(name + " needs contents (npy, bin, values, zeros, generate) or an output");
  if (j.contains("expected")) refuse(name + ": only buffers have an 'expected'");
  if (v.output) {
    Output out;
    out.path = output_path(j, where, name);
    out.named_by = "'" + path_ + "': " + where + ": its output";
    out.dtype = text(j, "dtype", name, "u1");
    file_.variable_outputs[file_.launch.variables.size()] = out;
  }
  file_.launch.variables.push_back(std::move(v));
}

}  // namespace bitwell::verify
