// How LAUNCH.json is read; private to this folder.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/machine/failure.h"
#include "verify/launch/file/launch_json.h"
#include "verify/schema/fields.h"

namespace bitwell::launch {

using nlohmann::json;
using schema::Fields;
using schema::Of;

class LaunchReader {
 public:
  explicit LaunchReader(const std::string& path)
      : path_(path), folder_(std::filesystem::path(path).parent_path()) {}
  LaunchFile read();

 private:
  void launch(const Fields<Of::launch>& f);
  // Of any field (launch_reader.cpp). `where` is what a refusal calls the object that it is of.
  [[noreturn]] void refuse(const std::string& why) const;
  template <class F>
  auto placed(const std::string& where, F f) const {  // `f`, with the field in what it refuses
    try {
      return f();
    } catch (const machine::InputError& e) {
      refuse(where + ": " + e.what());
    }
  }
  std::string input(const std::string& name);  // the path of a file to be read
  std::string place(const std::string& name) const;
  template <class Rows>
  size_t named(const Rows& rows, const std::string& name, const std::string& where) const {
    std::string known;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].name == name) return i;
      known += (i == 0 ? "" : ", ") + std::string(rows[i].name);
    }
    refuse(where + ": '" + name + "' is not one of " + known);
  }

  // Bytes with what stands in them, of an argument or in a buffer (argument_json.cpp).
  struct Bytes {
    std::vector<std::byte> bytes;
    std::vector<Pointer> pointers;
  };
  void argument(const json& j, const std::string& where, std::vector<Argument>& to);
  static run::Shape shape(const Fields<Of::shape>& f);
  static Measured measured(const Fields<Of::measured>& f);
  Step step(const json& j, const std::string& where);
  Step::Copy copy(const Fields<Of::copy>& f) const;
  Step::Fill fill(const Fields<Of::fill>& f) const;
  // Refuses bytes that are not all in the buffer.
  void within(size_t buffer, uint64_t at, uint64_t bytes, const std::string& where) const;
  Bytes piece(const json& j, Of what, const std::string& where);
  Bytes structure(const Fields<Of::structure>& f);
  // Puts the pieces of a list, each with its "at", into `to`, which holds them or grows if it `may_grow`.
  void fields(const std::vector<json>& pieces, const std::string& where, bool may_grow, Bytes& to);
  // "textures", and an argument that is one of them (texture_json.cpp).
  void texture(const Fields<Of::texture>& f);
  Bytes image(const std::string& name, bool surface, const std::string& where) const;
  Bytes with_map(const std::string& buffer, const machine::TensorMap& map, const std::string& where) const;
  machine::TensorMap tensor_map(const Fields<Of::tensor_map>& f) const;
  machine::TensorMap encoded_map(const Fields<Of::encoded_map>& f);
  size_t known_buffer(const std::string& name, const std::string& where) const;

  // Contents (buffer_json.cpp).
  struct Contents {
    std::vector<std::byte> bytes;
    bool defined = true;
    uint64_t blank = 0;
    std::string dtype = "u1";
    std::vector<uint64_t> shape;
    std::string format;
  };
  size_t buffer(const json& j, const std::string& where);
  // A buffer whose fields are put in when all buffers are known.
  struct Filled {
    size_t buffer;
    std::vector<json> fields;
    std::string name;
  };
  void fill(const Filled& filled);
  void variable(const json& j, const std::string& where);
  Contents contents(const Fields<Of::contents>& f);
  std::string output_path(const std::string& file, const std::string& where) const;
  void output(const Fields<Of::buffer>& f, const std::string& where, const Contents& contents, uint64_t size,
              Output& out);
  void expected(const Fields<Of::buffer>& f, Output& out);
  void written(const Fields<Of::buffer>& f, Buffer& b);
  // An output with a "product", whose factors are found when all buffers are known (product_json.cpp).
  struct Factored {
    size_t buffer;
    json product;
    std::string name;
  };
  void product(const Factored& factored);
  Factor factor(const std::string& name, const std::string& where);
  std::vector<std::byte> generate(const json& j, const std::string& where);
  void hold(uint64_t bytes, uint64_t extra, const std::string& where);
  std::string file(const std::string& name, const std::string& where);

  std::string path_;
  std::filesystem::path folder_;
  LaunchFile file_;
  std::vector<Filled> filled_;
  std::vector<Factored> factored_;
  std::vector<Output> arrays_;                                 // of each buffer: its elements' type and shape
  std::vector<std::pair<machine::Texture, size_t>> textures_;  // with the buffer that each is over
  uint64_t contents_ = 0;  // bytes of buffers that are given with contents, so far
};

}  // namespace bitwell::launch
