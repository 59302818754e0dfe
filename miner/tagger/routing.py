"""A stream of items -> one stream of results in the same order, from several streams of work."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Route = TypeVar("Route", bound=Hashable)
MOST_WAITING = 64  # books; each is held in memory until those before it are done


def route_in_order(
    items: Iterable[Item],
    route_of: Callable[[Item], Route],
    work: Callable[[Route, Iterator[Item]], Iterator[Result]],
    most_waiting: int = MOST_WAITING,
) -> Generator[Result, None, None]:
    """The results of all items, in the order of the items.

    Every route is one stream of work, such as a model that stays in memory. A stream
    takes its items when it needs them. Items of other routes that stand between wait for their
    turn.
    """
    left = iter(items)
    for first in left:
        group = chain([first], islice(left, most_waiting - 1))
        yield from _route_group(group, route_of, work)


def _route_group(
    unread: Iterator[Item],
    route_of: Callable[[Item], Route],
    work: Callable[[Route, Iterator[Item]], Iterator[Result]],
) -> Iterator[Result]:
    routes = deque[Route]()  # of the items that are read and have no result yet
    waiting = defaultdict[Route, deque[Item]](deque)
    streams: dict[Route, Iterator[Result]] = {}

    def read_one() -> bool:
        for item in unread:
            route = route_of(item)
            routes.append(route)
            waiting[route].append(item)
            return True
        return False

    def items_of(route: Route) -> Iterator[Item]:
        while waiting[route] or read_one():
            if waiting[route]:
                yield waiting[route].popleft()

    try:
        while routes or read_one():
            route = routes.popleft()
            if route not in streams:
                streams[route] = work(route, items_of(route))
            yield next(streams[route])
    finally:
        for stream in streams.values():
            if isinstance(stream, Generator):
                stream.close()
