"""PTX of small kernels, for the tests of the Python module."""

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
REGISTERS = "{\n.reg .pred %p<3>;\n.reg .b16 %h<4>;\n.reg .b32 %r<9>;\n.reg .b64 %a<9>;\n.reg .f32 %f<4>;\n"
POINTERS = ("ld.param.u64 %a0, [x];\nld.param.u64 %a1, [y];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %a2, %r0, 4;\n"
            "add.u64 %a3, %a0, %a2;\nadd.u64 %a4, %a1, %a2;\n")


def entry(name, parameters, body):
    return f".visible .entry {name}({parameters})\n{REGISTERS}{body}ret;\n}}\n"


TWO = ".param .u64 x, .param .u64 y"
ADD = entry("add", TWO, POINTERS + "ld.global.f32 %f0, [%a3];\nld.global.f32 %f1, [%a4];\nadd.f32 %f0, %f0, %f1;\n"
            "st.global.f32 [%a3], %f0;\n")
# x += y with a bound, as C++ has it: add(float*, float const*, int).
BOUND = entry("_Z3addPfPKfi", ".param .u64 _Z3addPfPKfi_param_0, .param .u64 _Z3addPfPKfi_param_1, "
              ".param .u32 _Z3addPfPKfi_param_2",
              POINTERS.replace("[x]", "[_Z3addPfPKfi_param_0]").replace("[y]", "[_Z3addPfPKfi_param_1]")
              + "ld.param.u32 %r1, [_Z3addPfPKfi_param_2];\nsetp.ge.s32 %p0, %r0, %r1;\n@%p0 ret;\n"
              "ld.global.f32 %f0, [%a3];\nld.global.f32 %f1, [%a4];\nadd.f32 %f0, %f0, %f1;\nst.global.f32 [%a3], %f0;\n")
# y = x * x - y, of which ptxas makes one instruction.
SQUARE = entry("square", TWO, POINTERS + "ld.global.f32 %f0, [%a3];\nld.global.f32 %f1, [%a4];\nmul.f32 %f0, %f0, %f0;\n"
               "sub.f32 %f0, %f0, %f1;\nst.global.f32 [%a4], %f0;\n")
# Each CTA turns its own 32 words a thousand times; of the CTA whose number stands in y it stores beside them.
TURNS = entry("turns", TWO, "ld.param.u64 %a0, [x];\nld.param.u64 %a1, [y];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n"
              "mad.lo.u32 %r2, %r1, 32, %r0;\nmul.wide.u32 %a2, %r2, 4;\nadd.u64 %a0, %a0, %a2;\nmov.u32 %r3, 1000;\n"
              "AGAIN:\nld.global.u32 %r4, [%a0];\nmad.lo.u32 %r4, %r4, 5, %r2;\nst.global.u32 [%a0], %r4;\nsub.u32 %r3, %r3, 1;\n"
              "setp.ne.u32 %p0, %r3, 0;\n@%p0 bra AGAIN;\nld.global.u32 %r5, [%a1];\nsetp.ne.u32 %p0, %r1, %r5;\n@%p0 ret;\n"
              "st.global.u32 [%a0+1073741824], %r4;\n")
BYTES = entry("bytes", TWO, "ld.param.u64 %a0, [x];\nld.param.u64 %a1, [y];\nmov.u32 %r0, %tid.x;\ncvt.u64.u32 %a2, %r0;\n"
              "add.u64 %a3, %a0, %a2;\nadd.u64 %a4, %a1, %a2;\nld.global.u8 %h0, [%a4];\nst.global.u8 [%a3], %h0;\n")
# Lanes exchange words without __syncwarp().
EXCHANGE = entry("exchange", TWO, ".shared .align 4 .b8 tile[128];\n" + POINTERS + "ld.global.u32 %r1, [%a3];\n"
                 "shl.b32 %r2, %r0, 2;\nmov.u32 %r3, tile;\nadd.u32 %r2, %r2, %r3;\nst.shared.u32 [%r2], %r1;\n"
                 "xor.b32 %r4, %r2, 4;\nld.shared.u32 %r5, [%r4];\nst.global.u32 [%a4], %r5;\n")
# Each warp stores its number to the one word.
LAST = entry("last", ".param .u64 x", "ld.param.u64 %a0, [x];\nmov.u32 %r0, %tid.x;\nshr.u32 %r1, %r0, 5;\n"
             "st.global.u32 [%a0], %r1;\n")
