"""What other libraries hold tensors of the GPU to: where they stand, what their DLPack capsules say, operators for CUDA."""
import gc
import sys
from typing import Optional

import numpy as np
import pytest
import torch

library = torch.library.Library("exchange", "FRAGMENT")


@torch.library.custom_op("exchange::scaled", mutates_args=(), device_types="cuda")
def scaled(x: torch.Tensor, by: float) -> torch.Tensor:
    assert x.is_cuda
    out = torch.empty_like(x)
    assert out.is_cuda and torch.zeros(1, device="cuda").is_cuda
    return out.copy_(x * by)


scaled.register_autograd(lambda context, gradient: (gradient * context.by, None),
                         setup_context=lambda ctx, inputs, output: setattr(ctx, "by", inputs[1]))


@torch.library.custom_op("exchange::filled_", mutates_args=("x",))
def filled_(x: torch.Tensor, value: float) -> None:
    x.copy_(torch.full(x.shape, value, device="cuda"))


@torch.library.custom_op("exchange::row_gradients", mutates_args={"dx", "dw", "db"}, device_types="cuda")
def row_gradients(x: torch.Tensor, dx: torch.Tensor, dw: Optional[torch.Tensor], db: Optional[torch.Tensor] = None) -> None:
    dx.copy_(2 * x)
    if dw is not None:
        dw.copy_((x * x).sum(0))
    if db is not None:
        db.copy_(x.sum(0))


@torch.library.custom_op("exchange::writes_left_out", mutates_args=("y", "z"), device_types="cpu")
def writes_left_out(x: torch.Tensor, y: torch.Tensor, z: Optional[torch.Tensor] = None) -> None:
    y.copy_(x)


library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: torch.full_like(x, 2) * x, "CUDA")


def test_storages_stand_where_a_gpus_do():
    for count in (1, 3, 31, 128, 1000, 1 << 20):
        made = [torch.empty(count, device="cuda"), torch.zeros(count, device="cuda", dtype=torch.bfloat16), torch.ones(count).cuda(),
                torch.tensor([1.0] * min(count, 40), device="cuda"), torch.randn(count, device="cuda").cumsum(0)]
        assert [t.data_ptr() % 512 for t in made] == [0] * len(made), count


def test_nobody_puts_a_table_of_c_functions_in_place_of_the_capsules(monkeypatch, tmp_path):
    package = tmp_path / "tvm_ffi"
    package.mkdir()
    (package / "__init__.py").write_text("from . import _optional_torch_c_dlpack\n")
    (package / "_optional_torch_c_dlpack.py").write_text("""
import os, torch
def load_torch_c_dlpack_extension():
    torch.Tensor.__dlpack_c_exchange_api__ = "what a C++ compiler has made"
if os.environ.get("TVM_FFI_DISABLE_TORCH_C_DLPACK", "0") == "0":
    load_torch_c_dlpack_extension()
""")
    for name in [n for n in sys.modules if n.split(".")[0] == "tvm_ffi"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    import tvm_ffi

    try:
        assert not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"), "by itself"
        tvm_ffi._optional_torch_c_dlpack.load_torch_c_dlpack_extension()  # as TVM's Relax does
        assert not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"), "by who asks for it"
    finally:
        for name in [n for n in sys.modules if n.split(".")[0] == "tvm_ffi"]:
            del sys.modules[name]
        if hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
            del torch.Tensor.__dlpack_c_exchange_api__


def test_a_capsule_says_that_its_tensor_is_the_gpus():
    from torch.utils import dlpack

    x = torch.arange(6.0, device="cuda").view(2, 3)[:, 1:]
    for y in (torch.from_dlpack(x), dlpack.from_dlpack(dlpack.to_dlpack(x)), torch.from_dlpack(x.__dlpack__())):
        assert y.device == x.device and y.data_ptr() == x.data_ptr() and y.shape == x.shape and y.stride() == x.stride()
        y += 1
    assert x.tolist() == [[4.0, 5.0], [7.0, 8.0]]
    with pytest.raises(Exception, match="[Uu]nsupported device"):
        np.from_dlpack(x)
    assert np.from_dlpack(x.cpu())[0, 0] == 4
    assert torch.from_dlpack(np.arange(3)).device.type == "cpu"


def test_a_tensor_that_came_by_dlpack_keeps_its_memory():
    x = torch.arange(4.0, device="cuda")
    y = torch.from_dlpack(x.__dlpack__())
    del x
    gc.collect()
    assert (y * 2).tolist() == [0.0, 2.0, 4.0, 6.0]
    with pytest.raises(RuntimeError, match="resiz"):
        y.resize_(100)


def test_an_operator_for_cuda_runs():
    x = torch.arange(4.0, device="cuda", requires_grad=True)
    out = torch.ops.exchange.scaled(x, 3.0)
    assert out.is_cuda and out.tolist() == [0.0, 3.0, 6.0, 9.0]
    out.sum().backward()
    assert x.grad.is_cuda and x.grad.tolist() == [3.0] * 4
    assert torch.ops.exchange.twice(x.detach()).tolist() == [0.0, 2.0, 4.0, 6.0]
    with pytest.raises(NotImplementedError):
        scaled(torch.ones(2), 2.0)  # of the host's there is none, as on a machine with a GPU


def test_an_operator_for_all_devices_runs():
    x = torch.zeros(3, device="cuda")
    filled_(x, 4.0)
    assert x.tolist() == [4.0] * 3


@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_an_operator_writes_what_it_is_given_of_its_optional_arguments(weight, bias):
    """A norm's backward pass without a bias, or without a weight: quack's are of this kind."""
    if not bias:
        try:
            writes_left_out(torch.ones(2), torch.ones(2))
        except IndexError:
            pytest.skip("this torch itself takes no operator without an argument that it would write, on any device (2.11)")
    x = torch.arange(6.0, device="cuda").view(2, 3)
    dx, dw, db = torch.empty_like(x), torch.empty(3, device="cuda"), torch.empty(3, device="cuda")
    row_gradients(x, dx, dw if weight else None, db if bias else None)
    assert dx.tolist() == (2 * x).tolist() and dx.is_cuda
    assert dw.tolist() == [9.0, 17.0, 29.0] if weight else dw.isnan().all()
    assert db.tolist() == [3.0, 5.0, 7.0] if bias else db.isnan().all()


def test_an_operator_is_captured():
    x, graph = torch.ones(3, device="cuda"), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = scaled(x, 2.0)
    x.fill_(5)
    graph.replay()
    assert y.tolist() == [10.0] * 3
