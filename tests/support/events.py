"""An `emit` for tests, which keeps what it is given."""

from mcprl.events import Event, Note


class Recorder:
    """Call it with events; then read `events`, or the texts of the `notes` among them."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    @property
    def notes(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Note)]

    def count(self, kind: type[Event]) -> int:
        return sum(isinstance(event, kind) for event in self.events)
