// What the Python package is made of: a process, and functions over bytes. Data comes and goes as bytes,
// numbers and JSON; the package (bitwell/) makes its classes of them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <type_traits>

#include "model/layout/layout.h"
#include "verify/contraction/ptxas.h"
#include "verify/image/image.h"
#include "verify/launch/output/recording.h"
#include "verify/python/alignment.h"
#include "verify/python/answer_json.h"
#include "verify/python/numbers.h"
#include "verify/schema/tables.h"
#include "verify/session/process.h"

namespace nb = nanobind;

namespace bitwell::python {
namespace {

using Three = std::array<uint32_t, 3>;
constexpr uint64_t kMostBlind = 1 << 16;  // bytes that are made before anybody knows whether they are there
constexpr double kLook = 0.05;            // seconds between looks for Ctrl-C

// Without Python's lock: others may hold the process's own and wait for it.
template <class F>
std::invoke_result_t<F> unlocked(F f) {
  const nb::gil_scoped_release release;
  return f();
}

std::string_view view(const nb::bytes& b) { return {b.c_str(), b.size()}; }

template <class T>
std::span<T> span_at(uintptr_t address, size_t count) {
  return {reinterpret_cast<T*>(address), count};
}

struct Snapshot {
  std::vector<machine::Region::Saved> regions;
};

std::span<const std::byte> bytes_of(const machine::Region::Saved& saved, machine::ZeroBytes& to) {
  to = machine::ZeroBytes(saved.bytes);
  return {to.data(), saved.size};
}

// By address the bytes of those of `before` that are otherwise `after` it, as they are then.
nb::dict changed(const Snapshot& before, const Snapshot& after) {
  nb::dict out;
  for (const machine::Region::Saved& b : before.regions)
    for (const machine::Region::Saved& a : after.regions) {
      if (a.base != b.base || a.size != b.size || a.name != b.name) continue;
      machine::ZeroBytes old_bytes, new_bytes;
      const auto was = bytes_of(b, old_bytes), is = bytes_of(a, new_bytes);
      if (!std::equal(was.begin(), was.end(), is.begin()))
        out[nb::int_(a.base)] = nb::bytes(is.data(), is.size());
    }
  return out;
}

// LAUNCH.json's text, with the names and bytes of its files.
nb::tuple files_of(const launch::Recording& recording, const std::string& ptx,
                   const std::vector<std::array<uint64_t, 2>>& outputs, bool all_written) {
  nb::list files;
  const auto keep = [&](const std::string& name, std::span<const std::byte> bytes) {
    files.append(nb::make_tuple(name + ".bin", nb::bytes(bytes.data(), bytes.size())));
    return name + ".bin";
  };
  launch::Recording::Leaves leaves{{}, all_written};
  for (const auto& [address, bytes] : outputs) leaves.outputs.push_back({address, bytes, 0});
  const std::string text = recording.text(ptx, keep, leaves);
  files.append(nb::make_tuple(ptx, nb::bytes(recording.ptx().data(), recording.ptx().size())));
  return nb::make_tuple(text, files);
}

// One call at a time; one from inside a launch, by its own thread, is refused by the context.
class Process {
 public:
  explicit Process(int64_t heap)
      : process_(heap < 0 ? isa::ContextOptions{} : isa::ContextOptions{static_cast<uint64_t>(heap)}) {}

