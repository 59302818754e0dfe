"use strict";
/* The state of the page, and the functions that change and show it. */

const book = JSON.parse(document.getElementById("book").textContent);
const names = book.layers.map((layer) => layer.name);
const casts = book.layers.map(({ cast }) => new Map(cast.map((person) => [person.id, person])));
const $ = (id) => document.getElementById(id);
const FRAMES_TO_SETTLE = 3; // in which parts that come into sight take their true heights
const isStill = matchMedia("(prefers-reduced-motion: reduce)");

/* `wanted` is the chosen layer, and `layer` the one that is shown, since a chapter may lack the
   chosen one. `other` is the layer to compare with: the chosen one, else the gold, else the first
   other layer. `focus` is the key of a place, `conversation` a number. */
const view = {
  chapter: null,
  wanted: 0,
  layer: 0,
  wantedOther: null,
  other: null,
  beside: false,
  focus: null,
  conversation: null,
  disagreements: [],
  brackets: new Map(), // lines in the margin, by conversation
};

/** Reads the data of a chapter; a script of another mode may replace this function. */
let loadChapter = (number) => JSON.parse($(`chapter-${number}`).textContent);

/** Remembers in the history of the window that a chapter is opened; a script may replace it. */
let rememberChapter = () => {};

/** Opens the book when the page is there; a script may replace it. */
let openBook = () => openChapter(firstChapter().number, { remember: false, announce: false });

/** The first annotated chapter, else the first with speech, else the first. */
function firstChapter() {
  const hasSpeech = (chapter) => chapter.counts.some((item) => item?.utterances);
  const annotated = book.chapters.find((chapter) => chapter.annotated);
  return annotated ?? book.chapters.find(hasSpeech) ?? book.chapters[0];
}

/** Keys that not every book needs; a script adds rows as in `keys.js`. */
const moreKeys = [];

/** Another mode sets its keys here, rows as in `keys.js`, and its action for the digit n + 1. */
let keysOfMode = null;
let digitOfMode = null;

function say(text) {
  $("status").textContent = text;
}

function entryOf(number) {
  return book.chapters.find((chapter) => chapter.number === number);
}

/** Opens a chapter at its top, or at its "first" or "last" disagreement. */
function openChapter(number, { at = null, remember = true, announce = true } = {}) {
  const entry = entryOf(number);
  if (!entry) return;
  if (remember) rememberChapter(number);
  view.chapter = decodeChapter(loadChapter(number), casts);
  view.focus = null;
  view.conversation = null;
  showChapter();
  if (at) showDisagreement(at === "first" ? 0 : view.disagreements.length - 1);
  else {
    settle(() => scrollTo(0, 0), 0);
    movedAt = -Infinity;
    followScrolling();
    if (announce) say(`${entry.title}. ${names[view.layer] ?? ""}: ${countsOf(entry)}`);
  }
}

function countsOf(entry) {
  const counts = entry.counts[view.layer];
  return counts
    ? `${count(counts.conversations, "conversation")}, ${count(counts.turns, "turn")}`
    : "";
}

/** Chooses the layer to show: the wanted one, else the first that the chapter has. */
function chooseLayers() {
  const has = (n) => n !== null && view.chapter.layers[n] !== null;
  const first = view.chapter.layers.findIndex((layer) => layer !== null);
  view.layer = has(view.wanted) ? view.wanted : first;
  const others = [view.wantedOther, 0, 1].filter((n) => n < names.length && has(n));
  view.other = others.find((n) => n !== view.layer) ?? null;
}

/** Builds the chapter and everything around it from the state. */
function showChapter() {
  chooseLayers();
  const { chapter, layer, other } = view;
  const beside = view.beside && other !== null;
  view.disagreements = disagreementsOf(chapter, layer, other);
  const article = $("chapter");
  article.replaceChildren(renderChapter(chapter, layer, { other, beside, names }));
  article.classList.toggle("beside", beside);
  const lines = article.querySelectorAll(".rail:not(.other) .segment");
  view.brackets = grouped(lines, (line) => Number(line.dataset.conversation));
  $("summary").replaceChildren(...renderSummary(book, chapter, layer));
  $("chapter-list").replaceChildren(...renderChapterList(book, chapter.number, layer, other));
  tellLanguage($("chapter-list").querySelectorAll(".title"));
  showInDrawer($("chapter-list").querySelector("[aria-current]"));
  showTools();
  showNeighbours();
  showPanel();
  document.dispatchEvent(new CustomEvent("miner:chapter", { detail: view }));
}

/** Sets the language of elements to that of the book, if it is known. */
function tellLanguage(elements) {
  if (!/^[a-z]{2,3}$/.test(book.language)) return;
  for (const element of elements) element.lang = book.language;
}

