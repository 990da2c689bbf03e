#include "verify/schema/choices.h"

#include "model/machine/tensor/tensor_map.h"
#include "model/machine/texture.h"

namespace bitwell::schema {
namespace {

template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> out;
  for (const auto& row : rows) out.emplace_back(row.name);
  return out;
}

}  // namespace

std::vector<std::string> element_types() { return {kElementTypes.begin(), kElementTypes.end()}; }
std::vector<std::string> packed_formats() {
  std::vector<std::string> out;
  for (const number::Format* f : number::formats)
    if (packs(*f)) out.emplace_back(f->name);
  return out;
}
std::vector<std::string> scalar_types() {
  std::vector<std::string> out;
  for (const char kind : {'u', 's', 'b'})
    for (const int bits : {8, 16, 32, 64}) out.push_back(kind + std::to_string(bits));
  for (const char* name : {"f16", "bf16", "f32", "f64"}) out.emplace_back(name);
  return out;
}
std::vector<std::string> generators() { return {kGenerators.begin(), kGenerators.end()}; }
std::vector<std::string> tensor_types() { return names_of(machine::kTensorTypes); }
std::vector<std::string> tensor_swizzles() { return names_of(machine::kTensorSwizzles); }
std::vector<std::string> l2_promotions() { return names_of(machine::kL2Promotions); }
std::vector<std::string> tensor_fills() { return {"zero", "nan"}; }
std::vector<std::string> channels() { return names_of(machine::kChannels); }
std::vector<std::string> boundaries() { return names_of(machine::kBoundaries); }
std::vector<std::string> filters() { return {"nearest", "linear"}; }
std::vector<std::string> orders_of_b() { return {"nk", "kn"}; }
std::vector<std::string> nans() { return {"any", "bits"}; }

}  // namespace bitwell::schema
