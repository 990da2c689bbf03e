// PTX: an instruction may become one of any form, and nearly all mutations keep words whole.
#include "model/isa/form.h"
#include "verify/fuzz/mutate_text.h"

namespace bitwell::fuzz {

const size_t kBytes = 16;

std::string compound_name(Random& random) {
  static const std::vector<const isa::Form*> forms = isa::all_forms();
  if (below(random, 2) == 0) return "";
  const isa::Form& form = *forms[below(random, forms.size())];
  std::string out(isa::opcode_of(form));
  for (const isa::Element& e : isa::elements_of(form))
    if (!e.alternatives.empty() && (!e.optional || below(random, 2) == 0))
      out += e.alternatives[below(random, e.alternatives.size())];
  return out;
}

}  // namespace bitwell::fuzz
