"""Triton's launches by bitwell: what they compute, and what is said of those that are wrong."""
import bitwell as package
import pytest
import torch
import triton
import triton.language as tl


EIGHT = torch.arange(8, device="cuda")


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


def test_unchanged():
    x = torch.randn(1000, device="cuda")
    y = torch.empty_like(x)
    double[(8,)](x, y, 1000, BLOCK=128)
    torch.testing.assert_close(y, 2 * x)


@pytest.mark.parametrize("type", [torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int64])
def test_types(type):
    x = torch.arange(100, device="cuda").to(type)
    y = torch.empty_like(x)
    double[(1,)](x, y, 100, BLOCK=128)
    assert torch.equal(y, 2 * x)


def test_a_view_is_passed_where_it_stands():
    x, y = torch.arange(64.0, device="cuda"), torch.zeros(64, device="cuda")
    double[(1,)](x[32:], y[16:], 32, BLOCK=32)
    assert y.tolist() == 16 * [0] + [2.0 * i for i in range(32, 64)] + 16 * [0]


def test_a_tensor_of_the_cpu_is_none_of_the_gpus():
    x = torch.ones(32)
    with pytest.raises(ValueError, match=r"Pointer argument \(at 0\) cannot be accessed from Triton \(cpu tensor\?\)"):
        double[(1,)](x, x.cuda(), 32, BLOCK=32)


@pytest.mark.parametrize("write, lacks", [
    (lambda x: None, True), (lambda x: x.fill_(1), False), (lambda x: x[:, :4].fill_(1), True), (lambda x: x.copy_(torch.ones(8, 8)), False),
    (lambda x: x.t().copy_(torch.ones(8, 8)), False), (lambda x: torch.ones(8, 8, out=x), False), (lambda x: x[::2].add_(1), True),
    # In place, of what is not there.
    (lambda x: x.add_(1), True), (lambda x: x.clamp_(0, 1), True), (lambda x: torch._foreach_mul_([x], 2), True), (lambda x: x.t_(), True),
    (lambda x: x.normal_(), False), (lambda x: torch._foreach_zero_([x]), False), (lambda x: x.zero_().add_(1), False),
    # Some elements.
    (lambda x: x.masked_fill_(torch.zeros(8, 8, dtype=torch.bool, device="cuda"), 1), True),
    (lambda x: x.masked_fill_(torch.ones(8, dtype=torch.bool, device="cuda"), 1), False),
    (lambda x: x.masked_scatter_(EIGHT != 3, torch.ones(64, device="cuda")), True),
    (lambda x: x.masked_scatter_(EIGHT >= 0, torch.ones(64, device="cuda")), False),
    (lambda x: x.__setitem__(EIGHT[:7], 1.0), True), (lambda x: x.__setitem__(EIGHT, 1.0), False),
    (lambda x: x.__setitem__((slice(None), EIGHT[1:]), 1.0), True), (lambda x: x.__setitem__(x.isnan(), 1.0), False),
    (lambda x: x.index_put_((EIGHT,), torch.ones(8, device="cuda"), accumulate=True), True),
    (lambda x: x.index_fill_(0, EIGHT[1:], 1), True), (lambda x: x.index_fill_(1, EIGHT, 1), False),
    (lambda x: x.index_copy_(0, EIGHT[1:], torch.ones(7, 8, device="cuda")), True), (lambda x: x.index_copy_(1, EIGHT, torch.ones(8, 8, device="cuda")), False),
    (lambda x: x.index_add_(0, EIGHT, torch.ones(8, 8, device="cuda")), True),
    (lambda x: x.scatter_(0, EIGHT[None], 1.0), True), (lambda x: x.scatter_(1, EIGHT.expand(8, 8), 1.0), False),
    (lambda x: x.scatter_(1, EIGHT.expand(8, 8), torch.ones(8, 8, device="cuda")), False),
    (lambda x: x.scatter_add_(1, EIGHT.expand(8, 8), torch.ones(8, 8, device="cuda")), True), (lambda x: x.triu_(), True),
    (lambda x: x.put_(EIGHT, torch.ones(8, device="cuda")), True), (lambda x: x.put_(torch.arange(64, device="cuda"), torch.ones(64, device="cuda")), False),
    (lambda x: (x.triu_(), x.masked_fill_(EIGHT[:, None] <= EIGHT, 1)), False),
    (lambda x: x.fill_(1).resize_(4, 4).resize_(8, 8), False), (lambda x: x.resize_(9, 8)[:8].fill_(1), False)])
def test_what_torch_has_not_written_is_not_read(bitwell, write, lacks):
    x, y = torch.empty(8, 8, device="cuda"), torch.empty(8, 8, device="cuda")
    write(x)
    if not lacks:
        double[(1,)](x, y, 64, BLOCK=64)
        return
    with pytest.raises(package.Fault, match=r"a value that was never written is used .* loaded from 'float32\[8, 8\]'"):
        double[(1,)](x, y, 64, BLOCK=64)
    bitwell.launched[-1].must_hold = False


