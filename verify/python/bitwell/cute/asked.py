"""What programs in the CuTe DSL ask besides: of the GPU, and how long a function takes."""
from __future__ import annotations

from .. import _native
from . import runtime


def change(changed) -> None:
    """`changed` as dsl.changed."""
    import cutlass.cute.testing
    import cutlass.testing
    from cutlass.base_dsl.runtime import cuda
    from cutlass.utils.hardware_info import HardwareInfo

    @changed(HardwareInfo, "__init__")
    def opened(before, info, device_id=0):
        if device_id:
            raise ValueError(f"Device ID {device_id} is out of range for device count 1")
        info.device_id = 0

    @changed(HardwareInfo, "get_max_active_clusters")
    def clusters(before, info, cluster_size, stream=None):
        if not 0 < cluster_size <= 32:
            raise ValueError(f"Cluster size must be between 1 and 32, {cluster_size} is not supported")
        return runtime.device_now().processors // cluster_size  # one CTA a multiprocessor, as the DSL asks it

    @changed(HardwareInfo, "get_l2_cache_size_in_bytes")
    def l2(before, info):
        return runtime.device_now().l2

    @changed(HardwareInfo, "get_device_multiprocessor_count")
    def processors(before, info):
        return runtime.device_now().processors

    @changed(cuda, "get_device_attribute")
    def attribute(before, attribute, device_id=0):
        if attribute.name != "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR":  # which the DSL asks for by itself
            raise _native.Unsupported(f"{attribute.name}, asked for by the DSL's get_device_attribute")
        return runtime.device_now().shared_of_processor

    def once(before, callable, *, kernel_arguments=None, workspace_generator=None, **_):
        """A benchmark: the function runs once, for what it does; its time is not known here."""
        given = workspace_generator() if workspace_generator is not None else kernel_arguments
        callable(*(given.args if given is not None else ()), **(given.kwargs if given is not None else {}))
        return 1.0

    for module in (cutlass.testing, cutlass.cute.testing):
        changed(module, "benchmark")(once)
