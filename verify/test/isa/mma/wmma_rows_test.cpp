// Where the rows of a matrix of wmma.load and wmma.store must stand in memory: at multiples of what
// ptxas 13.0 reads or writes at once in machine code for sm_90a (read from it, form by form). An H200 was
// asked of 142 of the 352 cases of base and stride, and faults where the base is not such a multiple; where a
// row's stride is not, it faults or takes other rows. A byte at a time, which ptxas takes for fp8 across k,
// is asked to stand at 4 here, as the manual has it.
#include <gtest/gtest.h>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

struct Rows {
  const char *operand, *shape, *layout, *type;
  int registers, element, in_shared, elsewhere;  // bytes
};
constexpr Rows kRows[] = {
    {"a", "m16n16k16", "row", "f16", 8, 2, 16, 4},  {"a", "m16n16k16", "row", "bf16", 4, 2, 16, 4},
    {"a", "m16n16k16", "row", "s8", 2, 1, 16, 4},   {"b", "m16n16k16", "row", "f16", 8, 2, 16, 4},
    {"b", "m16n16k16", "row", "bf16", 4, 2, 16, 4}, {"b", "m16n16k16", "row", "s8", 2, 1, 4, 4},
    {"c", "m16n16k16", "row", "f16", 4, 2, 4, 4},   {"c", "m16n16k16", "row", "f32", 8, 4, 8, 8},
    {"c", "m16n16k16", "row", "s32", 8, 4, 8, 8},   {"d", "m16n16k16", "row", "f16", 4, 2, 4, 4},
    {"d", "m16n16k16", "row", "f32", 8, 4, 8, 8},   {"d", "m16n16k16", "row", "s32", 8, 4, 8, 8},
    {"a", "m16n16k16", "col", "f16", 8, 2, 16, 4},  {"a", "m16n16k16", "col", "bf16", 4, 2, 16, 4},
    {"a", "m16n16k16", "col", "s8", 2, 1, 4, 4},    {"b", "m16n16k16", "col", "f16", 8, 2, 16, 4},
    {"b", "m16n16k16", "col", "bf16", 4, 2, 16, 4}, {"b", "m16n16k16", "col", "s8", 2, 1, 16, 4},
    {"c", "m16n16k16", "col", "f32", 8, 4, 4, 4},   {"c", "m16n16k16", "col", "s32", 8, 4, 4, 4},
    {"d", "m16n16k16", "col", "f32", 8, 4, 4, 4},   {"d", "m16n16k16", "col", "s32", 8, 4, 4, 4},
    {"a", "m8n32k16", "row", "f16", 8, 2, 16, 4},   {"a", "m8n32k16", "row", "s8", 1, 1, 16, 4},
    {"b", "m8n32k16", "row", "bf16", 8, 2, 16, 4},  {"b", "m8n32k16", "row", "s8", 4, 1, 4, 4},
    {"c", "m8n32k16", "row", "f32", 8, 4, 4, 4},    {"d", "m8n32k16", "row", "s32", 8, 4, 4, 4},
    {"a", "m8n32k16", "col", "bf16", 2, 2, 16, 4},  {"a", "m8n32k16", "col", "s8", 1, 1, 4, 4},
    {"b", "m8n32k16", "col", "f16", 8, 2, 16, 4},   {"b", "m8n32k16", "col", "s8", 4, 1, 16, 4},
    {"c", "m8n32k16", "col", "s32", 8, 4, 8, 8},    {"d", "m8n32k16", "col", "f32", 8, 4, 8, 8},
    {"a", "m32n8k16", "row", "bf16", 8, 2, 16, 4},  {"a", "m32n8k16", "row", "s8", 4, 1, 16, 4},
    {"b", "m32n8k16", "row", "f16", 8, 2, 16, 4},   {"b", "m32n8k16", "row", "s8", 1, 1, 4, 4},
    {"c", "m32n8k16", "row", "f16", 4, 2, 4, 4},    {"c", "m32n8k16", "row", "f32", 8, 4, 8, 8},
    {"d", "m32n8k16", "row", "s32", 8, 4, 8, 8},    {"c", "m32n8k16", "col", "s32", 8, 4, 4, 4},
    {"a", "m32n8k16", "col", "f16", 8, 2, 16, 4},   {"b", "m32n8k16", "col", "s8", 1, 1, 16, 4},
    {"a", "m16n16k8", "row", "tf32", 4, 4, 4, 4},   {"b", "m16n16k8", "col", "tf32", 4, 4, 4, 4},
    {"c", "m16n16k8", "row", "f32", 8, 4, 8, 8},    {"d", "m16n16k8", "col", "f32", 8, 4, 4, 4},
    {"a", "m8n8k4", "row", "f64", 1, 8, 8, 8},      {"c", "m8n8k4", "row", "f64", 2, 8, 16, 16},
    {"d", "m8n8k4", "row", "f64", 2, 8, 16, 16},    {"c", "m8n8k4", "col", "f64", 2, 8, 8, 8}};

