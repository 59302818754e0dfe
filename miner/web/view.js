"use strict";
/* What is shown at present, and what keys, buttons and links make of it. */

const book = JSON.parse(document.getElementById("book").textContent);
const names = book.layers.map((layer) => layer.name);
const $ = (id) => document.getElementById(id);
const isStill = matchMedia("(prefers-reduced-motion: reduce)");

/* `wanted` is the layer that was chosen, `layer` the one that this chapter has of it; `other` is
   what it is compared with: the one chosen, else the gold, else the first that there is. `focus` is the key of a place, `conversation` a number. */
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
};
let movedAt = -Infinity; // when the page was last moved by a command, not by its reader's scrolling

/** The data of a chapter; `edit.js` may put another source in its place. */
let loadChapter = (number) => JSON.parse($(`chapter-${number}`).textContent);

function say(text) {
  $("status").textContent = text;
}

function entryOf(number) {
  return book.chapters.find((chapter) => chapter.number === number);
}

/** Opens a chapter at its top, unless `at` ("first", "last") asks for one of its disagreements. */
function openChapter(number, { at = null, remember = true, announce = true } = {}) {
  const entry = entryOf(number);
  if (!entry) return;
  view.chapter = decodeChapter(loadChapter(number));
  view.focus = null;
  view.conversation = null;
  if (remember && location.hash !== `#${number}`) history.pushState(null, "", `#${number}`);
  showChapter();
  if (at) showDisagreement(at === "first" ? 0 : view.disagreements.length - 1);
  else {
    scrollTo(0, 0);
    movedAt = -Infinity;
    followScrolling();
    if (announce) say(`${entry.title}. ${names[view.layer] ?? ""}: ${countsOf(entry)}`);
  }
}

function countsOf(entry) {
  const counts = entry.counts[view.layer];
  return counts ? `${count(counts.conversations, "conversation")}, ${count(counts.turns, "turn")}` : "";
}

/** Which layer a chapter shows: the chosen one, else the first that it has. */
function chooseLayers() {
  const has = (n) => n !== null && view.chapter.layers[n] !== null;
  const first = view.chapter.layers.findIndex((layer) => layer !== null);
  view.layer = has(view.wanted) ? view.wanted : first;
  const others = [view.wantedOther, 0, 1].filter((n) => n < names.length && has(n));
  view.other = others.find((n) => n !== view.layer) ?? null;
}

/** Builds the chapter, and everything around it, from what is to be shown. */
function showChapter() {
  chooseLayers();
  const { chapter, layer, other } = view;
  const beside = view.beside && other !== null;
  view.disagreements = disagreementsOf(chapter, layer, other);
  const article = $("chapter");
  article.replaceChildren(renderChapter(chapter, layer, { other, beside, names }));
  article.classList.toggle("beside", beside);
  $("summary").replaceChildren(...renderSummary(book, chapter, layer));
  $("chapter-list").replaceChildren(...renderChapterList(book, chapter.number, layer, other));
  $("chapter-list").querySelector("[aria-current]").scrollIntoView({ block: "nearest" });
  showTools();
  showNeighbours();
  showPanel();
  document.dispatchEvent(new CustomEvent("miner:chapter", { detail: view }));
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
  const link = (entry, name) =>
    entry ? make("a", { href: `#${entry.number}`, class: name }, make("small", {}, name), entry.title) : "";
  $("turn-page").replaceChildren(
    link(book.chapters[place - 1], "before"),
    link(book.chapters[place + 1], "after"),
  );
}

function showPanel() {
  const title = view.conversation ? `Conversation ${view.conversation}` : "Conversation";
  $("panel-heading").textContent = title;
  $("panel-body").replaceChildren(...renderPanel(view.chapter, names, view));
  for (const line of document.querySelectorAll(".segment")) {
    const isHere = Number(line.dataset.conversation) === view.conversation;
    line.classList.toggle("current", isHere && !line.parentElement.classList.contains("other"));
  }
}

