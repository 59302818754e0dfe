"use strict";
/* What every sign means: a title when the mouse is over it, and a legend that can be folded. */

const MEANINGS = {
  "B-START": "opens a conversation",
  "I-START": "continues the first turn of a conversation",
  "B-OTHER": "opens the turn of another speaker",
  "I-OTHER": "continues that turn",
  O: "narration",
};
const MEASURES = {
  precision: "Precision: the share of what this layer found that is in the gold",
  recall: "Recall: the share of the gold that this layer found",
  f1: "F1: the harmonic mean of precision and recall",
};
const COUNTS = {
  layer: "The gold, or a tagger",
  utterances: "Stretches of speech, from an opening to a closing mark",
  conversations: "Turns of speakers who talk to each other; a bracket in the margin holds them",
  turns: "What one speaker says in one go",
  pairs: "A turn and the next turn of the same conversation",
  "B-START": "How well the beginnings of conversations are found",
  "turn pairs": "How well the pairs of a turn and the next one are found",
};

/** Signs and their meanings; the innermost sign under the mouse that fits a row tells its title. */
const SIGNS = [
  [".anchor", (sign) => `Link: copies the address of conversation ${numberOf(sign)}`],
  [".rail .number", (sign) => `${sign.ariaLabel}. The bracket below holds it together.`],
  [
    ".rail.other .segment",
    (sign) => `Bracket: conversation ${numberOf(sign)} of ${names[view.other]}`,
  ],
  [".segment.unsure", (sign) => `Bracket: conversation ${numberOf(sign)}, no pair is sure enough`],
  [".segment", (sign) => `Bracket: conversation ${numberOf(sign)}`],
  [".flag", () => `${names[view.other]} says something else here`],
  [".says", (sign) => `What the other layer says: ${sign.textContent}`],
  ["#chapter .mark", (sign) => `${sign.ariaLabel}. ${meaningOfMark(sign)}`],
  [".who", (sign) => titleOfName(sign)],
  [".utterance", meaningOfUtterance],
  [".missed", () => `Speech in ${names[view.other]}, narration in ${names[view.layer]}`],
  ["#chapter .quoted", meaningOfQuotation],
  [
    "#left, #least, label",
    () =>
      "The slider dims turns that are in no pair of at least this confidence. " +
      "A conversation of one turn has no pair.",
  ],
  ["#panel-heading", meaningOfHeading],
  [".chapter-number", () => "As in the column `chapter` of the mined files"],
  [".counted", () => "The number of the chapter in the column `chapter` of the mined files"],
  [".is-gold, .badge", () => "This chapter has gold annotations, against which layers are scored"],
  [".numbers thead th", (sign) => MEASURES[sign.className] ?? COUNTS[sign.textContent] ?? ""],
  [".numbers td", (sign) => MEASURES[sign.className] ?? headingOf(sign)],
  [
    "#layers button",
    ({ textContent: words }) => `Shows the layer ${words.slice(1)} (key ${words[0]})`,
  ],
  [".turn .mark", (sign) => `Turn ${sign.dataset.label} of this conversation`],
  [".turn", () => "Goes to this turn in the text"],
  [".pair .right", () => "The gold has this pair, too"],
  [".pair .wrong", (sign) => meaningOfCause(sign.textContent.slice(2))],
  [".pair", meaningOfPair],
  [".difference", () => "Goes to this place, on which the two layers disagree"],
  [".utterance-facts code", (sign) => `The tag ${sign.textContent} ${MEANINGS[sign.textContent]}`],
  ["meter", () => "The tagger’s confidence in the tag, from 0 to 1"],
];

function numberOf(sign) {
  return sign.closest("[data-conversation]").dataset.conversation;
}

function meaningOfMark(mark) {
  if (mark.classList.contains("none")) return "A dash marks speech of the other layer.";
  const goesOn = mark.classList.contains("on");
  const turn = goesOn ? "The arrow continues a turn." : "The number counts turns.";
  const bar = mark.classList.contains("has-sure") ? " The bar is the confidence in the tag." : "";
  return turn + bar;
}

function meaningOfHeading() {
  if (!view.conversation) return "";
  const { dialogue } = conversationOf(view.conversation);
  return `Dialogue ${dialogue} in the mined files, where they count from 0`;
}

function meaningOfUtterance(sign) {
  const said = sign.querySelector(".mark").ariaLabel;
  const is = (name) => sign.classList.contains(name);
  if (is("unsure")) return `${said} (dimmed: in no pair that is sure enough)`;
  if (is("unlit")) return `${said} (dimmed: other speakers are chosen)`;
  if (is("by")) return is("odd") ? said : `${said} (dotted line: an even turn)`;
  return `${said} (${is("odd") ? "blue: an odd turn" : "orange, dotted line: an even turn"})`;
}

function meaningOfQuotation({ dataset: { kind } }) {
  const what = kind && kind !== "other" ? `: ${kind}` : "";
  return `In quotation marks, but not tagged as speech${what}`;
}

function headingOf(cell) {
  const place = [...cell.parentElement.children].indexOf(cell);
  const heading = cell.closest("table").querySelectorAll("thead tr:first-child th")[place];
  return COUNTS[heading?.textContent] ?? "";
}

function meaningOfPair(sign) {
  const turn = Number(sign.dataset.turn);
  const dimmed = sign.classList.contains("unsure") ? " Dimmed: less than the slider asks for." : "";
  const sure = book.layers[view.layer].sure
    ? " The confidence is the tagger’s that all tags of the pair are right."
    : "";
  return `A pair: turn ${turn} and its answer, turn ${turn + 1}.${sure}${dimmed}`;
}

function meaningOfCause(cause) {
  return `The gold lacks this pair: ${book.causes[cause]}`;
}

document.addEventListener("mouseover", (event) => {
  for (let at = event.target; at instanceof HTMLElement; at = at.parentElement) {
    const sign = SIGNS.find(([selector]) => at.matches(selector));
    if (!sign) continue;
    at.title = sign[1](at);
    return;
  }
});

/* The legend, in the panel and in the help. */

const LEGEND = [
  ["anchor-sample", "#", "copies a link to the conversation"],
  ["sample-unsure", "“so”", "in no pair that is as sure as the slider asks"],
  ["missed", "“so”", "speech in the other layer only"],
  ["sample-found", "so", "a place that was found"],
  ["right", "✓", "the gold has this pair"],
  ["wrong", "✗", "the gold lacks this pair, and why"],
  ["is-gold", "", "the chapter has gold annotations"],
];
const marks = document.querySelector("#help .marks");
for (const [kind, sign, meaning] of LEGEND)
  marks.append(make("dt", {}, make("span", { class: kind }, sign)), make("dd", {}, meaning));
const legend = make("details", { id: "legend" }, make("summary", {}, "What the signs mean"));
legend.append(marks.cloneNode(true));
$("panel").append(legend);
