"""The engine's few places for adapters: who waits for a load, and what is known after one was given up."""

from collections import OrderedDict
from typing import Any

import anyio
import pytest

from mcprl.engines import ADAPTERS
from mcprl.serving.slots import AdapterSlots
from mcprl.types import Adapter

A, B, C, D = (Adapter(f"/adapters/step-{n}", n) for n in range(1, 5))


class Places:
    """What an engine holds: the last `ADAPTERS` that were loaded. A load takes until `go` is set."""

    def __init__(self) -> None:
        self.held: OrderedDict[Adapter, None] = OrderedDict()
        self.go = anyio.Event()
        self.go.set()

    async def load_adapter(self, adapter: Adapter) -> None:
        await self.go.wait()
        self.held.pop(adapter, None)
        self.held[adapter] = None
        while len(self.held) > ADAPTERS:
            self.held.popitem(last=False)


@pytest.fixture
def engine() -> Any:
    return Places()


async def use(slots: AdapterSlots, adapter: Adapter, began: anyio.Event, end: anyio.Event) -> None:
    async with slots.using(adapter):
        began.set()
        await end.wait()


@pytest.mark.anyio
async def test_a_request_on_a_loaded_adapter_does_not_wait_for_the_load_of_another(engine: Any) -> None:
    slots, began, end = AdapterSlots(engine), anyio.Event(), anyio.Event()
    async with slots.using(A), slots.using(B):
        pass
    engine.go = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(use, slots, C, began, end)
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(1):
            async with slots.using(B):
                assert not began.is_set()
        engine.go.set()
        await began.wait()
        assert set(engine.held) == {B, C}
        end.set()


@pytest.mark.anyio
async def test_an_adapter_that_gives_up_its_place_is_not_lent_meanwhile(engine: Any) -> None:
    slots, ends = AdapterSlots(engine), [anyio.Event(), anyio.Event()]
    async with slots.using(A), slots.using(B):
        pass
    engine.go = anyio.Event()
    began = [anyio.Event(), anyio.Event()]
    async with anyio.create_task_group() as group:
        group.start_soon(use, slots, C, began[0], ends[0])
        await anyio.wait_all_tasks_blocked()
        group.start_soon(use, slots, A, began[1], ends[1])
        await anyio.wait_all_tasks_blocked()
        assert not began[1].is_set()
        engine.go.set()
        await began[1].wait()
        assert set(engine.held) == {A, C}
        for end in ends:
            end.set()


@pytest.mark.anyio
async def test_a_load_that_nobody_waits_for_any_longer_is_known_all_the_same(engine: Any) -> None:
    slots = AdapterSlots(engine)
    async with slots.using(A), slots.using(B):
        pass
    engine.go = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(use, slots, C, anyio.Event(), anyio.Event())
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
        engine.go.set()
    for adapter in (B, C, D, A, D):
        async with slots.using(adapter):
            assert adapter in engine.held


@pytest.mark.anyio
async def test_a_request_waits_while_all_places_are_in_use(engine: Any) -> None:
    slots, began, ends = AdapterSlots(engine), [anyio.Event() for _ in range(3)], [anyio.Event() for _ in range(3)]
    async with anyio.create_task_group() as group:
        for adapter, at, end in zip((A, B, C), began, ends, strict=True):
            group.start_soon(use, slots, adapter, at, end)
            await anyio.wait_all_tasks_blocked()
        assert [each.is_set() for each in began] == [True, True, False]
        ends[0].set()
        await began[2].wait()
        assert set(engine.held) == {B, C}
        for end in ends[1:]:
            end.set()
