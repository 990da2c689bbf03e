#include "model/isa/family/memory/image.h"

#include "model/machine/failure.h"

namespace bitwell::isa {

using machine::Fault;
using machine::Texture;

void set_geometry(const std::string& modifier, ImageUse& use) {
  use.layered = modifier[1] == 'a';
  use.dimensions = static_cast<uint32_t>(modifier[use.layered ? 2 : 1] - '0');
}

void ElementKinds::add(const ptx::Operand& element, const Value& value) {
  const bool constant =
      element.kind == ptx::OperandKind::integer || element.kind == ptx::OperandKind::floating;
  const char kind = value.type != nullptr ? value.type->kind : 'b';
  floating_ = floating_ || kind == 'f' || element.kind == ptx::OperandKind::floating;
  whole_ = whole_ || (constant ? element.kind == ptx::OperandKind::integer : kind == 'u' || kind == 's');
  if (floating_ && whole_) throw Invalid("a vector of both floating-point and whole numbers");
}

// One coordinate, or what pads the vector behind them.
static Value coordinate(Builder& b, const ptx::Operand& e, const std::string& type) {
  if (e.kind == ptx::OperandKind::floating && type == ".s32")
    throw machine::Unsupported("a floating-point constant as a whole coordinate");
  if (e.kind != ptx::OperandKind::name) return b.source(e, b.type(type));
  const Value v = b.source(e, b.type(".b32"));  // whole registers may hold the bits of others
  if (type == ".s32" && v.type != nullptr && v.type->kind == 'f')
    throw Invalid("a register of " + std::string(v.type->name) + " as a whole coordinate");
  return v;
}

void set_image(Builder& b, Operands& operands, const ptx::Operand& operand, const char* type, ImageUse& use) {
  if (operand.kind != ptx::OperandKind::memory || operand.elements.size() < 2)
    throw Invalid("an object and coordinates, [object, {...}], are needed");
  if (operand.elements.size() > 2) throw machine::Unsupported("a texture and a sampler, each by itself");
  const ptx::Operand& object = operand.elements[0];
  if (object.kind != ptx::OperandKind::name || operand.integer != 0)
    throw Invalid("the object is a register with its handle");
  operands.add(b.source(object, b.type(".u64"), false, false).row);
  b.uses().as(Use::Take::address);
  const ptx::Operand& list = operand.elements[1];
  const size_t needed = use.dimensions + (use.layered ? 1 : 0);
  const bool vector = list.kind == ptx::OperandKind::vector;
  if (!vector && list.kind != ptx::OperandKind::name)
    throw Invalid("a constant where coordinates are needed");
  const std::vector<ptx::Operand> given = vector ? list.elements : std::vector{list};
  if (!vector && needed > 1) throw machine::Unsupported("one coordinate for an array of more");
  if (given.size() < needed || given.size() == 3 || given.size() > 4)
    throw Invalid(std::to_string(given.size()) + " coordinates where " +
                  std::to_string(needed == 3 ? 4 : needed) + " are needed");
  ElementKinds kinds;
  for (size_t i = 0; i < given.size(); ++i) {
    const bool layer = use.layered && i == 0;
    const Value v =
        layer ? b.source(given[i], b.type(".u32")) : coordinate(b, given[i], i < needed ? type : ".b32");
    b.uses().as(i < needed ? Use::Take::address : Use::Take::hint);  // what pads the vector says nothing
    if (!layer) kinds.add(given[i], v);
    const size_t at = operands.add(v.row);
    if (layer) use.layer = at;
    if (i == (use.layered ? 1 : 0)) use.coordinates = at;
  }
}

static std::string geometry(uint32_t dimensions, bool layered) {
  return "an array of " + std::to_string(dimensions) + " dimension" + (dimensions == 1 ? "" : "s") +
         (layered ? " with layers" : "");
}

const Texture& object_of(const Op& op, const ImageUse& use, run::Context& context, int lane, bool surface) {
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

machine::Region& texels_of(run::Context& context, const Texture& t, int lane) {
  machine::Region* region = context.cta.grid.global.find(t.address, t.bytes());
  if (region == nullptr) throw Fault("the array of '" + t.name + "' is no more", lane);
  return *region;
}

}  // namespace bitwell::isa
