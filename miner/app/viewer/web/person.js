"use strict";
/* A person who speaks: what is known of it in words, and the card beside a name in the text. */

const GENDERS = { m: "male", f: "female" };
const KINDS = { narrator: "tells the story", unnamed: "unnamed" };
const ROOM = 8; // px between the card, its name and the edges of the window

function utterancesOf({ chapters }) {
  return chapters.reduce((sum, [, n]) => sum + n, 0);
}

/** How many utterances people have in the chapters for which a condition holds. */
function countIn(people, holds) {
  const counts = people.flatMap(({ chapters }) => chapters.filter(([number]) => holds(number)));
  return counts.reduce((sum, [, n]) => sum + n, 0);
}

/** The utterance at a place, or the one at the place of the focus. */
function utteranceAt(key = view.focus) {
  return view.chapter.layers[view.layer].byKey.get(key);
}

/** The utterance that the reader is at; tells how to get to one if there is none. */
function focusedUtterance() {
  const item = utteranceAt();
  if (!item?.person) tell("Go to an utterance first: j is the next one");
  return item?.person ? item : null;
}

/* What is known of a person, in words. */

/** Numbers with dashes for those in a row: "1–4, 6". */
function rangesOf(numbers) {
  const ranges = [];
  for (const n of numbers) {
    if (ranges.at(-1)?.[1] === n - 1) ranges.at(-1)[1] = n;
    else ranges.push([n, n]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}

function chaptersOf({ chapters }) {
  if (!lastNumber()) return "";
  const numbers = rangesOf(chapters.map(([number]) => number));
  return `${chapters.length === 1 ? "chapter" : "chapters"} ${numbers}`;
}

/** What a person is: "female", "unnamed, male", "tells the story". */
function natureOf({ id, kind, gender }) {
  if (id === UNKNOWN) return "where no speaker is known";
  return [KINDS[kind], GENDERS[gender]].filter(Boolean).join(", ");
}

function othersOf({ others = [] }) {
  return others.length ? `also ${others.join(", ")}` : "";
}

function confidenceOf({ speaker_confidence: sure }) {
  return sure == null ? "" : `confidence ${percent(sure)} that this is the speaker`;
}

/** The title of a name beside a turn. */
function titleOfName(sign) {
  const item = utteranceAt(sign.closest("[data-key]").dataset.key);
  const { person } = item;
  const parts = [person.name, othersOf(person), natureOf(person), confidenceOf(item)];
  return parts.filter(Boolean).join("; ");
}

/* The card of a speaker, beside a name in the text. */

const card = make("div", {
  id: "person",
  popover: "auto",
  role: "dialog",
  "aria-labelledby": "person-name",
});

function openCard(item) {
  const { person } = item;
  const only = make("button", { type: "button" }, isOnly(person) ? "Show all" : "Dim all others");
  only.addEventListener("click", () => {
    card.hidePopover();
    chooseOnly(person);
  });
  const steps = [false, true].map((forward) => {
    const button = make("button", { type: "button" }, forward ? "Next" : "Previous");
    button.addEventListener("click", () => {
      card.hidePopover();
      walkSpeech([person], forward);
    });
    return button;
  });
  const all = count(utterancesOf(person), "utterance");
  const here = countIn([person], (number) => number === view.chapter.number);
  card.className = `by by-${person.colour}`;
  card.replaceChildren(
    make("h3", { id: "person-name" }, make("span", { class: "name" }, person.name)),
    ...[
      natureOf(person),
      othersOf(person),
      lastNumber() ? `${all}, ${here.toLocaleString("en")} in this chapter` : all,
      confidenceOf(item),
    ]
      .filter(Boolean)
      .map((words) => make("p", {}, words)),
    make("div", { class: "actions" }, only, ...steps),
  );
  card.showPopover();
  const mark = markOf(item.key);
  const name = mark.parentElement.querySelector(".who") ?? mark;
  const [at, size] = [name.getBoundingClientRect(), card.getBoundingClientRect()];
  const below = at.bottom + ROOM / 2;
  const isBelow = below + size.height + ROOM < innerHeight;
  const left = Math.min(at.left, document.documentElement.clientWidth - size.width - ROOM);
  card.style.left = `${Math.max(left, ROOM)}px`;
  card.style.top = `${isBelow ? below : Math.max(at.top - size.height - ROOM / 2, ROOM)}px`;
}

/** Opens the card of the speaker of the focused utterance, with the focus in it. */
function openCardHere() {
  const item = focusedUtterance();
  if (!item) return;
  openCard(item);
  card.querySelector("button").focus();
}