  void adopt(uintptr_t address, uint64_t bytes, const std::string& name, bool defined, bool read_only) {
    locked([&] {
      release_late();
      process_.context().adopt(name, reinterpret_cast<void*>(address), bytes, defined);
      process_.context().memory().find(address, bytes)->read_only = read_only;
    });
  }
  // From inside a launch (a finalizer that runs there) it happens when that is over.
  void release(uint64_t address) {
    locked([&] {
      try {
        process_.context().free({address, 0, 0});
      } catch (const isa::Misuse& e) {
        if (e.kind != isa::Misuse::Kind::in_callback) throw;
        late_.push_back(address);
      }
    });
  }
  void mark(uint64_t address, uint64_t bytes, bool written) {
    locked([&] { process_.context().mark(address, bytes, written); });
  }
  // Of bytes of one buffer a mask each of the bits that count as written.
  nb::bytes written(uint64_t address, uint64_t bytes) {
    std::string out;
    locked([&] {
      const machine::Region* const r = process_.context().memory().find(address, bytes);
      if (r == nullptr)
        throw machine::InputError(std::to_string(bytes) + " bytes are asked for at address " +
                                  std::to_string(address) + ", " +
                                  process_.context().memory().describe(address));
      out.resize(bytes, static_cast<char>(machine::kWritten));
      if (const uint8_t* const mask = r->raw_defined(); mask != nullptr)
        std::memcpy(out.data(), mask + (address - r->base()), bytes);
    });
    return nb::bytes(out.data(), out.size());
  }
  bool holds(uint64_t address, uint64_t bytes) {
    return locked([&] { return process_.context().memory().find(address, bytes) != nullptr; });
  }
  uint64_t allocate(const std::string& name, uint64_t bytes) {
    return locked([&] { return process_.context().allocate(name, bytes).address; });
  }
  void write(uint64_t address, const nb::bytes& bytes) {
    const std::string_view all = view(bytes);
    locked([&] { process_.context().write({address, 0, 0}, std::as_bytes(std::span(all))); });
  }
  nb::bytes read(uint64_t address, uint64_t bytes) {
    std::string out;
    locked([&] {
      if (bytes > kMostBlind && process_.context().memory().find(address, bytes) == nullptr)
        throw machine::InputError(std::to_string(bytes) + " bytes are read at address " +
                                  std::to_string(address) + ", " +
                                  process_.context().memory().describe(address));
      out.resize(bytes);
      process_.context().read({address, 0, 0}, std::as_writable_bytes(std::span(out)));
    });
    return nb::bytes(out.data(), out.size());
  }
  uint64_t load(const std::string& ptx, const std::string& path) {
    return locked([&] {
      const isa::ModuleHandle m = process_.context().load(ptx, {path});
      context_number_ = m.context;
      return m.number;
    });
  }
  void unload(uint64_t module) {
    locked([&] {
      process_.context().unload({context_number_, module});
      std::erase_if(non_portable_, [&](const auto& entry) { return entry.first == module; });
    });
  }
  // Of an entry by the name that it is launched by.
  void allow_non_portable_clusters(uint64_t module, const std::string& entry) {
    locked([&] { non_portable_.emplace(module, entry); });
  }
  std::string module(uint64_t module) {
    return locked([&] { return json_of(process_.context(), {context_number_, module}); });
  }
  uint64_t launches() const { return process_.launches(); }

  // Before it is made, what a launch begins with; None, and how many bytes the buffers have that it reaches,
  // where they have more than `most`.
  nb::tuple record(uint64_t module, const std::string& entry, const Three& grid, const Three& block,
                   const std::vector<nb::bytes>& arguments, const Three& cluster, uint32_t shared,
                   bool cooperative, uint64_t most) {
    const isa::KernelLaunch asked =
        asked_for(module, entry, grid, block, arguments, cluster, shared, cooperative);
    uint64_t bytes = 0;
    std::optional<launch::Recording> out;
    locked([&] {
      machine::Memory& memory = process_.context().memory();
      const std::vector<uint64_t> buffers = launch::reached(memory, asked.arguments);
      for (const uint64_t b : buffers) bytes += memory.find(b, 0)->size();
      if (bytes <= most) out.emplace(process_.context(), asked, buffers);
    });
    return nb::make_tuple(out ? nb::cast(std::move(*out)) : nb::none(), bytes);
  }
  std::vector<std::string> lacks(const launch::Recording& recording) {
    return locked([&] { return recording.lacks(process_.context().memory()); });
  }
  Snapshot snapshot() {
    return locked([&] {
      Snapshot out;
      process_.context().memory().each_region([&](machine::Region& r) { out.regions.push_back(r.save()); });
      return out;
    });
  }
  // What is there still becomes what it was, and what counts as written with it.
  void restore(const Snapshot& snapshot) {
    locked([&] {
      for (const machine::Region::Saved& saved : snapshot.regions)
        if (machine::Region* const r = process_.context().memory().find(saved.base, saved.size);
            r != nullptr && r->base() == saved.base && r->size() == saved.size && r->name() == saved.name)
          r->restore(saved);
    });
  }

