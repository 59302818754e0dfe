"use strict";
/* Who speaks: the cast of the layer, the card of a speaker, and the filter, which leaves only the
   utterances of the chosen speakers lit. A book without speakers has none of these. */

const GENDERS = { m: "male", f: "female" };
const KINDS = { narrator: "tells the story", unnamed: "unnamed" };
const ROOM = 8; // px between the card, its name and the edges of the window

const chosen = new Set(); // ids of people; a layer may lack some of them

function castHere() {
  return book.layers[view.layer].cast;
}

/** The chosen people whom the layer has. */
function chosenHere() {
  return castHere().filter(({ id, chapters }) => chosen.has(id) && chapters.length);
}

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
  if (id === UNKNOWN) return "nobody knows who speaks";
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
  const item = utteranceAt(sign.dataset.key);
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
  const name = $("chapter").querySelector(`.who[data-key="${item.key}"]`) ?? markOf(item.key);
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

/* The filter. */

function isOnly({ id }) {
  return chosen.size === 1 && chosen.has(id);
}

/** Leaves only one speaker lit, or all of them if that is so already. */
function chooseOnly(person) {
  const isDone = isOnly(person);
  chosen.clear();
  if (!isDone) chosen.add(person.id);
  showChosen();
}

function chooseSpeakerHere() {
  const item = focusedUtterance();
  if (item) chooseOnly(item.person);
}

function showChosen() {
  lightText();
  lightPanel();
  showLit();
  for (const box of $("cast").querySelectorAll("[data-person]"))
    box.checked = chosen.has(box.dataset.person);
  const people = chosenHere();
  const n = countIn(people, () => true);
  const named = people.map(({ name }) => name).join(", ");
  say(people.length ? `${named}: ${count(n, "utterance")}` : "All speakers");
}

/** Dims what others say in the text. */
function lightText() {
  const ids = new Set(chosenHere().map(({ id }) => id));
  const isLit = (item) => !ids.size || ids.has(item.person?.id);
  const shown = view.chapter.layers[view.layer];
  for (const element of $("chapter").querySelectorAll(".utterance"))
    element.classList.toggle("unlit", !isLit(shown.byKey.get(element.dataset.key)));
  const lit = new Set(shown.utterances.filter(isLit).map((item) => item.conversation));
  for (const [number, lines] of view.brackets)
    for (const line of lines) line.classList.toggle("unlit", !lit.has(number));
}

/** Dims what others say in the panel. */
function lightPanel() {
  const ids = new Set(chosenHere().map(({ id }) => id));
  const shown = view.chapter.layers[view.layer];
  const turns = grouped(
    shown.utterances.filter((item) => item.conversation === view.conversation),
    (item) => item.turn,
  );
  for (const turn of $("panel-body").querySelectorAll(".turn")) {
    const isLit = turns.get(Number(turn.dataset.turn)).some(({ person }) => ids.has(person?.id));
    turn.classList.toggle("unlit", ids.size > 0 && !isLit);
  }
}

/** Goes to the next utterance of people, also in later chapters; or to the one before. */
function walkSpeech(people, forward) {
  const said = () =>
    marksInOrder(".utterance .mark").filter((mark) =>
      people.includes(utteranceAt(mark.dataset.key).person),
    );
  let marks = said();
  let n = stepFrom(marks, forward);
  if (n < 0 || n >= marks.length) {
    const place = book.chapters.indexOf(entryOf(view.chapter.number));
    const rest = forward ? book.chapters.slice(place + 1) : book.chapters.slice(0, place).reverse();
    const next = rest.find(({ number }) => countIn(people, (other) => other === number));
    if (!next) {
      const named = people.map(({ name }) => name).join(", ");
      tell(`No ${forward ? "further" : "earlier"} utterance of ${named}`);
      return;
    }
    openChapter(next.number, { announce: false });
    marks = said();
    n = forward ? 0 : marks.length - 1;
  }
  closeCovering();
  focusPlace(marks[n].dataset.key);
}

/** Goes to the next utterance of the chosen people, else of the speaker of the focused one. */
function walkChosen(forward) {
  const people = chosenHere();
  if (people.length) walkSpeech(people, forward);
  else {
    const item = focusedUtterance();
    if (item) walkSpeech([item.person], forward);
  }
}

/* The line at the foot of the window while speakers are chosen. */

const lit = make("div", { id: "lit", role: "group", "aria-label": "Chosen speakers" });

function buildLit() {
  const button = (words, key, title, action) => {
    const element = make("button", { type: "button", title: `${title} (${key})` }, words);
    element.setAttribute("aria-label", title);
    element.setAttribute("aria-keyshortcuts", key === "F" ? "Shift+F" : key);
    element.addEventListener("click", action);
    return element;
  };
  lit.append(
    make("span", { id: "lit-names" }),
    make("span", { id: "lit-place" }),
    button("‹", "F", "Previous utterance of the chosen speakers", () => walkChosen(false)),
    button("›", "f", "Next utterance of the chosen speakers", () => walkChosen(true)),
  );
  const all = make("button", { type: "button", title: "Lights all utterances again" }, "Show all");
  all.addEventListener("click", () => {
    chosen.clear();
    showChosen();
    $("text").focus({ preventScroll: true });
  });
  lit.append(all);
}

