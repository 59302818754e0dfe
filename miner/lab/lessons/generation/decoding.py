"""How an answer is drawn from what a model expects: by chance, the best one, or by beams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from miner.errors import InputError
from miner.lab.learning.fields import Option

if TYPE_CHECKING:
    from miner.lab.lessons.generation.tokens import TurnTokens

Way = Literal["nucleus", "greedy", "beam"]


@dataclass(frozen=True, slots=True)
class Decoding:
    """How an answer is drawn.

    `nucleus` draws each token among the likeliest ones that together have the chance `top_p`
    (Holtzman et al. 2020), with the chance and the temperature of the code that GD trains GPT-2
    with; `greedy` takes the likeliest token, as GD does with its Transformer; `beam` takes the one
    of several answers whose tokens are the likeliest in the mean.
    """

    decoding: Annotated[
        Way, Option("Draw by chance (nucleus), take the likeliest token, or search by beams.")
    ] = "nucleus"
    top_p: Annotated[
        float, Option("Of nucleus: the chance that the tokens drawn from have together.")
    ] = 0.9
    temperature: Annotated[float, Option("Of nucleus: below 1, likely tokens become likelier.")] = (
        0.7
    )
    beams: Annotated[int, Option("Of beam: answers that are followed.", minimum=2)] = 5
    longest: Annotated[int, Option("Most tokens of an answer.", minimum=1)] = 40

    def __post_init__(self) -> None:
        """Refuses chances and temperatures that draw nothing."""
        if not 0 < self.top_p <= 1:
            raise InputError(f"found `top_p={self.top_p}`, expected more than 0 and at most 1")
        if not self.temperature > 0:
            raise InputError(f"found `temperature={self.temperature}`, expected more than 0")

    def describe(self) -> str:
        """What draws an answer, in a few words ("nucleus 0.9 at temperature 0.7")."""
        match self.decoding:
            case "nucleus":
                return f"nucleus {self.top_p:g} at temperature {self.temperature:g}"
            case "beam":
                return f"{self.beams} beams"
            case "greedy":
                return "greedy"

    def options_of(self, tokens: TurnTokens) -> dict[str, Any]:
        """Returns what `generate` of the library takes, but for the most tokens of an answer.

        An answer has at least one token.
        """
        shared = {"min_new_tokens": 1, "suppress_tokens": tokens.never_written}
        match self.decoding:
            case "nucleus":
                drawn = {"top_p": self.top_p, "temperature": self.temperature, "top_k": 0}
                return shared | {"do_sample": True, "num_beams": 1} | drawn
            case "beam":
                return shared | {"do_sample": False, "num_beams": self.beams}
            case "greedy":
                return shared | {"do_sample": False, "num_beams": 1}