# A word goes to shared memory by a copy that nobody waits for.
UNWAITED = entry("unwaited", TWO, ".shared .align 4 .b8 tile[4];\n" + POINTERS + "mov.u32 %r2, tile;\nmov.u32 %r3, 7;\n"
                 "st.shared.u32 [%r2], %r3;\ncp.async.ca.shared.global [%r2], [%a3], 4;\nld.shared.u32 %r5, [%r2];\n"
                 "st.global.u32 [%a4], %r5;\n")
# Half a warp waits for a barrier that the others never reach.
HANG = entry("hang", ".param .u64 x", "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 32;\n@%p0 bar.sync 0;\n"
             "@!%p0 bar.sync 1;\n")
COUNT = (".visible .global .align 4 .u32 launches = 5;\n"
         + entry("count", ".param .u64 x", "ld.param.u64 %a0, [x];\nld.global.u32 %r1, [launches];\nadd.u32 %r1, %r1, 1;\n"
                 "st.global.u32 [launches], %r1;\nst.global.u32 [%a0], %r1;\n"))
# One of each kind of parameter, stored one behind the other.
SCALARS = entry("scalars", ".param .u64 x, .param .s32 i, .param .u32 u, .param .f32 f, .param .f64 d, .param .u8 b, "
                ".param .align 8 .b8 s[16]",
                ".reg .f64 %d0;\nld.param.u64 %a0, [x];\nld.param.s32 %r0, [i];\nst.global.u32 [%a0], %r0;\n"
                "ld.param.u32 %r1, [u];\nst.global.u32 [%a0+4], %r1;\nld.param.f32 %f0, [f];\nst.global.f32 [%a0+8], %f0;\n"
                "ld.param.f64 %d0, [d];\nst.global.f64 [%a0+16], %d0;\nld.param.u8 %h0, [b];\nst.global.u8 [%a0+12], %h0;\n"
                "mov.u16 %h1, 0;\nst.global.u8 [%a0+13], %h1;\nst.global.u16 [%a0+14], %h1;\n"
                "ld.param.u64 %a1, [s];\nst.global.u64 [%a0+24], %a1;\nld.param.u64 %a1, [s+8];\nst.global.u64 [%a0+32], %a1;\n")
HALF = entry("half", ".param .u64 x", "ld.param.u64 %a0, [x];\nmov.b16 %h0, 0x7B53;\nadd.f16 %h1, %h0, %h0;\n"
             "st.global.b16 [%a0], %h1;\n")
SAY = (".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
       ".global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};\n"
       + entry("say", ".param .u64 x", "mov.u64 %a0, text;\ncvta.global.u64 %a0, %a0;\n{\n.param .b64 f;\n.param .b64 v;\n"
               ".param .b32 r;\nst.param.b64 [f], %a0;\nst.param.b64 [v], 0;\ncall.uni (r), vprintf, (f, v);\n"
               "ld.param.b32 %r0, [r];\n}\n"))
# A box of a tensor map to shared memory and on to y.
BOX = entry("box", ".param .align 64 .b8 map[128], .param .u64 y",
            ".shared .align 128 .b8 tile[256];\n.shared .align 8 .b64 bar;\nld.param.u64 %a1, [y];\nmov.u32 %r0, %tid.x;\n"
            "mul.wide.u32 %a2, %r0, 4;\nadd.u64 %a4, %a1, %a2;\nmov.u32 %r2, tile;\nmov.u32 %r3, bar;\n"
            "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra wait;\nmbarrier.init.shared.b64 [%r3], 1;\n"
            "fence.proxy.async.shared::cta;\nmbarrier.arrive.expect_tx.shared.b64 %a5, [%r3], 128;\n"
            "mov.u64 %a6, map;\ncvta.param.u64 %a6, %a6;\nmov.u32 %r4, 4;\nmov.u32 %r5, 1;\n"
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%a6, {%r4, %r5}], [%r3];\n"
            "wait:\nbar.sync 0;\nlook:\nmbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0;\n@!%p1 bra look;\n"
            "shl.b32 %r6, %r0, 2;\nadd.u32 %r6, %r6, %r2;\nld.shared.u32 %r7, [%r6];\nst.global.u32 [%a4], %r7;\n")
