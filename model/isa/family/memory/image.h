// What texture and surface instructions share: [object, {coordinates}], and the object that a handle names.
#pragma once
#include "model/isa/family/operands.h"
#include "model/machine/texture.h"
#include "model/run/context.h"

namespace bitwell::isa {

// Which array an instruction is for, and where its coordinates stand among the op's sources: the handle's row
// is source 0.
struct ImageUse : Payload {
  uint32_t dimensions = 1;
  bool layered = false;
  size_t layer = 0;        // source of the layer's number, where layered
  size_t coordinates = 0;  // source of x; y and z follow
};

// The geometry of .1d, .2d, .3d, .a1d, .a2d.
void set_geometry(const std::string& modifier, ImageUse& use);
// A vector that an instruction takes: ptxas refuses one that mixes floating-point numbers with whole ones
// (untyped registers go with both).
class ElementKinds {
 public:
  // Throws Invalid where `element`, of that value, does not go with those before it.
  void add(const ptx::Operand& element, const Value& value);
  bool any_floating() const { return floating_; }

 private:
  bool floating_ = false, whole_ = false;
};

// Reads [object, {coordinates}], coordinates of that type. Throws Invalid for what ptxas refuses.
void set_image(Builder& b, Operands& operands, const ptx::Operand& operand, const char* type, ImageUse& use);

// The object whose handle a lane holds in source 0. Faults where there is none, it is for the other kind of
// instructions, or an array of another geometry.
const machine::Texture& object_of(const Op& op, const ImageUse& use, run::Context& context, int lane,
                                  bool surface);

// What the instruction has read from, or is to write into.
machine::Region& texels_of(run::Context& context, const machine::Texture& t, int lane);

}  // namespace bitwell::isa
