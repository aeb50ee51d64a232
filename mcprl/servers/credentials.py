"""Where the tokens of a login are kept: in the system's keyring where there is one, else in this process alone.

Never in a file: a token in a file of mode 0600 is read by every program of the same user, and ends up in backups.
"""

from importlib import import_module
from typing import Any

from mcprl.config import ServerConfig
from mcprl.errors import ServerError
from mcprl.text import first_line

SERVICE = "mcprl"


def entry(server: ServerConfig) -> str:
    """The name of a login: the server's, and the id of a client that was registered by hand."""
    return " ".join(filter(None, (server.target, server.oauth_client.get("id"))))


class Credentials:
    """The credentials of one server, as one text. Its calls may block, for a keyring that asks its user."""

    def __init__(self, server: ServerConfig) -> None:
        self._entry = entry(server)
        self._keyring = _usable_keyring()

    @property
    def lasting(self) -> bool:
        """Whether what is saved outlives this process."""
        return self._keyring is not None

    @property
    def place(self) -> str:
        """Where they are kept, for a person: the system's keyring with its name, empty if nothing keeps them."""
        return f"the system's keyring ({self._keyring.get_keyring().name})" if self._keyring else ""

    def load(self) -> str | None:
        """What was saved, `None` if nothing was or the keyring refuses."""
        if self._keyring is None:
            return None
        try:
            return self._keyring.get_password(SERVICE, self._entry)
        except Exception:  # whatever a backend raises: locked, no D-Bus, refused by its user
            self._keyring = None
            return None

    def save(self, text: str) -> None:
        """Keep the text, for this process alone if the keyring refuses."""
        if self._keyring is None:
            return
        try:
            self._keyring.set_password(SERVICE, self._entry, text)
        except Exception:
            self._keyring = None

    def forget(self) -> bool:
        """Remove what was saved. Returns whether there was any. Raises `ServerError` if the keyring refuses."""
        if self._keyring is None or not self.load():
            return False
        try:
            self._keyring.delete_password(SERVICE, self._entry)
        except Exception as error:
            raise ServerError(f"{self.place} keeps the login: {first_line(error)}; remove the entry there") from None
        return True


def _usable_keyring() -> Any:
    """The `keyring` module, `None` if it is not installed or has no backend that its authors recommend: priority 1 or
    more, which a file in plain text has not."""
    try:
        keyring = import_module("keyring")
    except ImportError:
        return None
    return keyring if keyring.get_keyring().priority >= 1 else None
