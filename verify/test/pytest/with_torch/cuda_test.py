"""What torch.cuda says."""
import subprocess
import sys

import pytest
import torch


def test_the_device(bitwell):
    name, capability, processors = {"h200": ("NVIDIA H200", (9, 0), 132), "b200": ("NVIDIA B200", (10, 0), 148),
                                    "rtx": ("NVIDIA RTX PRO 6000 Blackwell", (12, 0), 188)}[bitwell.settings.device]
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1 and torch.cuda.current_device() == 0
    assert torch.cuda.get_device_name() == torch.cuda.get_device_name("cuda") == name
    assert torch.cuda.get_device_capability(0) == capability
    assert torch.cuda.get_device_properties(torch.device("cuda")).multi_processor_count == processors
    assert torch.accelerator.current_accelerator() == torch.device("cuda") and torch.version.cuda  # without an index, as a GPU's


def test_the_first_use_of_cuda_imports_no_compiler():
    """torch's, which takes seconds; and a program that imports it afterwards has the GPU's tensors go through it uncompiled."""
    program = """
import sys, bitwell, torch
bitwell.activate()
x = torch.ones(4, device="cuda")
(x + 1).sum().item()
assert "torch._dynamo" not in sys.modules
import torch._dynamo
out = torch._dynamo.optimize("eager")(lambda a: 2 * a + torch.ones(4, device="cuda"))(x)
assert out.is_cuda and out.tolist() == [3, 3, 3, 3]
print("held")
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert told.stdout == "held\n", told.stderr


def test_streams_and_events():
    side = torch.cuda.Stream()
    before = torch.cuda.Event(enable_timing=True)
    before.record()
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side != torch.cuda.default_stream()
        x = torch.ones(3, device="cuda") * 2
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    after = torch.cuda.Event(enable_timing=True)
    assert after.query()
    with pytest.raises(ValueError, match="recorded"):
        before.elapsed_time(after)
    after.record(side)
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    assert x.tolist() == [2, 2, 2] and side.query() and before.elapsed_time(after) > 0
    with pytest.raises(ValueError, match="enable_timing"):
        torch.cuda.Event().elapsed_time(after)


def test_memory_is_counted(bitwell):
    before = torch.cuda.memory_allocated()
    x = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
    assert torch.cuda.memory_allocated() - before == x.numel()
    free, total = torch.cuda.mem_get_info()
    assert total - free == torch.cuda.memory_allocated()
    del x
    assert torch.cuda.memory_allocated() == before


def test_the_peak_is_kept_until_it_is_reset():
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    x = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
    del x
    assert torch.cuda.memory_allocated() == before and torch.cuda.max_memory_allocated() == torch.cuda.max_memory_reserved() == before + (1 << 20)
    stats = torch.cuda.memory_stats()
    assert stats["allocated_bytes.all.current"] == before and stats["allocated_bytes.all.peak"] == before + (1 << 20)
    assert stats["allocation.all.freed"] >= 1 and stats["num_ooms"] == 0 and "allocated" in torch.cuda.memory_summary()
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == before


def test_extensions_in_cpp_are_refused_by_name():
    from torch.utils.cpp_extension import load_inline

    with pytest.raises(NotImplementedError, match="cpp_extension, 'mine'"):
        load_inline("mine", "")
