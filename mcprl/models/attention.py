"""Attention that also gives its log-sum-exp, so that attention over parts of the keys can be put together exactly.

Shapes: query (B, heads, Q, D), key and value (B, heads, K, D), log-sum-exp (B, heads, Q) in nats and float32. `causal`
lets query i see keys 0..i, also where there are more queries than keys. On a CPU these are the fused kernels behind
torch's own scaled_dot_product_attention, elsewhere plain products.
"""

import torch
from torch import Tensor


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float,
    mask: Tensor | None = None,
    causal: bool = False,
    blind: bool = False,
) -> tuple[Tensor, Tensor]:
    """The output (B, heads, Q, D) and its log-sum-exp. `blind` says that `mask` may let a query see no key, which then
    gets 0 and -inf."""
    if _fused(query):
        kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
        out, lse = kernel(query, key, value, 0.0, causal, attn_mask=mask, scale=scale)
        if blind and mask is not None:  # the kernel calls it 0
            lse = lse.masked_fill((mask == -torch.inf).all(-1), -torch.inf)
        return out, lse
    scores = _scores(query, key, scale, mask, causal)
    lse = scores.logsumexp(-1)
    return (scores - lse.clamp(min=-1e30)[..., None]).exp().to(value.dtype) @ value, lse


def attention_backward(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    lse: Tensor,
    scale: float,
    mask: Tensor | None = None,
    causal: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of query, key and value for the gradient of the output.

    Given the output and log-sum-exp over more keys than these, it gives these keys' share (ring attention, arXiv
    2310.01889): only exp(scores - lse) and the product of `grad` and `out` depend on the others.
    """
    if _fused(query):
        kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
        return kernel(grad, query, key, value, out, lse, 0.0, causal, attn_mask=mask, scale=scale)
    weights = (_scores(query, key, scale, mask, causal) - lse[..., None]).exp()
    d_value = weights.to(grad.dtype).mT @ grad
    own = (grad * out).sum(-1, keepdim=True, dtype=torch.float32)
    d_scores = (weights * ((grad @ value.mT).float() - own) * scale).to(query.dtype)
    return d_scores @ key, d_scores.mT @ query, d_value


def merge(out: Tensor, lse: Tensor, other: Tensor, other_lse: Tensor) -> Tensor:
    """Attention over the union of two sets of keys, from the attention over each; `lse` is finite (Hydragen, arXiv
    2402.05099, eq. 5)."""
    return torch.lerp(out, other, torch.sigmoid(other_lse - lse).to(out.dtype)[..., None])


def _fused(tensor: Tensor) -> bool:
    return tensor.device.type == "cpu"


def _scores(query: Tensor, key: Tensor, scale: float, mask: Tensor | None, causal: bool) -> Tensor:
    scores = (query @ key.mT).float() * scale
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu_(1)
        scores = scores.masked_fill(hidden, -torch.inf)
    return scores if mask is None else scores + mask