/** Shows who is chosen, and where the focused utterance is among theirs. */
function showLit() {
  const people = chosenHere();
  lit.hidden = !people.length;
  document.body.classList.toggle("with-lit", people.length > 0);
  if (!people.length) return;
  $("lit-names").textContent = people.map(({ name }) => name).join(", ");
  $("lit-names").title = $("lit-names").textContent;
  const all = countIn(people, () => true);
  const { utterances } = view.chapter.layers[view.layer];
  const here = utterances.filter(({ person }) => people.includes(person));
  const n = here.findIndex(({ key }) => key === view.focus);
  const place = book.chapters.indexOf(entryOf(view.chapter.number));
  const earlier = new Set(book.chapters.slice(0, place).map(({ number }) => number));
  const before = countIn(people, (number) => earlier.has(number));
  const words = n < 0 ? count(all, "utterance") : `${(before + n + 1).toLocaleString("en")} of `;
  $("lit-place").textContent = n < 0 ? words : words + all.toLocaleString("en");
}

/* The list of the cast, in the panel. */

function renderPerson(person) {
  const here = countIn([person], (number) => number === view.chapter.number);
  const box = make("input", { type: "checkbox", checked: chosen.has(person.id) });
  box.dataset.person = person.id;
  const said = utterancesOf(person).toLocaleString("en");
  const line = make(
    "label",
    {},
    box,
    make("span", { class: "name" }, person.name),
    make("span", { class: "said", title: "Utterances in the book" }, said),
  );
  const about = [othersOf(person), natureOf(person)].filter(Boolean).join(" · ");
  const where = [chaptersOf(person), here ? `${here.toLocaleString("en")} in this chapter` : ""];
  return make(
    "li",
    { class: `by by-${person.colour}` },
    line,
    about ? make("small", {}, about) : null,
    make("small", {}, where.filter(Boolean).join(" · ")),
  );
}

function renderCast() {
  const speaking = castHere().filter(({ chapters }) => chapters.length);
  const silent = castHere().filter(({ chapters }) => !chapters.length);
  const people = speaking.filter(({ id }) => id !== UNKNOWN).length;
  const hint = `${count(people, "speaker")} in the book. Choose one or several: what the others say is dimmed.`;
  const parts = [
    make("p", { class: "note" }, hint),
    make("ul", { class: "people" }, ...speaking.map(renderPerson)),
  ];
  if (silent.length) {
    const summary = make("summary", {}, `${silent.length} more are named, but do not speak`);
    const named = silent.map((person) => [person.name, othersOf(person)].filter(Boolean).join(", "));
    const list = named.map((words) => make("li", {}, words));
    parts.push(make("details", {}, summary, make("ul", { class: "silent" }, ...list)));
  }
  return parts;
}

/** Shows the cast in the panel, or the conversation again. */
function showCast(isOn) {
  $("panel-body").hidden = isOn;
  $("cast").hidden = !isOn;
  $("show-cast").setAttribute("aria-pressed", String(isOn));
  if (isOn) $("cast").replaceChildren(...renderCast());
  showPanel();
}

/** Opens the cast with the focus on the first chosen speaker; or closes it. */
function openCast() {
  const isThere = !isCovering($("panel")) || $("panel").classList.contains("open");
  if (isThere && !$("cast").hidden) {
    showCast(false);
    if (isCovering($("panel"))) closeDrawers();
    else $("text").focus({ preventScroll: true });
    return;
  }
  if ($("show-cast").hidden) {
    tell(`${names[view.layer]} names no speakers`);
    return;
  }
  if (!isThere) openDrawer("panel");
  showCast(true);
  ($("cast").querySelector(":checked") ?? $("cast").querySelector("input")).focus();
}

function startCast() {
  const button = make("button", { type: "button", id: "show-cast", title: "Who speaks (w)" }, "Cast");
  button.setAttribute("aria-pressed", "false");
  button.setAttribute("aria-keyshortcuts", "w");
  button.addEventListener("click", () => showCast($("cast").hidden));
  $("panel-heading").after(button);
  $("panel-body").after(make("div", { id: "cast", hidden: true }));
  $("cast").addEventListener("change", ({ target }) => {
    if (target.checked) chosen.add(target.dataset.person);
    else chosen.delete(target.dataset.person);
    showChosen();
  });
  buildLit();
  document.body.append(card, lit);
  document.addEventListener("miner:chapter", () => {
    const hasCast = castHere().length > 0;
    $("show-cast").hidden = !hasCast;
    if (!$("cast").hidden) showCast(hasCast);
    lightText();
    showLit();
  });
  document.addEventListener("miner:panel", () => {
    if (!$("cast").hidden) $("panel-heading").textContent = "Cast";
    lightPanel();
    showLit();
  });
  $("chapter").addEventListener("click", ({ target }) => {
    const name = target.closest(".who");
    if (!name) return;
    focusPlace(name.dataset.key, { scroll: false });
    openCard(utteranceAt(name.dataset.key));
  });
  moreKeys.push(
    ["w", "cast: who speaks", openCast],
    ["i", "about the speaker of this utterance", openCardHere],
    ["o", "dim all but this speaker; again, nobody", chooseSpeakerHere],
    ["f", "next utterance of the chosen speakers, or of this one", () => walkChosen(true)],
    ["F", "previous utterance of these speakers", () => walkChosen(false)],
  );
  const sample = make("span", { class: "by by-1" }, make("span", { class: "name" }, "Ann"));
  for (const list of document.querySelectorAll(".marks")) {
    list.querySelector(".meaning-of-turn").textContent = "a turn begins; even turns have a dotted line";
    list.append(
      make("dt", {}, sample.cloneNode(true)),
      make(
        "dd",
        {},
        "who speaks; those who speak most have a colour and a line of their own; " +
          "a click or i tells more",
      ),
    );
  }
}

if (casts.some((cast) => cast.size)) startCast();
