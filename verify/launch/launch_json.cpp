#include "verify/launch/launch_json.h"

#include <bit>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <span>

#include "model/json/parse.h"
#include "model/machine/failure.h"
#include "model/number/arithmetic.h"
#include "model/number/decode.h"
#include "model/number/encode.h"
#include "verify/launch/memory_limit.h"
#include "verify/launch/npy.h"

namespace bitwell::verify {
namespace {

using machine::InputError;
using nlohmann::json;
namespace fs = std::filesystem;

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), folder_(fs::path(path).parent_path()) {}

  LaunchFile read() {
    file_.inputs.push_back(path_);
    const json j = [&] {
      try {
        return strict_json::parse(read_file(path_));
      } catch (const strict_json::JsonError& e) {
        throw InputError("'" + path_ + "' is not JSON that can be used: " + e.what());
      }
    }();
    allow(j, {"ptx", "entry", "grid", "block", "cluster", "dynamic_shared_bytes", "buffers", "arguments"},
          "the launch");
    file_.launch.ptx = input(text(j, "ptx", "the launch"));
    file_.launch.entry = text(j, "entry", "the launch");
    file_.launch.shape.grid = triple(j, "grid");
    file_.launch.shape.block = triple(j, "block");
    file_.launch.shape.cluster = triple(j, "cluster");
    file_.launch.shape.dynamic_shared = j.contains("dynamic_shared_bytes")
                                            ? whole(j.at("dynamic_shared_bytes"), "dynamic_shared_bytes")
                                            : 0;
    const json none = json::array();
    const auto list = [&](const char* key) -> const json& {
      if (!j.contains(key)) return none;
      if (!j.at(key).is_array()) refuse(std::string("'") + key + "' must be a list");
      return j.at(key);
    };
    const json& hidden = list("buffers");
    for (size_t i = 0; i < hidden.size(); ++i) buffer(hidden[i], "buffer " + std::to_string(i), false);
    const json& arguments = list("arguments");
    for (size_t i = 0; i < arguments.size(); ++i) argument(arguments[i], "argument " + std::to_string(i));
    return std::move(file_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { throw InputError("'" + path_ + "': " + why); }

  // `f`, with the field in what it refuses.
  template <class F>
  auto placed(const std::string& where, F f) const {
    try {
      return f();
    } catch (const InputError& e) {
      refuse(where + ": " + e.what());
    }
  }

  // A file to be read.
  std::string input(const std::string& name) {
    file_.inputs.push_back(place(name));
    return file_.inputs.back();
  }
  std::string place(const std::string& name) const {
    return fs::path(name).is_absolute() ? name : (folder_ / name).string();
  }

  void allow(const json& j, const std::set<std::string>& keys, const std::string& where) const {
    if (!j.is_object()) refuse(where + " must be an object");
    for (const auto& [key, value] : j.items())
      if (keys.count(key) == 0) {
        std::string known;
        for (const std::string& k : keys) known += (known.empty() ? "" : ", ") + k;
        refuse("unknown field '" + key + "' in " + where + "; it knows " + known);
      }
  }

  std::string text(const json& j, const char* key, const std::string& where) const {
    if (!j.contains(key)) refuse(where + " has no '" + std::string(key) + "'");
    if (!j.at(key).is_string()) refuse(where + ": '" + key + "' holds " + shown(j.at(key)) + ", it must be a string");
    return j.at(key).get<std::string>();
  }
  std::string text(const json& j, const char* key, const std::string& where, const std::string& preset) const {
    return j.contains(key) ? text(j, key, where) : preset;
  }

  // A value for a refusal.
  static std::string shown(const json& v) {
    constexpr size_t most = 60;
    const std::string all = v.dump();
    return all.size() <= most ? all : all.substr(0, most) + "...";
  }

  uint64_t whole_below(const json& v, const std::string& what, int bits) const {
    if (!v.is_number_unsigned() || (bits < 64 && v.get<uint64_t>() >> bits != 0))
      refuse(what + " holds " + shown(v) + ", it must be a whole number below 2^" + std::to_string(bits));
    return v.get<uint64_t>();
  }
  uint32_t whole(const json& v, const char* key) const {
    return static_cast<uint32_t>(whole_below(v, std::string("'") + key + "'", 32));
  }
  // Bytes of a buffer. Below 2^46 sums of them stay in the range of global addresses.
  size_t size(const json& j, const char* key, const std::string& where) const {
    return whole_below(j.at(key), where + ": '" + key + "'", 46);
  }

  // Refuses contents that this machine cannot hold, before they are read or made: here, and in the simulated
  // memory; `extra` bytes on the way.
  void hold(uint64_t bytes, uint64_t extra, const std::string& where) {
    contents_ += bytes;
    const uint64_t need = 2 * contents_ + extra;
    if (need < uint64_t{64} << 20) return;
    if (const uint64_t host = host_memory(); need > host)
      refuse(where + ": with its " + std::to_string(bytes) + " bytes the buffers' contents take " +
             std::to_string(need) + " bytes of memory, this machine has " + std::to_string(host) + " left");
  }
  std::string file(const json& j, const char* key, const std::string& where) {
    const std::string path = input(text(j, key, where));
    std::error_code unknown;
    const uint64_t bytes = fs::file_size(path, unknown);  // reading it says what is wrong with it
    if (!unknown && bytes <= kMostBuffer) hold(bytes, bytes, where);
    return path;
  }

  std::array<uint32_t, 3> triple(const json& j, const char* key) const {
    std::array<uint32_t, 3> out{1, 1, 1};
    if (!j.contains(key)) return out;
    const json& v = j.at(key);
    if (v.is_number_unsigned()) {
      out[0] = whole(v, key);
    } else {
      if (!v.is_array() || v.empty() || v.size() > 3)
        refuse(std::string("'") + key + "' must be one to three whole numbers");
      for (size_t i = 0; i < v.size(); ++i) out[i] = whole(v[i], key);
    }
    return out;
  }

  void argument(const json& j, const std::string& where) {
    if (!j.is_object()) refuse(where + " must be an object");
    if (j.contains("tensor_map")) return tensor_map(j, where);
    if (j.contains("pointer")) {
      allow(j, {"pointer"}, where);
      file_.launch.arguments.push_back({{}, known_buffer(text(j, "pointer", where), where)});
      return;
    }
    if (j.contains("type")) return scalar(j, where);
    buffer(j, where, true);
  }

  template <class Rows>
  size_t named(const Rows& rows, const std::string& name, const std::string& where) const {
    std::string known;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].name == name) return i;
      known += (i == 0 ? "" : ", ") + std::string(rows[i].name);
    }
    refuse(where + ": '" + name + "' is not one of " + known);
  }

  // The buffer that an earlier argument or 'buffers' names.
  size_t known_buffer(const std::string& name, const std::string& where) const {
    size_t at = 0;
    while (at < file_.launch.buffers.size() && file_.launch.buffers[at].name != name) ++at;
    if (at == file_.launch.buffers.size())
      refuse(where + ": no buffer '" + name +
             "' stands before it; buffers that are no arguments go into 'buffers'");
    return at;
  }

  // The 128 bytes that a host program made (verify/driver/bitwell/tensor_map.h). Its address is the program's:
  // here the map starts at the buffer.
  machine::TensorMap encoded_map(const json& j, const std::string& where) {
    allow(j, {"tensor_map", "offset", "encoded"}, where);
    const std::string path = input(text(j, "encoded", where));
    const std::string bytes = placed(where, [&] { return read_file(path); });
    const auto map = bytes.size() != sizeof(machine::TensorMapBytes)
                         ? std::nullopt
                         : machine::decode_tensor_map(std::as_bytes(std::span(bytes)));
    if (!map)
      refuse(where + ": '" + path + "' has " + std::to_string(bytes.size()) +
             " bytes that are no map of bitwell's: bitwell_tensor_map_encode_tiled makes one, of 128 bytes");
    return *map;
  }

  void tensor_map(const json& j, const std::string& where) {
    if (j.contains("encoded")) {
      const size_t over = known_buffer(text(j, "tensor_map", where), where);
      machine::TensorMap m = encoded_map(j, where);
      m.address = j.contains("offset") ? whole_below(j.at("offset"), where + ": 'offset'", 64) : 0;
      placed(where + ", over '" + file_.launch.buffers[over].name + "'", [&] { machine::check(m); });
      return file_.launch.add_tensor_map(over, m);
    }
    allow(j, {"tensor_map", "offset", "type", "dims", "strides", "box", "element_strides", "swizzle", "fill"},
          where);
    const size_t at = known_buffer(text(j, "tensor_map", where), where);
    machine::TensorMap m;
    if (j.contains("offset")) m.address = whole_below(j.at("offset"), where + ": 'offset'", 64);
    m.type = static_cast<machine::TensorType>(named(machine::kTensorTypes, text(j, "type", where), where));
    m.swizzle = static_cast<machine::TensorSwizzle>(
        named(machine::kTensorSwizzles, text(j, "swizzle", where, "none"), where));
    const std::string fill = text(j, "fill", where, "zero");
    if (fill != "zero" && fill != "nan") refuse(where + ": fill '" + fill + "' is not one of zero, nan");
    m.fill_nan = fill == "nan";
    const auto list = [&](const char* key, size_t count) {
      if (!j.contains(key)) refuse(where + " has no '" + std::string(key) + "'");
      if (!j.at(key).is_array())
        refuse(where + ": '" + std::string(key) + "' must be a list of whole numbers");
      std::vector<uint64_t> values;
      for (const json& v : j.at(key)) values.push_back(whole_below(v, where + ": '" + key + "'", 64));
      if (values.size() != count)
        refuse(where + ": '" + key + "' has " + std::to_string(values.size()) + " values, " +
               std::to_string(count) + " are needed");
      return values;
    };
    if (!j.contains("dims") || !j.at("dims").is_array() || j.at("dims").empty() || j.at("dims").size() > 5)
      refuse(where + ": 'dims' must be one to five whole numbers, innermost first");
    m.rank = static_cast<uint32_t>(j.at("dims").size());
    const auto dims = list("dims", m.rank);
    const auto box = list("box", m.rank);
    const auto strides = m.rank > 1 ? list("strides", m.rank - 1) : std::vector<uint64_t>{};
    const auto steps =
        j.contains("element_strides") ? list("element_strides", m.rank) : std::vector<uint64_t>(m.rank, 1);
    for (size_t d = 0; d < m.rank; ++d) {
      m.dims[d] = dims[d];
      m.box[d] = static_cast<uint32_t>(std::min<uint64_t>(box[d], UINT32_MAX));
      m.element_strides[d] = static_cast<uint32_t>(std::min<uint64_t>(steps[d], UINT32_MAX));
      if (d > 0) m.strides[d] = strides[d - 1];
    }
    placed(where + ", over '" + file_.launch.buffers[at].name + "'", [&] { machine::check(m); });
    file_.launch.add_tensor_map(at, m);
  }

  void scalar(const json& j, const std::string& where) {
    allow(j, {"type", "value"}, where);
    const std::string type = text(j, "type", where);
    if (!j.contains("value")) refuse(where + " has no 'value'");
    const json& v = j.at("value");
    const bool whole = v.is_number_integer() || v.is_number_unsigned();
    const number::Format* format = number::find_format(type);
    if (format != nullptr && (type == "f16" || type == "bf16" || type == "f32" || type == "f64")) {
      if (!v.is_number()) refuse(where + ": " + shown(v) + " is no value of type " + type);
      const auto bits = std::bit_cast<uint64_t>(v.get<double>());
      const uint64_t code =
          number::encode(*format, number::round(*format, number::decode(number::f64, bits),
                                                number::Rounding::nearest_even, number::Overflow::ieee));
      add_scalar(code, static_cast<size_t>(format->bits) / 8);
      return;
    }
    for (const int bits : {8, 16, 32, 64})
      for (const char kind : {'u', 's', 'b'})
        if (type == kind + std::to_string(bits)) {
          if (!whole) refuse(where + ": a value of type " + type + " must be a whole number");
          const int below = kind == 's' ? bits - 1 : bits;
          const bool fits = v.is_number_unsigned() ? below == 64 || v.get<uint64_t>() >> below == 0
                                                   : kind == 's' && v.get<int64_t>() >> below == -1;
          if (!fits) refuse(where + ": " + shown(v) + " does not fit " + type);
          add_scalar(v.is_number_unsigned() ? v.get<uint64_t>() : static_cast<uint64_t>(v.get<int64_t>()),
                     static_cast<size_t>(bits) / 8);
          return;
        }
    refuse(where + ": type '" + type +
           "' is not one of u8 to u64, s8 to s64, b8 to b64, f16, bf16, f32, f64");
  }

  void add_scalar(uint64_t value, size_t bytes) {
    Argument a;
    a.scalar.resize(bytes);
    std::memcpy(a.scalar.data(), &value, bytes);
    file_.launch.arguments.push_back(std::move(a));
  }

  void buffer(const json& j, const std::string& where, bool is_argument) {
    allow(j,
          {"buffer", "npy", "bin", "zeros", "unwritten", "generate", "read_only", "output", "dtype", "shape"},
          where);
    Buffer b;
    b.name = text(j, "buffer", where);
    for (const Buffer& other : file_.launch.buffers)
      if (other.name == b.name) refuse(where + ": there is a buffer '" + b.name + "' before it");
    const std::string name = where + " ('" + b.name + "')";
    int sources = 0;
    for (const char* key : {"npy", "bin", "zeros", "unwritten", "generate"})
      sources += j.contains(key) ? 1 : 0;
    if (sources != 1)
      refuse(name + " needs exactly one of npy, bin, zeros, unwritten, generate");
    Output out;
    if (j.contains("npy")) {
      const std::string path = file(j, "npy", name);
      Array array = placed(name, [&] { return read_npy(path); });
      b.bytes = std::move(array.bytes);
      out.dtype = array.dtype;
      out.shape = array.shape;
    } else if (j.contains("bin")) {
      const std::string path = file(j, "bin", name);
      const std::string bytes = placed(name, [&] { return read_file(path, kMostBuffer); });
      b.bytes.resize(bytes.size());
      std::memcpy(b.bytes.data(), bytes.data(), bytes.size());
    } else if (j.contains("generate")) {
      generate(j.at("generate"), b, name);
    } else {
      b.defined = j.contains("zeros");
      b.blank = size(j, b.defined ? "zeros" : "unwritten", name);
    }
    if (j.contains("read_only") && !j.at("read_only").is_boolean())
      refuse(name + ": 'read_only' holds " + shown(j.at("read_only")) + ", it must be true or false");
    b.read_only = j.value("read_only", false);
    b.output = j.contains("output");
    if (b.read_only && b.output) refuse(name + " cannot be read_only and an output");
    out.dtype = text(j, "dtype", name, out.dtype);
    if (j.contains("shape")) {
      if (!j.at("shape").is_array()) refuse(name + ": 'shape' must be a list of whole numbers");
      out.shape.clear();
      for (const json& v : j.at("shape")) out.shape.push_back(whole_below(v, name + ": 'shape'", 64));
    }
    const uint64_t element = placed(name, [&] { return element_size(out.dtype); });
    uint64_t want = element;
    for (const uint64_t n : out.shape)
      if (__builtin_mul_overflow(want, n, &want))
        refuse(name + ": its shape and dtype make more than 2^64 bytes");
    if (out.shape.empty()) out.shape = {b.size() / element}, want = out.shape[0] * element;
    if (b.output && want != b.size())
      refuse(name + ": its shape and dtype make " + std::to_string(want) + " bytes, the buffer has " +
             std::to_string(b.size()));
    const size_t at =
        is_argument ? file_.launch.add_buffer(std::move(b)) : file_.launch.add_hidden_buffer(std::move(b));
    if (file_.launch.buffers[at].output) {
      out.path = place(text(j, "output", name));
      out.named_by = "'" + path_ + "': " + where + ": its output";
      file_.outputs[at] = out;
    }
  }

  void generate(const json& j, Buffer& b, const std::string& where) {
    allow(j, {"kind", "bytes", "seed"}, where + ", generate");
    const std::string kind = text(j, "kind", where + ", generate");
    if (!j.contains("bytes")) refuse(where + ", generate has no 'bytes'");
    const size_t bytes = size(j, "bytes", where + ", generate");
    hold(bytes, 0, where + " ('" + b.name + "')");
    b.bytes.resize(bytes);
    std::mt19937_64 random(j.contains("seed") ? whole_below(j.at("seed"), where + ", generate: 'seed'", 64)
                                              : 1);
    const auto each = [&](auto value) {
      for (size_t i = 0; i + sizeof(value(i)) <= b.bytes.size(); i += sizeof(value(i))) {
        const auto v = value(i / sizeof(value(i)));
        std::memcpy(b.bytes.data() + i, &v, sizeof v);
      }
    };
    if (kind == "uniform_bits")
      each([&](size_t) { return static_cast<uint8_t>(random()); });
    else if (kind == "iota_u32")
      each([&](size_t i) { return static_cast<uint32_t>(i); });
    else if (kind == "uniform_f32")
      each(
          [&](size_t) { return static_cast<float>(static_cast<int32_t>(random() >> 40)) * 0x1p-23f - 1.0f; });
    else
      refuse(where + ": generator '" + kind + "' is not one of uniform_bits, iota_u32, uniform_f32");
  }

  std::string path_;
  fs::path folder_;
  LaunchFile file_;
  uint64_t contents_ = 0;  // bytes of buffers that are given with contents, so far
};

}  // namespace

LaunchFile read_launch(const std::string& path) { return Reader(path).read(); }

}  // namespace bitwell::verify
