"""Which values name the same thing of a server, and to which split it belongs."""

from collections.abc import Callable, Iterable, Sequence

from mcprl.judges.checks import squash
from mcprl.scenarios.packs.pack import SHARES, fraction, split_of
from mcprl.types import Scalar, Split

_FEW = 30
"""Things of one kind. Among fewer, chance alone may leave a split with none of them, so each gets its share."""


class Identities:
    """The names of things and the keys that they belong to. Paths are as from one of the `roots`.

    A thing of which a value or the key (`squash`ed) is `taken` belongs to the test.
    """

    def __init__(self, roots: Sequence[str], taken: Callable[[str], bool]) -> None:
        self.roots, self._taken_by_tests = roots, taken
        self._things: dict[str, str] = {}
        self._ambiguous: set[str] = set()
        self._sharing: dict[str, set[str]] = {}
        self._dealt: dict[int, dict[str, Split]] = {}

    def unite(self, name: str, key: str) -> None:
        """Learn that a name belongs to the thing with this key."""
        name, key = squash(name), squash(key)
        if self._things.setdefault(name, key) != key:
            self._ambiguous.add(name)

    def thing(self, value: Scalar) -> str:
        """The key of the thing that a value names, else the value itself."""
        text = squash(str(self.from_root(value)))
        for _ in range(3):
            following = self._things.get(text, text)
            if following == text or text in self._ambiguous:
                break
            text = following
        return text

    def is_ambiguous(self, value: Scalar) -> bool:
        """Whether several things have this name."""
        return squash(str(value)) in self._ambiguous

    def share(self, value: str, key: str) -> None:
        """Learn that a value, which is no name, is among those of the thing with this key."""
        self._sharing.setdefault(squash(value), set()).add(squash(key))

    def about(self, values: Sequence[Scalar]) -> Sequence[Scalar]:
        """The values that say which things a task is about: one that several things share (the city of Ana in Turin)
        says so only if no other does."""
        return [value for value in values if not self._is_shared(value)] or values

    def _is_shared(self, value: Scalar) -> bool:
        text = squash(str(value))
        return text not in self._things and len(self._sharing.get(text, ())) > 1

    def from_root(self, value: Scalar) -> Scalar:
        """A path as it is from a folder on the server's command line; other values as they are."""
        for root in self.roots:
            if isinstance(value, str) and value.startswith(f"{root}/") and len(value) > len(root) + 1:
                return value.removeprefix(f"{root}/")
        return value

    def split(self, seed: int, value: Scalar) -> Split:
        """The split to which the thing that a value names belongs."""
        thing = self.thing(value)
        taken = self._taken_by_tests(thing) or self._taken_by_tests(squash(str(value)))
        if seed not in self._dealt:
            self._dealt[seed] = self._deal(seed)
        return "test" if taken else self._dealt[seed].get(thing) or split_of(seed, thing)

    def populations(self) -> Iterable[Sequence[Scalar]]:
        """The values by which the things of each kind are asked for."""
        return ()

    def _deal(self, seed: int) -> dict[str, Split]:
        """The splits of things of which there are few of a kind: by rank, so that each split has its share."""
        dealt: dict[str, Split] = {}
        for values in self.populations():
            things = sorted({self.thing(value) for value in values}, key=lambda thing: fraction(f"{seed}:{thing}"))
            if not len(SHARES) <= len(things) < _FEW:
                continue
            end = 0.0
            for split, share in SHARES.items():
                begin, end = end, end + share * len(things)
                for thing in things[round(begin) : round(end)]:
                    dealt.setdefault(thing, split)
        return dealt