/** Shows another layer, with the line that is being read where it was. */
function showLayer(n, { beside = view.beside, other = view.wantedOther } = {}) {
  if (n >= names.length) return;
  if (other === n) other = null;
  if (view.chapter.layers[n] === null) {
    say(`${names[n]} says nothing of this chapter`);
    return;
  }
  const anchor = blockInView();
  const top = anchor?.getBoundingClientRect().top;
  Object.assign(view, { wanted: n, beside, wantedOther: other });
  view.conversation = null;
  showChapter();
  if (anchor) {
    const moved = $(anchor.id).getBoundingClientRect().top - top;
    scrollBy({ top: moved, behavior: "instant" });
  }
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

function compareWith(n) {
  if (n === view.layer) return;
  showLayer(view.layer, { other: n });
}

/* Places in the text. */

function markOf(key) {
  return $("chapter").querySelector(`.mark[data-key="${key}"]`);
}

/** The mark of a place, or of what the shown layer has over it where it is cut otherwise. */
function nearestMark(key) {
  const exact = markOf(key);
  if (exact) return exact;
  const [paragraph, start, end] = key.split(":").map(Number);
  const over = (view.chapter.layers[view.layer].byParagraph.get(paragraph) ?? []).find(
    (item) => item.start < end && start < item.end,
  );
  return over ? markOf(over.key) : null;
}

function scrollToPlace(element) {
  const box = element.getBoundingClientRect();
  const isNear = Math.abs(box.top) < 2 * innerHeight;
  movedAt = performance.now();
  const behavior = isNear && !isStill.matches ? "smooth" : "instant";
  element.closest(".block").scrollIntoView({ block: "center", behavior });
}

/** Puts the focus on an utterance and shows its conversation; `key` names its place. */
function focusPlace(key, { scroll = true } = {}) {
  const mark = nearestMark(key);
  if (!mark) return;
  view.focus = key;
  view.conversation = view.chapter.layers[view.layer].byKey.get(mark.dataset.key)?.conversation ?? null;
  for (const old of document.querySelectorAll(".utterance.here, .missed.here")) old.classList.remove("here");
  mark.parentElement.classList.add("here");
  mark.focus({ preventScroll: true });
  if (scroll) scrollToPlace(mark);
  showPanel();
  showTools();
  document.dispatchEvent(new CustomEvent("miner:focus", { detail: view }));
}

function blockInView() {
  const column = $("chapter").getBoundingClientRect();
  const x = column.left + column.width / 2;
  for (const share of [0.3, 0.4, 0.5, 0.6, 0.2]) {
    const block = document.elementFromPoint(x, innerHeight * share)?.closest(".block");
    if (block) return block;
  }
  return null;
}

/** The conversation that is being read or, in narration, the next one below. */
function conversationInView() {
  let block = blockInView() ?? $("chapter").querySelector(".block");
  while (block && !block.dataset.conversation) block = block.nextElementSibling;
  return block ? Number(block.dataset.conversation) : null;
}

/** The panel goes with the text that is scrolled, a while after the page was moved by a command. */
function followScrolling() {
  if (performance.now() - movedAt < 800 || !view.chapter) return;
  const number = conversationInView() ?? view.conversation;
  if (number === view.conversation) return;
  view.conversation = number;
  view.focus = null;
  showPanel();
  showTools();
}

function marksInOrder(kind) {
  return [...$("chapter").querySelectorAll(kind)];
}

/** Where a walk through elements of the text begins: after the one in focus, or what is in view. */
function stepFrom(elements, forward) {
  const from = document.activeElement?.closest("#chapter .mark, #chapter .number") ?? blockInView();
  if (!from) return forward ? 0 : elements.length - 1;
  const after = (element) => from.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING;
  if (forward) return elements.findIndex((element) => element !== from && after(element));
  return elements.findLastIndex((element) => element !== from && !after(element));
}

function walk(kind, forward, what) {
  const elements = marksInOrder(kind);
  const n = stepFrom(elements, forward);
  if (n < 0 || n >= elements.length) {
    say(`No ${forward ? "further" : "earlier"} ${what} in this chapter`);
    return;
  }
  if (kind === ".mark") focusPlace(elements[n].dataset.key);
  else showConversation(elements[n]);
}

function showConversation(button) {
  view.conversation = Number(button.dataset.conversation);
  view.focus = null;
  button.focus({ preventScroll: true });
  scrollToPlace(button);
  showPanel();
  showTools();
}

/* Disagreements. */

function showDisagreement(n) {
  const item = view.disagreements[n];
  say(`Disagreement ${n + 1} of ${view.disagreements.length}. ${names[view.layer]}: ${item.shown}. ${names[view.other]}: ${item.other}.`);
  if (nearestMark(item.key)) focusPlace(item.key);
}

/** The next place where the two layers part, in this chapter or in the next that has one. */
function walkDisagreements(forward) {
  if (view.other === null) {
    say("There is no second layer to compare with");
    return;
  }
  const current = view.disagreements.findIndex((item) => item.key === view.focus);
  let n = current + (forward ? 1 : -1);
  if (current < 0) {
    const block = Number(blockInView()?.dataset.paragraph ?? 0);
    n = forward
      ? view.disagreements.findIndex((item) => item.paragraph >= block)
      : view.disagreements.findLastIndex((item) => item.paragraph < block);
    if (n < 0 && forward) n = view.disagreements.length;
  }
  if (n >= 0 && n < view.disagreements.length) {
    showDisagreement(n);
    return;
  }
  const key = `${Math.min(view.layer, view.other)}-${Math.max(view.layer, view.other)}`;
  const place = book.chapters.indexOf(entryOf(view.chapter.number));
  const rest = forward ? book.chapters.slice(place + 1) : book.chapters.slice(0, place).reverse();
  const next = rest.find((chapter) => chapter.disagreements[key]);
  if (next) openChapter(next.number, { at: forward ? "first" : "last" });
  else say(`No ${forward ? "further" : "earlier"} disagreement in the book`);
}