def test_bytes_that_a_tensor_grows_by_are_unwritten(bitwell):
    x, y = torch.ones(32, device="cuda").resize_(64), torch.zeros(64, device="cuda")
    double[(1,)](x, y, 32, BLOCK=32)
    assert x[32:].isnan().all()
    with pytest.raises(package.Fault, match="a value that was never written is used"):
        double[(1,)](x, y, 64, BLOCK=64)
    bitwell.launched[-1].must_hold = False


def test_between_two_tensors_nothing_is(bitwell):
    both = torch.empty(64, device="cuda"), torch.empty(64, device="cuda")
    x = min(both, key=lambda t: t.data_ptr()).fill_(1)
    with pytest.raises(package.Fault, match="out-of-bounds read of 4 bytes .*256 bytes into 'float32.64.' of 256 bytes"):
        double[(1,)](x, torch.empty(128, device="cuda"), 65, BLOCK=128)
    bitwell.launched[-1].must_hold = False


def test_in_a_graph():
    x, y = torch.ones(32, device="cuda"), torch.zeros(32, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        double[(1,)](x, y, 32, BLOCK=32)
    assert y.sum() == 0
    x.fill_(3)
    graph.replay()
    assert y.tolist() == 32 * [6]


@triton.autotune([triton.Config({"BLOCK": b}) for b in (32, 64, 128)], key=["n"])
@triton.jit
def tuned(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(y + at, mask=at < n) + tl.load(x + at, mask=at < n), mask=at < n)


def test_autotuning_runs_once(bitwell):
    x, y = torch.ones(100, device="cuda"), torch.zeros(100, device="cuda")
    tuned[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, y, 100)
    assert y.tolist() == 100 * [1] and len(bitwell.launched) == 1


def test_every_configuration_is_run_and_undone(bitwell, monkeypatch):
    monkeypatch.setattr(bitwell.settings, "autotune", "all")
    x, y = torch.ones(101, device="cuda"), torch.zeros(101, device="cuda")
    tuned[lambda meta: (triton.cdiv(101, meta["BLOCK"]),)](x, y, 101)
    assert y.tolist() == 101 * [1] and len(bitwell.launched) == 4 and not bitwell.notes


@triton.autotune([triton.Config({"BLOCK": b}) for b in (32, 64)], key=["n"])
@triton.jit
def blocks(y, n, BLOCK: tl.constexpr):
    tl.store(y + tl.program_id(0), BLOCK)


def test_configurations_that_differ_are_noted(bitwell, monkeypatch):
    monkeypatch.setattr(bitwell.settings, "autotune", "all")
    blocks[(1,)](torch.zeros(1, device="cuda"), 1)
    assert bitwell.notes == ["blocks: configuration 2 of the autotuner gives other bits than the first"]


@triton.jit
def after_another(x, y, WAITS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if WAITS:
        tl.extra.cuda.gdc_wait()
    v = tl.load(x + at)
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(y + at, v + 1)


@pytest.mark.bitwell(races=True)
@pytest.mark.parametrize("dependent, waits, races", [(False, False, False), (True, True, False), (True, False, True)])
def test_a_programmatic_launch_goes_on_beside_the_one_before(bitwell, dependent, waits, races):
    x, y, z = (torch.zeros(32, device="cuda") for _ in range(3))
    after_another[(1,)](x, y, WAITS=True, BLOCK=32, launch_pdl=dependent)
    launch = lambda: after_another[(1,)](y, z, WAITS=waits, BLOCK=32, launch_pdl=dependent)
    if not races:
        launch()
        assert z.tolist() == 32 * [2]
        return
    with pytest.raises(package.RaceError):
        launch()
    bitwell.launched[-1].must_hold = False


def test_arguments_as_triton_3_6_passes_them():
    from bitwell.triton.driver import expanded, typed

    signature = ["*fp32", "tensordesc<fp16[64, 32],shared>", ("i32", ("fp32", "constexpr")), "constexpr"]
    extents = 2 * ["i32"] + 2 * ["i64"]
    assert list(expanded(signature, [{"swizzle": 3}])) == ["*fp32", "nvTmaDesc", *extents, *signature[2:]]
    made = list(expanded(signature, None))
    assert made == ["*fp32", "*fp16", *4 * ["i64"], "i1", *extents, *signature[2:]]
    values = [*range(11), (11, (12.0, "left out")), "left out"]
    assert list(typed(made, values)) == [*zip(made, range(11)), ("i32", 11), ("fp32", 12.0)]


def test_two_may_wait_for_a_module(tmp_path, monkeypatch):
    from bitwell import late

    (tmp_path / "waited_for.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    told = []
    late.after("waited_for", lambda: told.append(1))
    late.after("waited_for", lambda: told.append(2))
    import waited_for

    assert waited_for and told == [1, 2]
