"""What can go wrong, named after the boundary it crosses.

Every error that a user can cause or cure is a `McprlError`. Its text is one line: the value, what was expected, and
what to do. The command line prints that line and exits with `exit_code`; the traceback goes to the run's log. A failed
rollout is data (`Trajectory.error`), not an exception.
"""


class McprlError(Exception):
    """The base of every error this package raises on purpose."""

    exit_code = 2


class ConfigError(McprlError):
    """A setting is unknown, missing or out of range."""


class ServerError(McprlError):
    """The MCP server cannot be reached, refuses, or does not speak MCP."""


class SessionLost(ServerError):
    """The connection under a session died. The session is unusable; a new one may work."""


class Unavailable(ServerError):
    """The MCP server did not serve a request, for a reason that may pass. The session is as it was.

    `after_s` are the seconds after which the server asked to be called again, 0 if it did not say.
    """

    def __init__(self, message: str, after_s: float = 0.0) -> None:
        super().__init__(message)
        self.after_s = after_s


class NotAlone(ServerError):
    """A session is about to write where others read the state that all share. It may write in a turn of its own."""


class ScenarioError(McprlError):
    """No usable tasks could be made for a server, or a pack does not fit it."""


class EngineError(McprlError):
    """The inference engine failed or cannot serve a request."""


class EngineLost(EngineError):
    """The engine's server died or gave no answer while it sampled. It is started again; a new turn may work."""


class RequestRefused(EngineError):
    """The engine does not take a request, for something in it."""


class PromptTooLong(EngineError):
    """A prompt has more tokens than the model reads."""


class UnsupportedSchema(EngineError):
    """A reply cannot be held to its schema."""


class ModelError(McprlError):
    """A model, tokenizer or adapter cannot be loaded or saved."""


class JudgeError(McprlError):
    """A judge could not score a group. Never a score."""


class LlmError(McprlError):
    """A language model's API cannot be used."""


class BudgetError(LlmError):
    """The next call of a language model could exceed the cost limit."""


class BenchError(McprlError):
    """A benchmark's package is not on this machine, or has no such tasks."""


class TrainingError(McprlError):
    """The update failed: a non-finite loss, no trainable rows, or a certificate below 100 %."""


class JournalError(McprlError):
    """A run folder is missing, locked, from another version or damaged."""


class MissingExtra(McprlError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; install it with: pip install 'mcprl[{extra}]'")
