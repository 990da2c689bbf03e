// What stands in a buffer or a variable before a launch, and what becomes of it afterwards.
#include <cstring>
#include <span>

#include "verify/launch/file/generated.h"
#include "verify/launch/file/launch_reader.h"
#include "verify/launch/file/npy.h"
#include "verify/launch/file/numbers.h"
#include "verify/launch/memory_watch.h"

namespace bitwell::launch {

namespace fs = std::filesystem;

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
std::string LaunchReader::file(const std::string& name, const std::string& where) {
  const std::string path = input(name);
  std::error_code unknown;
  const uint64_t bytes = fs::file_size(path, unknown);  // reading it says what is wrong with it
  if (!unknown && bytes <= kMostBuffer) hold(bytes, bytes, where);
  return path;
}

std::vector<std::byte> LaunchReader::generate(const json& j, const std::string& where) {
  const Fields<Of::generate> f(j, where + ", generate");
  const std::string kind = f.text("kind");
  const uint64_t bytes = f.whole("bytes");
  hold(bytes, 0, where);
  return generated(kind, bytes, f.whole("seed"));
}

LaunchReader::Contents LaunchReader::contents(const Fields<Of::contents>& f) {
  const std::string& where = f.where();
  Contents out;
  out.format = f.text("format");
  if (f.has("npy")) {
    const std::string path = file(f.text("npy"), where);
    Array array = placed(where, [&] { return read_npy(path); });
    out.dtype = array.dtype;
    out.shape = array.shape;
    out.bytes = out.format.empty() ? std::move(array.bytes)
                                   : placed(where, [&] { return packed(array, out.format); });
  } else if (f.has("values")) {
    Array array{"f8", {}, {}};
    for (const json& v : f.raw("values")) {
      const double d = v.get<double>();
      const auto* bytes = reinterpret_cast<const std::byte*>(&d);
      array.bytes.insert(array.bytes.end(), bytes, bytes + sizeof d);
    }
    array.shape = {array.bytes.size() / sizeof(double)};
    out.shape = array.shape;
    if (out.format.empty()) f.refuse("'values' needs a 'format' that says what they become");
    out.bytes = placed(where, [&] { return packed(array, out.format); });
  } else if (f.has("bin")) {
    const std::string path = file(f.text("bin"), where);
    const std::string bytes = placed(where, [&] { return read_file(path, kMostBuffer); });
    out.bytes.resize(bytes.size());
    std::memcpy(out.bytes.data(), bytes.data(), bytes.size());
  } else if (f.has("generate")) {
    out.bytes = generate(f.raw("generate"), where);
  } else {
    out.blank = f.whole("zeros");
  }
  return out;
}

std::string LaunchReader::output_path(const std::string& file, const std::string& where) const {
  if (file.empty()) refuse(where + ": its output: cannot write '': no name of a file");
  return place(file);
}

void LaunchReader::output(const Fields<Of::buffer>& f, const std::string& where, const Contents& before,
                          uint64_t size, Output& out) {
  const bool keeps = f.has("output") || f.has("expected");
  out.format = before.format;
  out.dtype = f.text("dtype", out.format.empty() ? before.dtype : "f4");
  out.shape = f.has("shape") ? f.wholes("shape") : before.shape;
  const uint64_t bits = out.format.empty() ? 8 * placed(f.where(), [&] { return element_size(out.dtype); })
                                           : bits_of_packed(out.format);
  uint64_t want = bits;
  for (const uint64_t n : out.shape)
    if (__builtin_mul_overflow(want, n, &want)) f.refuse("its shape and dtype make more than 2^64 bytes");
  if (out.shape.empty()) out.shape = {size * 8 / bits}, want = out.shape[0] * bits;
  if (keeps && want != 8 * size)
    f.refuse("its shape and " + std::string(out.format.empty() ? "dtype" : "format") + " make " +
             std::to_string(want / 8) + " bytes, the buffer has " + std::to_string(size));
  if (f.has("output")) {
    out.path = output_path(f.text("output"), where);
    out.named_by = "'" + path_ + "': " + where + ": its output";
  }
  if (f.has("expected")) expected(f, out);
}

void LaunchReader::written(const Fields<Of::buffer>& f, Buffer& b) {
  if (!b.defined) f.refuse("'written' goes with contents; of 'unwritten' nobody has written any");
  const std::string path = file(f.text("written"), f.where());
  const std::string mask = placed(f.where(), [&] { return read_file(path, kMostBuffer); });
  if (mask.size() != b.size())
    f.refuse("its 'written', '" + path + "', has " + std::to_string(mask.size()) + " bytes, the buffer has " +
             std::to_string(b.size()));
  const auto bytes = std::as_bytes(std::span(mask));
  b.written.assign(bytes.begin(), bytes.end());
}

void LaunchReader::expected(const Fields<Of::buffer>& f, Output& out) {
  const std::string& name = f.where();
  const std::string path = file(f.text("expected"), name);
  Array want = placed(name, [&] { return read_npy(path); });
  uint64_t count = 1;
  for (const uint64_t n : out.shape) count *= n;
  uint64_t have = 1;
  for (const uint64_t n : want.shape) have *= n;
  if (have != count)
    refuse(name + ": '" + path + "' has " + std::to_string(have) + " elements, the output has " +
           std::to_string(count) +
           (f.has("dtype") || f.has("format")
                ? ""
                : ": without \"dtype\" these are bytes, while those of the file are " + want.dtype));
  Expected e;
  e.numbers = placed(name, [&] { return numbers(want); });
  if (f.has("tolerance")) {
    const Fields<Of::tolerance> t(f.raw("tolerance"), name + ", tolerance");
    if (t.has("ulp") && (t.has("rtol") || t.has("atol")))
      refuse(t.where() + " is either 'ulp' or 'rtol' and 'atol'");
    if (t.has("ulp")) e.tolerance.ulp = t.whole("ulp");
    e.tolerance.rtol = t.number("rtol");
    e.tolerance.atol = t.number("atol");
    e.tolerance.nan_bits = t.text("nan") == "bits";
    if (e.tolerance.nan_bits && (!out.format.empty() || want.dtype != out.dtype))
      t.refuse("'nan' can be bits only where '" + path + "' has the output's own type, " +
               (out.format.empty() ? out.dtype : out.format) + ", not " + want.dtype);
    if (e.tolerance.nan_bits) e.codes = want.bytes;
  }
  if (want.shape.size() > 1) out.shape = want.shape;
  out.expected = std::move(e);
}

size_t LaunchReader::buffer(const json& j, const std::string& where) {
  const Fields<Of::buffer> f(j, where);
  Buffer b;
  b.name = f.text("buffer");
  for (const Buffer& other : file_.launch.buffers)
    if (other.name == b.name) refuse(where + ": there is a buffer '" + b.name + "' before it");
  Contents c = contents(f.as<Of::contents>());
  if (f.has("unwritten")) {
    c.defined = false;
    c.blank = f.whole("unwritten");
  }
  b.bytes = std::move(c.bytes);
  b.defined = c.defined;
  b.blank = c.blank;
  b.read_only = f.flag("read_only");
  b.output = f.has("output") || f.has("expected");
  b.partly_written = f.flag("partly_written");
  if (b.partly_written && !f.has("output")) f.refuse("'partly_written' is of an output");
  if (b.partly_written && f.has("expected")) f.refuse("an output with 'expected' is written whole");
  b.all_written = f.flag("all_written") && !b.partly_written;
  if (!f.flag("all_written") && !f.has("output")) f.refuse("'all_written' is of an output");
  if (!f.flag("all_written") && f.has("expected")) f.refuse("an output with 'expected' is written whole");
  if (b.read_only && b.output) refuse(f.where() + " cannot be read_only and an output");
  if (f.has("address")) b.address = f.whole("address");
  if (f.has("written")) written(f, b);
  if (f.has("fields")) {
    if (!b.defined) f.refuse("a buffer with 'fields' needs contents: zeros, for one");
    hold(b.blank, 0, f.where());
    b.bytes.resize(b.size());
    b.blank = 0;
  }
  Output out;
  output(f, where, c, b.size(), out);
  const size_t at = file_.launch.add_hidden_buffer(std::move(b));
  if (f.has("product")) {
    if (!out.expected) f.refuse("a 'product' goes with an 'expected'");
    factored_.push_back({at, f.raw("product"), f.where()});
  }
  if (f.has("tolerance") && !out.expected) f.refuse("a 'tolerance' goes with an 'expected'");
  arrays_.push_back(out);
  if (file_.launch.buffers[at].output) file_.outputs[at] = out;
  if (f.has("fields")) filled_.push_back({at, f.objects("fields"), f.where()});
  return at;
}

void LaunchReader::fill(const Filled& f) {
  Buffer& b = file_.launch.buffers[f.buffer];
  Bytes bytes{std::move(b.bytes), {}};
  fields(f.fields, f.name, false, bytes);
  Buffer& to = file_.launch.buffers[f.buffer];
  to.bytes = std::move(bytes.bytes);
  to.pointers = std::move(bytes.pointers);
}

void LaunchReader::variable(const json& j, const std::string& where) {
  const Fields<Of::variable> f(j, where);
  Variable v;
  v.name = f.text("variable");
  int sources = 0;
  for (const std::string_view key : schema::kSources) sources += j.contains(std::string(key)) ? 1 : 0;
  v.output = f.has("output");
  if (sources > 1 || (sources == 0 && !v.output))
    refuse(f.where() + " needs contents (one of npy, bin, values, zeros, generate) or an output");
  Contents c = contents(f.as<Of::contents>());
  if (sources == 1) {
    hold(c.blank, 0, f.where());
    c.bytes.resize(c.bytes.size() + c.blank);
    v.before = c.bytes;
  }
  if (v.output) {
    Output out;
    out.path = output_path(f.text("output"), where);
    out.named_by = "'" + path_ + "': " + where + ": its output";
    out.dtype = f.text("dtype", "u1");
    file_.variable_outputs[file_.launch.variables.size()] = out;
  }
  file_.launch.variables.push_back(std::move(v));
}

}  // namespace bitwell::launch
