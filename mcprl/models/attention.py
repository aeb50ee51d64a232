"""Attention that also returns its log-sum-exp, so that attention over parts of the keys can be merged exactly.

The log-sum-exp is in nats and float32. With `causal`, query i attends to keys 0..i, also if there are more queries than
keys. On a CPU these are the fused kernels behind torch's own scaled_dot_product_attention, elsewhere plain products.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def attention(
    query: Float[Tensor, "B heads Q D"],
    key: Float[Tensor, "B heads K D"],
    value: Float[Tensor, "B heads K D"],
    scale: float,
    mask: Float[Tensor, "*mask K"] | None = None,
    causal: bool = False,
    may_hide_all: bool = False,
) -> tuple[Float[Tensor, "B heads Q D"], Float[Tensor, "B heads Q"]]:
    """The output and its log-sum-exp. `mask` is added to the scores.

    `may_hide_all` says that `mask` may hide all keys from a query, whose output is then 0 and log-sum-exp -inf.
    """
    if _fused(query):
        kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
        out, lse = kernel(query, key, value, 0.0, causal, attn_mask=mask, scale=scale)
        if may_hide_all and mask is not None:  # the kernel gives 0 for it
            lse = lse.masked_fill((mask == -torch.inf).all(-1), -torch.inf)
        return out, lse
    scores = _scores(query, key, scale, mask, causal)
    lse = scores.logsumexp(-1)
    return (scores - lse.clamp(min=-1e30)[..., None]).exp().to(value.dtype) @ value, lse


def attention_backward(
    grad: Float[Tensor, "B heads Q D"],
    query: Float[Tensor, "B heads Q D"],
    key: Float[Tensor, "B heads K D"],
    value: Float[Tensor, "B heads K D"],
    out: Float[Tensor, "B heads Q D"],
    lse: Float[Tensor, "B heads Q"],
    scale: float,
    mask: Float[Tensor, "*mask K"] | None = None,
    causal: bool = False,
) -> tuple[Float[Tensor, "B heads Q D"], Float[Tensor, "B heads K D"], Float[Tensor, "B heads K D"]]:
    """The gradients of query, key and value, given that of the output.

    If `out` and `lse` are over more keys than these, the gradients are those of these keys' part (ring attention, arXiv
    2310.01889): only exp(scores - lse) and the product of `grad` and `out` depend on the other keys.
    """
    if _fused(query):
        kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
        return kernel(grad, query, key, value, out, lse, 0.0, causal, attn_mask=mask, scale=scale)
    weights = (_scores(query, key, scale, mask, causal) - lse[..., None]).exp()
    d_value = weights.to(grad.dtype).mT @ grad
    grad_out = (grad * out).sum(-1, keepdim=True, dtype=torch.float32)
    d_scores = (weights * ((grad @ value.mT).float() - grad_out) * scale).to(query.dtype)
    return d_scores @ key, d_scores.mT @ query, d_value


def merge(
    out: Float[Tensor, "*tokens D"],
    lse: Float[Tensor, "*tokens"],
    other: Float[Tensor, "*tokens D"],
    other_lse: Float[Tensor, "*tokens"],
) -> Float[Tensor, "*tokens D"]:
    """Attention over the union of two disjoint sets of keys, from the attention over each (Hydragen, arXiv 2402.05099,
    eq. 5). `lse` must be finite."""
    return torch.lerp(out, other, torch.sigmoid(other_lse - lse).to(out.dtype)[..., None])


def _fused(tensor: Tensor) -> bool:
    return tensor.device.type == "cpu"


def _scores(
    query: Float[Tensor, "B heads Q D"],
    key: Float[Tensor, "B heads K D"],
    scale: float,
    mask: Float[Tensor, "*mask K"] | None,
    causal: bool,
) -> Float[Tensor, "B heads Q K"]:
    scores = (query @ key.mT).float() * scale
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu_(1)
        scores = scores.masked_fill(hidden, -torch.inf)
    return scores if mask is None else scores + mask