// How a run ends with a matrix so many bytes behind a multiple of 256, and rows so many bytes apart.
std::string end_of(const Rows& rows, const std::string& space, int base, int pitch) {
  const std::string held = rows.element == 8 ? "%g" : std::string(rows.type) == "f32" ? "%f" : "%r";
  std::string registers = "{", start;
  for (int i = 0; i < rows.registers; ++i) {
    registers += (i == 0 ? "" : ", ") + held + std::to_string(i);
    start += (held == "%r"   ? "mov.u32 "
              : held == "%f" ? "mov.f32 "
                             : "mov.f64 ") +
             held + std::to_string(i) +
             (held == "%r"   ? ", 0;\n"
              : held == "%f" ? ", 0f00000000;\n"
                             : ", 0d0000000000000000;\n");
  }
  registers += "}";
  const bool shared = space.find("hared") != std::string::npos;
  start += shared ? "mov.u64 %q1, tile;\n" : "ld.param.u64 %q1, [pin];\n";
  if (space == "in shared") start += "cvta.shared.u64 %q1, %q1;\n";
  const std::string form = std::string(".sync.aligned.") + rows.layout + "." + rows.shape +
                           (space[0] == '.' ? space : "") + "." + rows.type + " ";
  const std::string place = "[%q1+" + std::to_string(base) + "]",
                    stride = ", " + std::to_string(pitch / rows.element);
  const bool stores = rows.operand[0] == 'd';
  // Shared memory is written first.
  const std::string fill =
      "mov.u32 %r10, %tid.x;\nmov.u32 %r9, tile;\nmad.lo.u32 %r9, %r10, 4, %r9;\nmov.u32 %r11, 0;\n"
      "L: st.shared.u32 [%r9], 0;\nadd.u32 %r9, %r9, 128;\nadd.u32 %r11, %r11, 1;\nsetp.lt.u32 %p0, %r11, "
      "160;\n"
      "@%p0 bra L;\nbar.sync 0;\n";
  return test::Kernel{
      .parameters = ".param .u64 pin",
      .registers = ".reg .b32 %r<12>; .reg .f32 %f<8>; .reg .f64 %g<8>; .reg .b64 %q<4>; .reg .pred %p0;",
      .shared = ".shared .align 256 .b8 tile[20480];",
      .start = start + (shared ? fill : ""),
      .body = (stores ? "wmma.store.d" : std::string("wmma.load.") + rows.operand) + form +
              (stores ? place + ", " + registers : registers + ", " + place) + stride + ";",
      .buffers = {{"in", std::vector<std::byte>(20480), true, false, false}}}
      .run()
      .end();
}

TEST(WmmaRows, StandWherePtxasReadsThem) {
  for (const Rows& rows : kRows)
    for (const char* space : {".shared", ".global", "in shared", ""}) {
      const int bytes = std::string(space) == ".shared" ? rows.in_shared : rows.elsewhere;
      const std::string name =
          std::string(rows.operand) + " " + rows.shape + " " + rows.layout + " " + rows.type + " " + space;
      EXPECT_EQ(end_of(rows, space, 256, 256 + bytes), "held") << name;
      EXPECT_EQ(end_of(rows, space, bytes, 256), "held") << name;
      EXPECT_NE(end_of(rows, space, bytes / 2, 256).find("misaligned wmma."), std::string::npos) << name;
      if (bytes / 2 >= rows.element) {
        EXPECT_NE(end_of(rows, space, 256, 256 + bytes / 2).find("misaligned wmma."), std::string::npos)
            << name;
      }
    }
}

TEST(WmmaRows, AreNamed) {
  EXPECT_NE(end_of({"a", "m16n16k16", "row", "f16", 8, 2, 16, 4}, ".shared", 32, 40)
                .find("misaligned wmma.load: its rows begin at 'tile' + 32 (shared address 32) and are 40 "
                      "bytes apart, "
                      "and must stand at multiples of 16 bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace bitwell::isa