  std::string launch(uint64_t module, const std::string& entry, const Three& grid, const Three& block,
                     const std::vector<nb::bytes>& arguments, const Three& cluster, uint32_t shared,
                     bool cooperative, const std::string& schedule, uint64_t seed, uint64_t schedules,
                     bool races, bool explain, bool strict, bool numeric, bool programmatic, bool checked,
                     const std::vector<std::array<uint64_t, 2>>& outputs, bool all_written,
                     uint64_t step_limit, uint32_t threads) {
    isa::KernelLaunch asked = asked_for(module, entry, grid, block, arguments, cluster, shared, cooperative);
    session::Judging how;
    how.schedule = schedule;
    how.options.schedule.seed = seed;
    how.options.strict = strict;
    if (strict) how.options.schedule.kept = machine::Promise::manual;
    how.options.checked = checked;
    if (step_limit != 0) how.options.step_limit = step_limit;
    how.options.threads = threads;
    how.schedules = schedules;
    how.races = races;
    how.explain = explain;
    how.numeric = numeric;
    how.programmatic = programmatic;
    how.all_written = all_written;
    for (const auto& [address, bytes] : outputs) how.outputs.push_back({address, bytes, 0});
    std::string printed;
    std::mutex printing;
    how.options.print = [&](std::string_view text) {
      const std::lock_guard lock(printing);
      printed += text;
    };
    auto last = std::chrono::steady_clock::now();
    std::mutex looking;
    how.options.progress = [&](const run::Progress&) {
      const std::unique_lock lock(looking, std::try_to_lock);
      const auto now = std::chrono::steady_clock::now();
      if (!lock || std::chrono::duration<double>(now - last).count() < kLook) return;
      last = now;
      const nb::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    };
    return locked([&] {
      release_late();
      const session::Answer answer = process_.launch(std::move(asked), how);
      return json_of(answer, process_.launches(), printed);
    });
  }

