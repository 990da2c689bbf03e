// For compare_cute.py: layout expressions from standard input, one a line, evaluated to standard output.
#include <iostream>
#include <string>

#include "model/layout/expression.h"

int main() {
  using namespace bitwell::layout;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      const Value v = evaluate(line);
      if (const auto* n = std::get_if<int64_t>(&v))
        std::cout << *n << '\n';
      else
        std::cout << to_string(std::get<Composed>(v)) << '\n';
    } catch (const LayoutError& e) {
      std::cout << "error: " << e.what() << '\n';
    }
  }
}
