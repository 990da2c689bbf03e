#include "model/isa/family/image.h"

namespace bitwell::isa {

using machine::Fault;
using machine::Texture;

void set_geometry(const std::string& modifier, ImageUse& use) {
  use.layered = modifier[1] == 'a';
  use.dimensions = static_cast<uint32_t>(modifier[use.layered ? 2 : 1] - '0');
}

void set_image(Builder& b, Operands& operands, const ptx::Operand& operand, const char* type, ImageUse& use) {
  if (operand.kind != ptx::OperandKind::memory || operand.elements.size() < 2)
    throw Invalid("an object and coordinates, [object, {...}], are needed");
  if (operand.elements.size() > 2) throw machine::Unsupported("a texture and a sampler, each by itself");
  const ptx::Operand& object = operand.elements[0];
  if (object.kind != ptx::OperandKind::name || operand.integer != 0)
    throw Invalid("the object is a register with its handle");
  operands.add(b.source(object, b.type(".u64"), false, false).row);
  const ptx::Operand& list = operand.elements[1];
  const size_t needed = use.dimensions + (use.layered ? 1 : 0);
  std::vector<const ptx::Operand*> given;
  if (list.kind != ptx::OperandKind::vector)
    given.push_back(&list);
  else
    for (const ptx::Operand& e : list.elements) given.push_back(&e);
  if (given.size() < needed || given.size() == 3 || given.size() > 4)
    throw Invalid(std::to_string(given.size()) + " coordinates where " +
                  std::to_string(needed == 3 ? 4 : needed) + " are needed");
  for (size_t i = 0; i < given.size(); ++i) {
    const bool layer = use.layered && i == 0;
    // What pads the vector is of any type of that size.
    const size_t at = operands.value(*given[i], layer ? ".u32" : i < needed ? type : ".b32");
    if (layer) use.layer = at;
    if (i == (use.layered ? 1 : 0)) use.coordinates = at;
  }
}

static std::string geometry(uint32_t dimensions, bool layered) {
  return "an array of " + std::to_string(dimensions) + " dimension" + (dimensions == 1 ? "" : "s") +
         (layered ? " with layers" : "");
}

const Texture& object_of(const Op& op, const ImageUse& use, Context& context, int lane, bool surface) {
  const uint64_t handle = context.row<uint64_t>((*op.sources)[0])[lane];
  const Texture* t = context.cta.grid.global.texture(handle);
  if (t == nullptr)
    throw Fault("the handle " + std::to_string(handle) + " names no texture or surface of the launch", lane);
  if (t->surface != surface)
    throw Fault("'" + t->name + "' is passed as a " + (t->surface ? "surface" : "texture") +
                    ", which this instruction does not take",
                lane);
  if (t->dimensions != use.dimensions || (t->layers != 0) != use.layered)
    throw Fault("'" + t->name + "' is " + geometry(t->dimensions, t->layers != 0) +
                    ", this instruction is for " + geometry(use.dimensions, use.layered),
                lane);
  return *t;
}

machine::Region& texels_of(Context& context, const Texture& t, int lane) {
  machine::Region* region = context.cta.grid.global.find(t.address, t.bytes());
  if (region == nullptr) throw Fault("the array of '" + t.name + "' is no more", lane);
  return *region;
}

}  // namespace bitwell::isa
