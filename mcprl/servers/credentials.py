"""Where the tokens of a login are kept: in the system's keyring where there is one, else in this process alone.

Never in a file: a token in a file of mode 0600 is read by every program of the same user, and ends up in backups.
"""

from importlib import import_module
from typing import Any

SERVICE = "mcprl"


class Credentials:
    """The credentials of one server, as one text. Its calls may block, for a keyring that asks its user."""

    def __init__(self, target: str) -> None:
        self._target, self._keyring = target, _usable_keyring()

    @property
    def lasting(self) -> bool:
        """Whether what is saved outlives this process."""
        return self._keyring is not None

    def load(self) -> str | None:
        """What was saved, `None` if nothing was or the keyring refuses."""
        if self._keyring is None:
            return None
        try:
            return self._keyring.get_password(SERVICE, self._target)
        except Exception:  # whatever a backend raises: locked, no D-Bus, refused by its user
            self._keyring = None
            return None

    def save(self, text: str) -> None:
        """Keep the text, for this process alone if the keyring refuses."""
        if self._keyring is None:
            return
        try:
            self._keyring.set_password(SERVICE, self._target, text)
        except Exception:
            self._keyring = None


def _usable_keyring() -> Any:
    """The `keyring` module, `None` if it is not installed or has no backend that its authors recommend: priority 1 or
    more, which a file in plain text has not."""
    try:
        keyring = import_module("keyring")
    except ImportError:
        return None
    return keyring if keyring.get_keyring().priority >= 1 else None
