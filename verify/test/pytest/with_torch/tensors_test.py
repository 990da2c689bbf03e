"""Where tensors are, with torch's own words for it: what a GPU would answer is written out."""
import copy
import gc
import io
import pickle
import threading

import pytest
import torch

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")


@pytest.mark.parametrize("make", [
    lambda d: torch.randn(3, device=d), lambda d: torch.empty(3, device=d), lambda d: torch.tensor([1.0, 2], device=d),
    lambda d: torch.as_tensor([1, 2], device=d), lambda d: torch.asarray([1, 2], device=d), lambda d: torch.arange(3, device=d),
    lambda d: torch.full((2,), 1.0, device=d), lambda d: torch.randint(0, 5, (2,), device=d), lambda d: torch.eye(2, device=d),
    lambda d: torch.linspace(0, 1, 3, device=d), lambda d: torch.ones(2).to(d), lambda d: torch.ones(2).to(device=d, dtype=torch.half),
    lambda d: torch.ones(2).cuda(), lambda d: torch.zeros_like(torch.ones(2), device=d), lambda d: torch.ones(2).new_zeros(2, device=d),
    lambda d: torch.ones(2).new_tensor([1], device=d), lambda d: torch.empty(0, device=d), lambda d: torch.nn.Linear(2, 2, device=d).weight,
    lambda d: torch.nn.Linear(2, 2).to(d).weight, lambda d: torch.from_numpy(__import__("numpy").ones(2)).to(d)])
@pytest.mark.parametrize("device", ["cuda", "cuda:0", GPU, 0])
def test_made_there(make, device):
    x = make(device)
    assert x.device == GPU and x.is_cuda and not x.is_cpu and x.get_device() == 0


@pytest.mark.parametrize("of", [
    lambda x: x + 1, lambda x: x.half(), lambda x: x.to(torch.float64), lambda x: x[1:], lambda x: x.view(3, 1), lambda x: x.clone(),
    lambda x: torch.empty_like(x), lambda x: x.new_empty(2), lambda x: x.new_tensor([1]), lambda x: torch.cat([x, x]), lambda x: x.sum(),
    lambda x: x.to("cuda"), lambda x: x.sort()[1], lambda x: torch.where(x > 0, x, 0.0), lambda x: x.detach(), lambda x: x.data,
    lambda x: copy.deepcopy(x), lambda x: pickle.loads(pickle.dumps(x)), lambda x: torch.zeros(3).to(x),
    lambda x: torch.nn.functional.one_hot(x.abs().long() % 2), lambda x: x @ torch.ones(3, device="cuda"), lambda x: x.unbind()[0]])
def test_what_is_made_of_it_stays_there(of):
    assert of(torch.randn(3, device="cuda")).device == GPU


@pytest.mark.parametrize("of", [
    lambda x: x.cpu(), lambda x: x.to("cpu"), lambda x: x.to(CPU, torch.half), lambda x: torch.zeros_like(x, device="cpu"),
    lambda x: x.new_zeros(2, device="cpu"), lambda x: torch.tensor(x.tolist()), lambda x: torch.ones(2), lambda x: x.to(torch.ones(2)),
    lambda x: torch.empty(3).copy_(x), lambda x: torch.ones(3)[1:]])
def test_what_is_taken_from_there_is_not(of):
    x = torch.randn(3, device="cuda")
    assert of(x).device == CPU and not of(x).is_cuda and x.device == GPU


def test_a_copy_is_one():
    x = torch.zeros(3, device="cuda")
    y = x.cpu()
    y += 1
    assert x.tolist() == [0, 0, 0] and y.tolist() == [1, 1, 1]
    assert x.to("cuda") is x and x.cuda() is x


def test_numpy_is_refused_with_cudas_words():
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        torch.ones(2, device="cuda").numpy()
    assert torch.ones(2, device="cuda").cpu().numpy().sum() == 2