 private:
  isa::KernelLaunch asked_for(uint64_t module, const std::string& entry, const Three& grid,
                              const Three& block, const std::vector<nb::bytes>& arguments,
                              const Three& cluster, uint32_t shared, bool cooperative) const {
    isa::KernelLaunch asked{{context_number_, module}, entry};
    asked.shape.grid = grid;
    asked.shape.block = block;
    asked.shape.explicit_cluster = cluster[0] != 0;
    if (asked.shape.explicit_cluster) asked.shape.cluster = cluster;
    asked.shape.dynamic_shared = shared;
    asked.shape.cooperative = cooperative;
    asked.shape.non_portable_cluster = non_portable_.contains({module, entry});
    for (const nb::bytes& b : arguments) {
      const auto bytes = std::as_bytes(std::span(view(b)));
      asked.arguments.push_back({{bytes.begin(), bytes.end()}, 0});
    }
    return asked;
  }
  template <class F>
  std::invoke_result_t<F> locked(F f) {
    return unlocked([&] {
      const std::lock_guard lock(mutex_);
      return f();
    });
  }
  void release_late() {
    for (; !late_.empty(); late_.pop_back()) process_.context().free({late_.back(), 0, 0});
  }
  std::recursive_mutex mutex_;
  session::Process process_;
  uint64_t context_number_ = 0;                              // once a module is loaded
  std::vector<uint64_t> late_;                               // to be released
  std::set<std::pair<uint64_t, std::string>> non_portable_;  // modules and entries
};

// Where an array that DLPack or the buffer protocol exports stands: address, whether it is read-only, bits of
// an element, shape, strides in bytes, and what keeps it there.
nb::tuple array_at(const nb::object& array) {
  nb::ndarray<> writable;
  const bool read_only = !nb::try_cast(array, writable, false);
  const auto a = read_only ? nb::cast<nb::ndarray<nb::ro>>(array, false) : nb::ndarray<nb::ro>(writable);
  const nb::dlpack::dtype type = a.dtype();
  if (a.device_type() != nb::device::cpu::value && a.device_type() != nb::device::none::value)
    throw machine::InputError("the array is on a device of another kind; kernels take arrays of the host");
  const int64_t bits = type.bits * type.lanes;
  nb::list shape, strides;
  for (size_t i = 0; i < a.ndim(); ++i) {
    shape.append(a.shape(i));
    strides.append(a.stride(i) * bits / 8);
  }
  const nb::capsule owner(new nb::ndarray<nb::ro>(a),
                          [](void* kept) noexcept { delete static_cast<nb::ndarray<nb::ro>*>(kept); });
  return nb::make_tuple(reinterpret_cast<uintptr_t>(a.data()), read_only, bits, shape, strides, owner);
}

}  // namespace

NB_MODULE(_native, m) {
  m.doc() = "What the package bitwell is made of; use the package.";
  m.attr("version") = BITWELL_VERSION;
  const auto input_error = nb::exception<machine::InputError>(m, "InputError", PyExc_ValueError);
  nb::exception<machine::Unsupported>(m, "Unsupported", PyExc_NotImplementedError);
  nb::exception<machine::ModelBug>(m, "ModelBug", PyExc_RuntimeError);
  nb::exception<layout::LayoutError>(m, "LayoutError", input_error.ptr());

  nb::class_<Snapshot>(m, "Snapshot").def("changed", &changed, nb::arg("after"));
  nb::class_<launch::Recording>(m, "Recording")
      .def("files", &files_of, nb::arg("ptx"), nb::arg("outputs"), nb::arg("all_written"));
  nb::class_<Process>(m, "Process")
      .def(nb::init<int64_t>(), nb::arg("heap") = -1)
      .def("adopt", &Process::adopt, nb::arg("address"), nb::arg("bytes"), nb::arg("name"),
           nb::arg("defined") = true, nb::arg("read_only") = false)
      .def("release", &Process::release, nb::arg("address"))
      .def("mark", &Process::mark, nb::arg("address"), nb::arg("bytes"), nb::arg("written"))
      .def("holds", &Process::holds, nb::arg("address"), nb::arg("bytes"))
      .def("written", &Process::written, nb::arg("address"), nb::arg("bytes"))
      .def("allocate", &Process::allocate, nb::arg("name"), nb::arg("bytes"))
      .def("write", &Process::write, nb::arg("address"), nb::arg("data"))
      .def("read", &Process::read, nb::arg("address"), nb::arg("bytes"))
      .def("load", &Process::load, nb::arg("ptx"), nb::arg("path") = "")
      .def("unload", &Process::unload, nb::arg("module"))
      .def("allow_non_portable_clusters", &Process::allow_non_portable_clusters, nb::arg("module"),
           nb::arg("entry"))
      .def("module", &Process::module, nb::arg("module"))
      .def_prop_ro("launches", &Process::launches)
      .def("snapshot", &Process::snapshot)
      .def("restore", &Process::restore, nb::arg("snapshot"))
      .def("record", &Process::record, nb::arg("module"), nb::arg("entry"), nb::arg("grid"), nb::arg("block"),
           nb::arg("arguments"), nb::arg("cluster"), nb::arg("shared"), nb::arg("cooperative"),
           nb::arg("most"))
      .def("lacks", &Process::lacks, nb::arg("recording"))
      .def("launch", &Process::launch, nb::arg("module"), nb::arg("entry"), nb::arg("grid"), nb::arg("block"),
           nb::arg("arguments"), nb::arg("cluster") = Three{}, nb::arg("shared") = 0,
           nb::arg("cooperative") = false, nb::arg("schedule") = "", nb::arg("seed") = 0,
           nb::arg("schedules") = 1, nb::arg("races") = false, nb::arg("explain") = false,
           nb::arg("strict") = false, nb::arg("numeric") = false, nb::arg("programmatic") = false,
           nb::arg("checked") = true, nb::arg("outputs") = std::vector<std::array<uint64_t, 2>>{},
           nb::arg("all_written") = false, nb::arg("step_limit") = 0, nb::arg("threads") = 1);

  m.def(
      "ptx_of",
      [](const nb::bytes& data, const std::string& folder) {
        const std::string_view all = view(data);
        return unlocked([&] { return image::ptx_of(std::as_bytes(std::span(all)), {0, folder}); });
      },
      nb::arg("image"), nb::arg("folder") = "");
  m.def(
      "fused",
      [](const std::string& ptx, const std::string& path) {
        return unlocked([&] {
          return isa::naming(path, [&] { return contraction::contracted_by_ptxas(ptx, "").contracted.text; });
        });
      },
      nb::arg("ptx"), nb::arg("path") = "");
  m.def("array_at", &array_at, nb::arg("array"));
  m.def(
      "align_allocations_of",
      [](const std::string& library, size_t alignment) { return align_allocations_of(library, alignment); },
      nb::arg("library"), nb::arg("alignment"));
  m.def("path_keys", [] {  // of launch files: whose values are paths
    std::vector<std::string> out;
    for (const schema::Table& t : schema::kTables)
      for (const schema::Key& k : t.keys)
        if (k.type == schema::Type::path) out.emplace_back(k.name);
    return out;
  });
  m.def("device", &device_json, nb::arg("sm"));
  m.def("formats", &formats_json);
  m.def(
      "decode",
      [](const std::string& format, uintptr_t codes, size_t count, int bytes, uintptr_t values) {
        decode(format, span_at<const std::byte>(codes, count * static_cast<size_t>(bytes)), bytes,
               span_at<double>(values, count));
      },
      nb::arg("format"), nb::arg("codes"), nb::arg("count"), nb::arg("bytes"), nb::arg("values"));
  m.def(
      "encode",
      [](const std::string& format, uintptr_t values, size_t count, const std::string& rounding,
         bool saturate, int bytes, uintptr_t codes) {
        encode(format, span_at<const double>(values, count), rounding, saturate, bytes,
               span_at<std::byte>(codes, count * static_cast<size_t>(bytes)));
      },
      nb::arg("format"), nb::arg("values"), nb::arg("count"), nb::arg("rounding"), nb::arg("saturate"),
      nb::arg("bytes"), nb::arg("codes"));
  m.def("recipes", &recipes_json);
  m.def(
      "quantise",
      [](const std::string& recipe, uintptr_t values, size_t count, uint64_t seed) {
        const Quantised q = quantise(recipe, span_at<const float>(values, count), seed);
        return nb::make_tuple(nb::bytes(q.codes.data(), q.codes.size()),
                              nb::bytes(q.scale_codes.data(), q.scale_codes.size()),
                              nb::bytes(q.scales.data(), 4 * q.scales.size()),
                              nb::bytes(q.values.data(), 4 * q.values.size()), q.tensor_scale, q.clipped);
      },
      nb::arg("recipe"), nb::arg("values"), nb::arg("count"), nb::arg("seed"));
  m.def("instructions", &instructions_json);
  m.def(
      "dots",
      [](const std::string& instruction, size_t k, size_t count, uintptr_t a, uintptr_t b, uintptr_t c,
         uintptr_t scales_a, size_t scale_count, uintptr_t scales_b, uintptr_t d) {
        dots(instruction, k, span_at<const uint32_t>(a, count * k), span_at<const uint32_t>(b, count * k),
             span_at<const uint32_t>(c, count), span_at<const uint8_t>(scales_a, scale_count),
             span_at<const uint8_t>(scales_b, scale_count), span_at<uint32_t>(d, count));
      },
      nb::arg("instruction"), nb::arg("k"), nb::arg("count"), nb::arg("a"), nb::arg("b"), nb::arg("c"),
      nb::arg("scales_a"), nb::arg("scale_count"), nb::arg("scales_b"), nb::arg("d"));
  m.def(
      "layout",
      [](const std::string& what, const std::string& parameters) {
        const Laid l = lay_out(what, parameters);
        return nb::make_tuple(l.text, l.facts, l.extents,
                              nb::bytes(l.offsets.data(), sizeof(int64_t) * l.offsets.size()));
      },
      nb::arg("what"), nb::arg("parameters"));
  m.def("layouts", &layouts_json);
  m.def(
      "tensor_map",
      [](int type, uint64_t address, const std::vector<uint64_t>& dims, const std::vector<uint64_t>& strides,
         const std::vector<uint32_t>& box, const std::vector<uint32_t>& element_strides, int interleave,
         int swizzle, int promotion, int fill) {
        const std::vector<std::byte> out = tensor_map(
            {type, address, dims, strides, box, element_strides, interleave, swizzle, promotion, fill});
        return nb::bytes(out.data(), out.size());
      },
      nb::arg("type"), nb::arg("address"), nb::arg("dims"), nb::arg("strides"), nb::arg("box"),
      nb::arg("element_strides"), nb::arg("interleave"), nb::arg("swizzle"), nb::arg("promotion"),
      nb::arg("fill"));
}

}  // namespace bitwell::python
