// What `bitwell run --races --explain` does, from buffers in memory: a kernel whose lanes exchange words
// without __syncwarp().
#include <cstdio>
#include <cstring>

#include "verify/session/words.h"

namespace {

constexpr const char* kPtx = R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry exchange(.param .u64 from, .param .u64 to)
{
  .reg .b32 %r<6>;
  .reg .b64 %a<6>;
  .shared .align 4 .b8 tile[128];
  ld.param.u64 %a0, [from];
  ld.param.u64 %a1, [to];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %a2, %r0, 4;
  add.u64 %a3, %a0, %a2;
  ld.global.u32 %r1, [%a3];
  shl.b32 %r2, %r0, 2;
  mov.u32 %r3, tile;
  add.u32 %r2, %r2, %r3;
  st.shared.u32 [%r2], %r1;
  xor.b32 %r4, %r2, 4;
  ld.shared.u32 %r5, [%r4];
  add.u64 %a4, %a1, %a2;
  st.global.u32 [%a4], %r5;
  ret;
}
)";

}  // namespace

int main() {
  using namespace bitwell;
  launch::Launch launch;
  launch.ptx = "exchange.ptx";  // what it is called
  launch.module = std::make_shared<const isa::Module>(kPtx, launch.ptx);
  launch.entry = "exchange";
  launch.shape.block = {32, 1, 1};
  std::vector<std::byte> words(128);
  for (uint32_t i = 0; i < 32; ++i) std::memcpy(&words[4 * i], &i, 4);
  launch.add_buffer({"from", words, true, true});
  const size_t to = launch.add_buffer({"to", std::vector<std::byte>(128), false, false, true});

  session::Question question{launch};
  question.races = question.explain = true;
  const session::Answer answer = session::ask(question);

  std::fputs(session::describe(answer).c_str(), stdout);
  if (answer.ran) {
    uint32_t first = 0;
    std::memcpy(&first, answer.ran->buffer(launch, to).data(), 4);
    std::printf("the first word that it left is %u\n", first);
  }
  return answer.holds() ? 0 : 1;
}