def test_no_second_gpu():
    for make in (lambda: torch.ones(1, device="cuda:1"), lambda: torch.ones(1).to("cuda:1"), lambda: torch.cuda.set_device(1)):
        with pytest.raises(RuntimeError, match="invalid device ordinal"):
            make()


def test_compared_with_the_cpus():
    x = torch.randn(3, device="cuda")
    torch.testing.assert_close(x, x.clone())
    with pytest.raises(AssertionError, match="cuda:0 != cpu"):
        torch.testing.assert_close(x, x.cpu())


def test_shown():
    assert repr(torch.ones(2, device="cuda")) == "tensor([1., 1.], device='cuda:0')"


def test_default_device():
    torch.set_default_device("cuda")
    try:
        assert torch.ones(2).device == torch.tensor([1]).device == GPU
    finally:
        torch.set_default_device(None)
    with torch.device("cuda"):
        assert torch.tensor([1]).device == torch.nn.Linear(2, 2).weight.device == GPU
    assert torch.tensor([1]).device == CPU


def test_gradients():
    seen = []

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            return 2 * x

        @staticmethod
        def backward(context, gradient):
            seen.append(gradient.device)
            return 2 * gradient

    model = torch.nn.Linear(4, 4).cuda()
    x = torch.randn(2, 4, device="cuda", requires_grad=True)
    Twice.apply(model(x)).cpu().sum().backward()
    assert x.grad.device == model.weight.grad.device == GPU and seen == [GPU]
    torch.testing.assert_close(model.bias.grad.cpu(), torch.full((4,), 4.0))


def test_sums_over_rows_are_not_made_in_16_bits():
    """The gradient of a layer's weight is near that of numbers with 64 bits, as on a GPU."""
    torch.manual_seed(0)
    x, towards = torch.randn(256, 32).bfloat16(), torch.randn(256, 32).bfloat16()
    gradients = []
    for type, device in ((torch.float64, "cpu"), (torch.bfloat16, "cuda")):
        layer = torch.nn.LayerNorm(32, device=device, dtype=type)
        layer(x.to(device, type)).backward(towards.to(device, type))
        gradients.append(layer.weight.grad.cpu().double())
    torch.testing.assert_close(gradients[1], gradients[0], rtol=2**-8, atol=0.05)


def test_a_seed_gives_the_cpus_numbers():
    torch.manual_seed(3)
    there = torch.randn(5, device="cuda").cpu()
    torch.manual_seed(3)
    assert torch.equal(there, torch.randn(5))
    numbers = torch.Generator(device="cuda").manual_seed(7)
    assert numbers.device == GPU
    assert torch.equal(torch.rand(3, generator=numbers, device="cuda").cpu(), torch.rand(3, generator=torch.Generator().manual_seed(7)))


def test_the_gpu_has_a_generator_of_its_own():
    torch.manual_seed(3)
    first = torch.randn(5, device="cuda")
    torch.manual_seed(3)
    torch.randn(5)  # the CPU's
    assert torch.equal(torch.randn(5, device="cuda"), first)
    state = torch.get_rng_state()
    for seed in (torch.cuda.manual_seed, torch.cuda.manual_seed_all):
        seed(3)
        assert torch.cuda.initial_seed() == 3 and torch.equal(torch.empty(5, device="cuda").normal_(), first)
        assert torch.nn.functional.dropout(torch.ones(1000, device="cuda")).sum() > 0
    assert torch.equal(torch.get_rng_state(), state)  # nothing of this was the CPU's
    torch.cuda.seed()
    assert torch.cuda.initial_seed() != 3 and torch.equal(torch.get_rng_state(), state)


def test_the_generators_state_is_kept_and_given_back():
    kept = torch.cuda.get_rng_state()
    state = torch.get_rng_state()
    first = torch.rand(5, device="cuda")
    torch.cuda.set_rng_state(kept)
    assert torch.equal(torch.rand(5, device="cuda"), first) and torch.equal(torch.get_rng_state(), state)
    torch.cuda.set_rng_state_all([kept])
    assert torch.equal(torch.rand(5, device="cuda", generator=torch.cuda.default_generators[0]), first)
    torch.cuda.set_rng_state(kept)
    with torch.random.fork_rng():
        torch.rand(5, device="cuda")
    assert torch.equal(torch.rand(5, device="cuda"), first)
    assert torch.cuda.default_generators[0].device == GPU


