"""Under torch.autocast("cuda") the types are those that CUDA's lists give, which are not the CPU's."""
import pytest
import torch
import torch.nn.functional as F

HALF, FULL = torch.float16, torch.float32


def square(type=FULL):
    return torch.rand(4, 4, device="cuda", dtype=type) + 0.5


@pytest.mark.parametrize("of", [
    lambda x: x @ x, lambda x: torch.nn.Linear(4, 4, device="cuda")(x), lambda x: torch.addmm(x, x, x), lambda x: torch.bmm(x[None], x[None]),
    lambda x: F.conv1d(x[None], x[:, :, None]), lambda x: torch.einsum("ij,jk->ik", x, x), lambda x: torch.mv(x, x[0]),
    lambda x: F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None])])
def test_products_are_made_in_16_bits(of):
    with torch.autocast("cuda", dtype=HALF):
        assert of(square()).dtype == HALF


@pytest.mark.parametrize("of", [
    lambda x: x.exp(), lambda x: torch.exp(x), lambda x: x.log(), lambda x: x ** 2, lambda x: x.pow(2), lambda x: 2 ** x, lambda x: x.rsqrt(), lambda x: x.reciprocal(),
    lambda x: F.softmax(x, -1), lambda x: x.softmax(0), lambda x: F.log_softmax(x, -1), lambda x: x.sum(), lambda x: x.sum(0), lambda x: x.prod(),
    lambda x: x.cumsum(0), lambda x: x.norm(), lambda x: F.layer_norm(x, (4,)), lambda x: F.group_norm(x, 2), lambda x: F.mse_loss(x, x),
    lambda x: F.cross_entropy(x, torch.zeros(4, dtype=torch.long, device="cuda")), lambda x: F.softplus(x), lambda x: F.cosine_similarity(x, x),
    lambda x: F.binary_cross_entropy_with_logits(x, x)])
def test_what_loses_by_16_bits_is_made_in_32(of):
    x = square(HALF)
    assert of(x).dtype == HALF
    with torch.autocast("cuda", dtype=HALF):
        assert of(x).dtype == FULL
    assert of(x).dtype == HALF


@pytest.mark.parametrize("of", [lambda x: x + x, lambda x: x.relu(), lambda x: x.sqrt(), lambda x: F.gelu(x), lambda x: x.amax()])
@pytest.mark.parametrize("type", [HALF, FULL])
def test_the_rest_keeps_its_type(of, type):
    with torch.autocast("cuda", dtype=HALF):
        assert of(square(type)).dtype == type


@pytest.mark.parametrize("of", [lambda x, y: torch.cat([x, y]), lambda x, y: torch.stack([x, y]), lambda x, y: torch.addcmul(x, y, y),
                                lambda x, y: torch.dot(x[0], y[0]), lambda x, y: torch.atan2(x, y)])
def test_operands_of_two_types_get_the_wider(of):
    with torch.autocast("cuda", dtype=HALF):
        assert of(square(HALF), square()).dtype == FULL


def test_a_type_that_is_asked_for_stays():
    with torch.autocast("cuda", dtype=HALF):
        assert square(HALF).sum(dtype=torch.float64).dtype == torch.float64
        assert F.softmax(square(HALF), -1, dtype=HALF).dtype == HALF


def test_what_is_said_of_it():
    assert not torch.is_autocast_enabled("cuda") and not torch.is_autocast_enabled()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert torch.is_autocast_enabled("cuda") and torch.is_autocast_enabled() and torch.get_autocast_dtype("cuda") == torch.bfloat16
        with torch.autocast("cuda", enabled=False):
            assert not torch.is_autocast_enabled("cuda") and (square() @ square()).dtype == FULL and square(HALF).exp().dtype == HALF
        assert (square() @ square()).dtype == torch.bfloat16
    assert not torch.is_autocast_enabled("cuda") and (square() @ square()).dtype == FULL
    with torch.cuda.amp.autocast():
        assert (square() @ square()).dtype == HALF

    @torch.autocast("cuda", dtype=torch.bfloat16)
    def product(x):
        return x @ x

    assert product(square()).dtype == torch.bfloat16


def test_gradients_have_the_type_of_what_they_are_of():
    x = square(HALF).requires_grad_()
    with torch.autocast("cuda", dtype=HALF):
        loss = F.softmax(x @ x, -1).exp().sum()
    loss.backward()
    assert loss.dtype == FULL and x.grad.dtype == HALF and x.grad.is_cuda


def test_the_cpus_own_is_as_it_was():
    x = torch.ones(4, 4, dtype=torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert x.exp().dtype == torch.bfloat16 and (torch.ones(4, 4) @ torch.ones(4, 4)).dtype == torch.bfloat16
        assert not torch.is_autocast_enabled("cuda")
