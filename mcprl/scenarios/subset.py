"""The part of a pack that is made at one time: one split and one suite, and what belongs to it.

The split is by thing: the key of every thing that a task names or asks for belongs to train, val or test by a hash of
it and the seed. So does the form of a request: a third of the constructions, and a fifth of the pairs of tools that
follow one another, are kept for the test on forms.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.packs.pack import held_out_forms
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.types import Split, Suite


@dataclass
class Subset:
    """One split and suite of a server's tasks. All random draws for it come from `rng`."""

    catalog: Catalog
    split: Split
    suite: Suite
    seed: int

    def __post_init__(self) -> None:
        self.rng = random.Random(f"compose {self.seed} {self.split} {self.suite}")

    @property
    def known(self) -> Knowledge:
        """What probing found out about the server."""
        return self.catalog.known

    def allowed(self, value: Any) -> bool:
        """Whether the thing that a value names belongs to the split."""
        return self.catalog.split(self.seed, value) == self.split

    def allowed_forms(self, name: str, forms: Sequence[str]) -> list[str]:
        """The constructions of a set that belong to the suite: those of the test on forms are used nowhere else."""
        held = held_out_forms(self.seed, name, forms)
        return held if self.suite == "forms" else [form for form in forms if form not in held]
