"use strict";
/* The filter: what others than the chosen speakers say is dimmed. A line at the foot of the window
   says who is chosen, and goes from one of their utterances to the next. */

const chosen = new Set(); // ids of people; a layer may lack some of them

function castHere() {
  return book.layers[view.layer].cast;
}

/** The chosen people whom the layer has. */
function chosenHere() {
  return castHere().filter(({ id, chapters }) => chosen.has(id) && chapters.length);
}

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
  const held = new Set(shown.utterances.filter(isLit).map((item) => item.conversation));
  for (const [number, lines] of view.brackets)
    for (const line of lines) line.classList.toggle("unlit", !held.has(number));
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
  const at = marks.findIndex((mark) => mark.dataset.key === view.focus);
  let n = at < 0 ? stepFrom(marks, forward) : at + (forward ? 1 : -1);
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
