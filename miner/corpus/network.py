"""Dialogues with speakers -> the network of who talks to whom, for `networkx`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from miner.extras import import_extra
from miner.people.cast import Character
from miner.speech.dialogues import Dialogue, count_words_of_speakers
from miner.speech.tags import TaggedSpan

if TYPE_CHECKING:
    import networkx


def build_network(
    characters: Iterable[Character], spans: Sequence[TaggedSpan], dialogues: Iterable[Dialogue]
) -> networkx.DiGraph[str]:
    """Returns the network of a book: its speakers, and how much each says to whom.

    A turn is spoken to its addressees. Where these are not known, it is spoken to the last other
    speaker of its dialogue, or if there is none so far, to the next one: such a turn is inferred.
    A turn to two people counts for both.

    - Nodes are the ids of characters who speak or are spoken to, those who say most first. They
      have `label` (the name), `kind`, `gender`, `utterances` and `words`, counted in the whole
      book. Unnamed people have the `chapter` that they belong to.
    - Edges lead from a speaker to an addressee. They have `weight` (words), `turns`, and
      `inferred`, which is how many of these turns are.
    - The graph has `turns`, those of all dialogues; and how many of them are `inferred`, have
      `no_speaker` who is known, or have `no_addressee`, as nobody else speaks in the dialogue.

    All values are numbers or text, so that `networkx.write_graphml` takes them.
    """
    graph = import_extra("networkx", "plots").DiGraph(
        turns=0, inferred=0, no_speaker=0, no_addressee=0
    )
    utterances: dict[str | None, int] = {}
    for item in spans:
        if item.span.is_utterance:
            utterances[item.speaker] = utterances.get(item.speaker, 0) + 1
    words = {
        speaker: sum(by_chapter.values())
        for speaker, by_chapter in count_words_of_speakers(spans).items()
    }
    known = {one.id: one for one in characters}
    for id in sorted(known, key=lambda id: -words.get(id, 0)):  # the order is that of the list
        graph.add_node(
            id, **_attributes(known[id]), utterances=utterances.get(id, 0), words=words.get(id, 0)
        )
    for dialogue in dialogues:
        _add_turns(graph, dialogue)
    silent = [id for id in known if not utterances.get(id) and not graph.in_degree(id)]
    graph.remove_nodes_from(silent)
    return graph


def _attributes(character: Character) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "label": character.name,
        "kind": character.kind.value,
        "gender": character.gender,
    }
    if character.chapter is not None:
        attributes["chapter"] = character.chapter
    return attributes


def _add_turns(graph: networkx.DiGraph[str], dialogue: Dialogue) -> None:
    """Adds the turns of a dialogue to the edges and to the counts of the graph."""
    speakers = [turn.speaker for turn in dialogue.turns]
    before, after = _last_others(speakers), _last_others(speakers[::-1])[::-1]
    counts = graph.graph
    for turn, last, following in zip(dialogue.turns, before, after, strict=True):
        counts["turns"] += 1
        if turn.speaker is None:
            counts["no_speaker"] += 1
            continue
        addressees = [one for one in turn.addressees if one != turn.speaker]
        is_inferred = not addressees
        if is_inferred:
            addressees = [one for one in (last or following,) if one is not None]
            counts["inferred" if addressees else "no_addressee"] += 1
        for addressee in addressees:
            if not graph.has_edge(turn.speaker, addressee):
                graph.add_edge(turn.speaker, addressee, weight=0, turns=0, inferred=0)
            edge = graph.edges[turn.speaker, addressee]
            edge["weight"] += len(turn.text.split())
            edge["turns"] += 1
            edge["inferred"] += is_inferred


def _last_others(speakers: Sequence[str | None]) -> list[str | None]:
    """Returns for each turn the last known speaker before it who is not its own; None if none.

    >>> _last_others(["a", "b", None, "b"])
    [None, 'a', 'b', 'a']
    """
    found: list[str | None] = []
    last: str | None = None
    last_but: str | None = None  # the last one who is not `last`
    for speaker in speakers:
        found.append(last_but if speaker == last else last)
        if speaker is not None and speaker != last:
            last, last_but = speaker, last
    return found