/** Scrolls a drawer to an entry; after scrollIntoView the next Tab would start there. */
function showInDrawer(entry) {
  const drawer = entry.closest(".drawer");
  const [box, frame] = [entry.getBoundingClientRect(), drawer.getBoundingClientRect()];
  if (box.top < frame.top || box.bottom > frame.bottom)
    drawer.scrollTop += box.top - frame.top - 100;
}

function showTools() {
  for (const [n, button] of [...$("layers").children].entries()) {
    button.setAttribute("aria-pressed", String(n === view.layer));
    button.setAttribute("aria-disabled", String(view.chapter.layers[n] === null));
    if (n === view.layer) $("layers").scrollLeft = button.offsetLeft - $("layers").offsetLeft - 40;
  }
  $("beside").setAttribute("aria-pressed", String(view.beside));
  for (const option of $("other").options) option.disabled = Number(option.value) === view.layer;
  $("other").value = view.other === null ? "" : String(view.other);
  const n = view.disagreements.findIndex((item) => item.key === view.focus);
  const all = view.disagreements.length;
  $("place").textContent = n >= 0 ? `${n + 1}/${all} ≠` : `${all} ≠`;
  $("place").title = `${count(all, "disagreement")} in this chapter`;
}

function showNeighbours() {
  const place = book.chapters.indexOf(entryOf(view.chapter.number));
  const link = (entry, side, words) =>
    entry
      ? make("a", { href: `#${entry.number}`, class: side }, make("small", {}, words), entry.title)
      : "";
  $("turn-page").replaceChildren(
    link(book.chapters[place - 1], "before", "previous"),
    link(book.chapters[place + 1], "after", "next"),
  );
}

/** The number of a conversation to show: that of the file if there is one. */
function labelOf(number) {
  const shown = view.chapter.layers[view.layer]?.conversations ?? [];
  return shown.find((item) => item.number === number)?.label ?? number;
}

function showPanel() {
  const title = view.conversation ? `Conversation ${labelOf(view.conversation)}` : "Conversation";
  $("panel-heading").textContent = title;
  $("panel-body").replaceChildren(...renderPanel(view.chapter, names, view));
  tellLanguage($("panel-body").querySelectorAll("q"));
  for (const line of document.querySelectorAll(".segment.current"))
    line.classList.remove("current");
  for (const line of view.brackets.get(view.conversation) ?? []) line.classList.add("current");
  document.dispatchEvent(new CustomEvent("miner:panel", { detail: view }));
}

/** Shows another layer without moving the text on the screen. */
function showLayer(n, { beside = view.beside, other = view.wantedOther } = {}) {
  if (n >= names.length) return;
  if (other === n) other = null;
  if (view.chapter.layers[n] === null) {
    say(`${names[n]} does not have this chapter`);
    return;
  }
  Object.assign(view, { wanted: n, beside, wantedOther: other });
  view.conversation = null;
  keepingPlace(showChapter);
  const isThere = view.focus && markOf(view.focus);
  if (isThere) focusPlace(view.focus, { scroll: false });
  else {
    view.focus = null;
    movedAt = -Infinity;
    followScrolling();
    showTools();
  }
  const against = view.other === null ? "" : `, against ${names[view.other]}`;
  say(`${names[view.layer]}${against}${view.beside ? ", beside the text" : ""}`);
}

/** Rebuilds the chapter without moving the text on the screen. */
function keepingPlace(build) {
  const anchor = blockInView();
  const top = anchor?.getBoundingClientRect().top;
  const parts = () => [...$("chapter").querySelectorAll(".part")];
  const heights = parts().map((part) => part.offsetHeight);
  build();
  // Parts out of sight have no size yet; the sizes of the old ones are nearly right.
  for (const [n, part] of parts().entries()) {
    part.style.containIntrinsicBlockSize = `auto ${heights[n]}px`;
  }
  if (!anchor) return;
  putAt(anchor.id, top);
}

/** Scrolls an element to a distance from the top of the window, now and in the next frames. */
function putAt(id, top) {
  settle(() => {
    const moved = $(id)?.getBoundingClientRect().top - top;
    if (Math.abs(moved) >= 1) scrollBy({ top: moved, behavior: "instant" });
  });
}

let nSettled = 0;

/** Scrolls now and in the next frames, unless another command scrolls the page meanwhile. */
function settle(scroll, frames = FRAMES_TO_SETTLE) {
  nSettled += 1;
  const mine = nSettled;
  const again = (left) => {
    if (mine !== nSettled) return;
    scroll();
    if (left) requestAnimationFrame(() => again(left - 1));
  };
  again(frames);
}

function compareWith(n) {
  if (n === view.layer) return;
  showLayer(view.layer, { other: n });
}
