"""What torch.cuda says."""
import pytest
import torch


def test_the_device(bitwell):
    name, capability, processors = {"h200": ("NVIDIA H200", (9, 0), 132), "b200": ("NVIDIA B200", (10, 0), 148),
                                    "rtx": ("NVIDIA RTX PRO 6000 Blackwell", (12, 0), 188)}[bitwell.settings.device]
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1 and torch.cuda.current_device() == 0
    assert torch.cuda.get_device_name() == torch.cuda.get_device_name("cuda") == name
    assert torch.cuda.get_device_capability(0) == capability
    assert torch.cuda.get_device_properties(torch.device("cuda")).multi_processor_count == processors
    assert torch.accelerator.current_accelerator().type == "cuda" and torch.version.cuda


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


def test_a_graph_does_what_it_was_shown_when_it_is_replayed():
    x, count = torch.ones(3, device="cuda"), torch.zeros(1, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        assert torch.cuda.is_current_stream_capturing()
        y = x * 2
        z = y.view(3, 1) + 1
        count += 1
    assert count.item() == 0 and not torch.cuda.is_current_stream_capturing()
    for value in (4, 5):
        x.fill_(value)
        graph.replay()
        assert y.tolist() == 3 * [2 * value] and z.flatten().tolist() == 3 * [2 * value + 1]
    assert count.item() == 2


def test_the_host_waits_for_nothing_in_a_graph():
    x = torch.ones(1, device="cuda")
    with pytest.raises(RuntimeError, match="operation not permitted when stream is capturing"):
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            x.item()
    assert x.item() == 1


def test_memory_is_counted(bitwell):
    before = torch.cuda.memory_allocated()
    x = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
    assert torch.cuda.memory_allocated() - before == x.numel()
    free, total = torch.cuda.mem_get_info()
    assert total - free == torch.cuda.memory_allocated()


def test_extensions_in_cpp_are_refused_by_name():
    from torch.utils.cpp_extension import load_inline

    with pytest.raises(NotImplementedError, match="cpp_extension, 'mine'"):
        load_inline("mine", "")
