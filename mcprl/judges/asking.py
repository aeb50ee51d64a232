"""Asks a language model that judges, and once more where its reply cannot be read."""

from collections.abc import Callable
from typing import Any, TypeVar

from mcprl.errors import BudgetError, JudgeError, LlmError
from mcprl.llm import FaultyReply, LanguageModel

Read = TypeVar("Read")


async def ask_twice(
    model: LanguageModel,
    chat: list[dict[str, str]],
    schema: dict[str, Any],
    read: Callable[[str], Read],
    repair: Callable[[str], str],
    what: str,
) -> Read:
    """What `read` makes of the model's reply to `chat`. It raises `ValueError` for a reply that cannot be used, which
    goes back to the model once, with `repair` of the problem.

    Raises `JudgeError` if no usable `what` came, or `BudgetError`.
    """

    async def asked() -> Read:
        nonlocal chat
        reply = await model.reply(chat, schema)
        try:
            return read(reply)
        except ValueError as problem:
            fault = reply.fault if isinstance(reply, FaultyReply) else str(problem)
            said = {"role": "assistant", "content": str(reply)}
            chat = [*chat, said, {"role": "user", "content": repair(fault)}]
            raise ValueError(fault) from None

    try:
        try:
            return await asked()
        except ValueError:
            return await asked()
    except ValueError as problem:
        raise JudgeError(f"{model.name} gave no usable {what}, asked twice: {problem}") from None
    except BudgetError:
        raise
    except LlmError as error:
        raise JudgeError(f"the judge gives no reply: {error}") from error