@pytest.mark.parametrize("load, device", [({}, GPU), ({"map_location": "cuda"}, GPU), ({"map_location": GPU}, GPU), ({"map_location": "cpu"}, CPU),
                                          ({"weights_only": False}, GPU)])
def test_saved_and_loaded(load, device, bitwell):
    model = torch.nn.Linear(2, 2, device="cuda")
    view = model.weight.detach()[1:]
    file = io.BytesIO()
    torch.save({"state": model.state_dict(), "view": view, "cpu": torch.ones(2)}, file)
    assert b"cuda:0" in file.getvalue()
    found = torch.load(io.BytesIO(file.getvalue()), **load)
    assert found["state"]["weight"].device == found["view"].device == device and found["cpu"].device == (device if load.get("map_location") else CPU)
    assert torch.equal(found["state"]["weight"].cpu(), model.weight.detach().cpu()) and found["view"].data_ptr() == found["state"]["weight"][1:].data_ptr()
    if device == GPU:
        assert bitwell.held_at(found["state"]["weight"].data_ptr()).bytes == 16
        torch.nn.Linear(2, 2, device="cuda").load_state_dict(found["state"])


def test_what_the_cpu_saved_is_loaded_there():
    file = io.BytesIO()
    torch.save(torch.ones(3), file)
    assert torch.load(io.BytesIO(file.getvalue()), map_location="cuda").device == GPU
    with pytest.raises(RuntimeError, match="device"):
        torch.load(io.BytesIO(file.getvalue()), map_location="cuda:1")


def test_a_storage_that_is_emptied_is_held_no_more(bitwell):
    x = torch.ones(100, device="cuda")
    address, storage = x.data_ptr(), x.untyped_storage()
    storage.resize_(0)
    assert bitwell.held_at(address) is None
    storage.resize_(400)
    assert bitwell.held_at(x.data_ptr()).bytes == 400


def test_other_threads_have_it():
    found = []
    thread = threading.Thread(target=lambda: found.append(torch.ones(2, device="cuda") + 1))
    thread.start(), thread.join()
    assert found[0].device == GPU


def test_memory_is_held_as_long_as_the_tensor(bitwell):
    gc.collect()
    before = len(bitwell.held)
    x = torch.ones(100, device="cuda")
    view = x[50:]
    assert len(bitwell.held) == before + 1 and bitwell.held_at(view.data_ptr()).bytes == 400
    del x
    assert len(bitwell.held) == before + 1
    x = view.resize_(1000)
    assert bitwell.held_at(x.data_ptr()).bytes == 4200
    del x, view
    assert len(bitwell.held) == before


def test_the_cpus_memory_is_not_the_gpus(bitwell):
    assert bitwell.held_at(torch.ones(100).data_ptr()) is None
    pinned = torch.ones(100).pin_memory()
    assert pinned.is_pinned() and pinned.device == CPU and bitwell.held_at(pinned.data_ptr()) is not None


def test_unwritten_memory_is_poisoned():
    assert torch.empty(4, 4, device="cuda").isnan().all()
    assert (torch.empty_like(torch.ones(3, dtype=torch.int8, device="cuda")) == -1).all()


def test_fake_tensors_have_devices_of_their_own():
    from torch._subclasses.fake_tensor import FakeTensorMode

    x = torch.randn(3, device="cuda")
    with FakeTensorMode() as mode:
        assert torch.randn(3, device="cuda").device == GPU and torch.randn(3, device="cuda").cpu().device == CPU
        assert torch.ones(2).device == CPU and torch.ones(2).cuda().device == GPU
    assert (mode.from_tensor(x) + 1).device == GPU and mode.from_tensor(x.cpu()).device == CPU
