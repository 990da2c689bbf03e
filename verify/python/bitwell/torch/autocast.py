"""torch.autocast("cuda"): the types that CUDA's lists give, for tensors that torch takes for the CPU's.

The CPU's autocast is on meanwhile, which makes products in 16 bits. What CUDA's lists have and the CPU's lack is added to
it here; it asks whether it is CUDA's that is on.
"""
import threading

import torch

from . import memory

# To 32 bits.
FULL = ("acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow softplus layer_norm native_layer_norm group_norm "
        "frobenius_norm nuclear_norm norm linalg_vector_norm linalg_matrix_norm cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss "
        "nll_loss2d hinge_embedding_loss kl_div l1_loss smooth_l1_loss huber_loss mse_loss margin_ranking_loss multilabel_margin_loss "
        "soft_margin_loss triplet_margin_loss multi_margin_loss binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp "
        "softmax log_softmax sum prod cumsum cumprod").split()
# To the type that is asked for.
NARROW = "addmv addr mv prelu chain_matmul conv_tbc lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell".split()
# To the widest of their operands.
WIDEST = "addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put scatter_add tensordot".split()
KEY = "AutocastCPU"
_raw = {n: getattr(torch, n) for n in ("set_autocast_enabled", "is_autocast_enabled", "set_autocast_dtype", "get_autocast_dtype")}
_library = None


class Cpus(threading.local):
    """What was asked of the CPU's own, which stands back while CUDA's is on."""
    enabled, dtype = False, torch.bfloat16


_cpus = Cpus()


def cast(values, to):
    if isinstance(values, torch.Tensor):
        return values.to(to) if values.is_floating_point() and values.dtype != torch.float64 and memory.on_gpu(values) else values
    return type(values)(cast(v, to) for v in values) if isinstance(values, (list, tuple)) else values


def widest(args):
    from .mode import tensors

    return torch.float32 if any(t.dtype == torch.float32 for t in tensors(args)) else _raw["get_autocast_dtype"]("cuda")


def listed(op, type_of):
    without = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, KEY))

    def called(*args, **kwargs):
        with torch._C._ExcludeDispatchKeyGuard(without):
            if _raw["is_autocast_enabled"]("cuda") and kwargs.get("dtype") is None:
                args = cast(args, type_of(args))
            return op(*args, **kwargs)

    return called


def add_to_the_cpus():
    global _library
    if _library is not None:
        return
    _library = torch.library.Library("aten", "IMPL", KEY)
    for names, type_of in ((FULL, lambda args: torch.float32), (NARROW, lambda args: _raw["get_autocast_dtype"]("cuda")), (WIDEST, widest)):
        for name in names:
            packet = getattr(torch.ops.aten, name, None)
            for overload in packet.overloads() if packet is not None else ():
                op = getattr(packet, overload)
                writes = any(a.alias_info is not None and a.alias_info.is_write for a in op._schema.arguments)
                if not writes and torch._C._dispatch_has_kernel(op.name()) and not torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), KEY):
                    _library.impl(op, listed(op, type_of))


def told():
    """The CPU's autocast does what either of them is to do."""
    cuda = _raw["is_autocast_enabled"]("cuda")
    if cuda:
        add_to_the_cpus()
    _raw["set_autocast_enabled"]("cpu", cuda or _cpus.enabled)
    _raw["set_autocast_dtype"]("cpu", _raw["get_autocast_dtype"]("cuda") if cuda else _cpus.dtype)


def patch():
    def set_enabled(device, on=None):
        device, on = ("cuda", device) if on is None else (device, on)
        if device == "cpu":
            _cpus.enabled = on
        else:
            _raw["set_autocast_enabled"](device, on)
        told()

    def set_dtype(device, dtype):
        if device == "cpu":
            _cpus.dtype = dtype
        else:
            _raw["set_autocast_dtype"](device, dtype)
        told()

    torch.set_autocast_enabled, torch.set_autocast_dtype = set_enabled, set_dtype
    torch.is_autocast_enabled = lambda device="cuda": _cpus.enabled if device == "cpu" else _raw["is_autocast_enabled"](device)
    torch.get_autocast_dtype = lambda device: _cpus.dtype if device == "cpu" else _raw["get_autocast_dtype"](device)
