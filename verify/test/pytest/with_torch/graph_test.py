"""CUDA graphs: what is done at a replay, what counts as written, what a test leaves behind."""
import bitwell as package
import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


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


def test_what_a_graph_does_not_write_stays_unwritten(bitwell):
    graph, y = torch.cuda.CUDAGraph(), torch.zeros(32, device="cuda")
    with torch.cuda.graph(graph):
        x = torch.empty(32, device="cuda")
        double[(1,)](x, y, 32, BLOCK=32)
    with pytest.raises(package.Fault, match="a value that was never written is used"):
        graph.replay()
    bitwell.launched[-1].must_hold = False
    assert x.isnan().all()


def test_what_a_graph_makes_is_written_by_its_replay_alone(bitwell):
    x, y = torch.ones(32, device="cuda"), torch.zeros(32, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = x + 1
    with pytest.raises(package.Fault, match="a value that was never written is used"):
        double[(1,)](made, y, 32, BLOCK=32)
    bitwell.launched[-1].must_hold = False
    graph.replay()
    double[(1,)](made, y, 32, BLOCK=32)
    assert y.tolist() == 32 * [4]


def test_operations_that_give_several_results_where_they_are_told_to():
    x, values, places = torch.tensor([3.0, 1, 2], device="cuda"), torch.zeros(3, device="cuda"), torch.zeros(3, dtype=torch.long, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        given = torch.sort(x, out=(values, places))
    assert given[0] is values and given[1] is places and values.tolist() == [0, 0, 0]
    graph.replay()
    assert values.tolist() == [1, 2, 3] and places.tolist() == [1, 2, 0]


def test_what_is_updated_beside_a_result_is_updated_by_each_replay_alone():
    norm = torch.nn.BatchNorm1d(2, device="cuda", momentum=0.5)
    x = torch.tensor([[1.0, 2], [3, 6]], device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), torch.no_grad():
        y = norm(x)
    assert norm.running_mean.tolist() == [0, 0] and norm.num_batches_tracked.item() == 0
    for times, mean in ((1, [1, 2]), (2, [1.5, 3])):
        graph.replay()
        assert norm.running_mean.tolist() == mean and norm.num_batches_tracked.item() == times
    torch.testing.assert_close(y.cpu(), torch.tensor([[-1.0, -1], [1, 1]]), rtol=1e-4, atol=1e-4)


def test_random_numbers_are_new_ones_at_each_replay():
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x = torch.rand(8, device="cuda")
    graph.replay()
    first = x.clone()
    graph.replay()
    assert not torch.equal(first, x)


class TestWhatIsLeftOpen:
    """By a test that ends in the midst of something: the next one has nothing of it."""

    def test_left_open(self):
        torch.cuda.CUDAGraph().capture_begin()
        torch.cuda.set_stream(torch.cuda.Stream())
        triton.runtime.driver.active.utils.dry = True

    def test_is_closed(self):
        assert not torch.cuda.is_current_stream_capturing()
        assert torch.cuda.current_stream() == torch.cuda.default_stream()
        x, y = torch.ones(32, device="cuda"), torch.zeros(32, device="cuda")
        double[(1,)](x, y, 32, BLOCK=32)
        assert y.tolist() == 32 * [2]
