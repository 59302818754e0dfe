"use strict";
/* Finds words in all chapters. The browser paints the places, so the text stays as it is. */

const SHORTEST_QUERY = 2;
const CLEAR = 20; // px that a place that was found keeps clear of the edges of the text
const TYPED_FOR = 120; // ms without typing, after which the words are looked for

/* `hits` are places in reading order: chapter, paragraph, start, end. `now` is the index of the one
   that the reader is at, -1 before the first step. */
const find = { blocks: null, query: "", hits: [], now: -1, lastQuery: "" };
const canPaint = typeof Highlight === "function" && "highlights" in CSS;

/** The blocks of the whole book with their folded text. */
function blocksOfBook() {
  find.blocks ??= book.chapters.flatMap(({ number }) => {
    const { index, text } = loadChapter(number).blocks;
    return index.map((paragraph, n) => ({
      chapter: number,
      paragraph,
      text: text[n],
      folded: folded(text[n]),
    }));
  });
  return find.blocks;
}

function hitsOf(query) {
  return blocksOfBook()
    .filter((block) => block.folded.includes(query))
    .flatMap(({ chapter, paragraph, text }) =>
      placesOf(query, text).map(([start, end]) => ({ chapter, paragraph, start, end })),
    );
}

/** Looks for the words in the field, and shows how often they are in the book. */
function look() {
  const query = folded($("query").value.trim());
  if (query === find.query) return;
  const hits = query.length < SHORTEST_QUERY ? [] : hitsOf(query);
  Object.assign(find, { query, hits, now: -1 });
  paint();
  showFound();
}

function showFound() {
  const { query, hits, now } = find;
  const all = hits.length.toLocaleString("en");
  const isShort = query.length < SHORTEST_QUERY;
  const at = (now + 1).toLocaleString("en");
  const place = now < 0 ? count(hits.length, "place") : `${at} of ${all}`;
  const words = !query ? "" : isShort ? `${SHORTEST_QUERY} letters or more` : place;
  $("found").textContent = words;
  if (words) say(words);
  $("found").classList.toggle("none", Boolean(query) && !isShort && !hits.length);
  for (const id of ["found-before", "found-next"])
    $(id).setAttribute("aria-disabled", String(!hits.length));
}

/** Goes to the next place, or from the last one to the first; `by` is 1 or -1. */
function step(by) {
  look();
  const { hits } = find;
  if (!hits.length) return;
  find.now = find.now < 0 ? nearestHit(by) : (find.now + by + hits.length) % hits.length;
  const hit = hits[find.now];
  if (hit.chapter !== view.chapter.number) openChapter(hit.chapter, { announce: false });
  else paint();
  showHit(hit);
  showFound();
}

/** The first place from the visible text on, or the last before it. */
function nearestHit(by) {
  const paragraph = Number(blockInView()?.dataset.paragraph ?? 0);
  const n = find.hits.findIndex(
    (hit) =>
      hit.chapter > view.chapter.number ||
      (hit.chapter === view.chapter.number && hit.paragraph >= paragraph),
  );
  if (by > 0) return Math.max(n, 0);
  return n > 0 ? n - 1 : find.hits.length - 1;
}

/** Brings a place into the middle of the window; its paragraph may be higher than that. */
function showHit(hit) {
  const block = $(`p${hit.paragraph}`);
  movedAt = performance.now();
  block.scrollIntoView({ block: "center", behavior: "instant" });
  const range = rangesIn(block, [hit])[0];
  settle(() => {
    const box = range.getBoundingClientRect();
    const bar = document.querySelector(".bar").getBoundingClientRect().bottom;
    if (box.top < bar + CLEAR || box.bottom > innerHeight - CLEAR)
      scrollBy({ top: box.top - innerHeight / 2, behavior: "instant" });
  });
  view.conversation = Number(block.dataset.conversation) || view.conversation;
  showPanel();
  if (!canPaint) {
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }
}

/* Painting. */

/** Ranges of places in a block, which may begin and end in different elements of it. */
function rangesIn(block, places) {
  const walker = document.createTreeWalker(block.querySelector(".text"), NodeFilter.SHOW_TEXT);
  const nodes = [];
  let at = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest(".flag, .says")) continue; // they are not of the book
    nodes.push({ node, start: at, end: at + node.length });
    at += node.length;
  }
  return places.map(({ start, end }) => {
    const range = new Range();
    const first = nodes.find((item) => start < item.end);
    const last = nodes.find((item) => end <= item.end);
    range.setStart(first.node, start - first.start);
    range.setEnd(last.node, end - last.start);
    return range;
  });
}

/** Paints the places in the chapter that is shown, and the current one in another colour. */
function paint() {
  if (!canPaint) return;
  const here = find.hits.filter((hit) => hit.chapter === view.chapter.number);
  const found = new Highlight();
  const now = new Highlight();
  now.priority = 1;
  for (const [paragraph, hits] of grouped(here, (hit) => hit.paragraph)) {
    for (const [n, range] of rangesIn($(`p${paragraph}`), hits).entries())
      (hits[n] === find.hits[find.now] ? now : found).add(range);
  }
  CSS.highlights.set("found", found);
  CSS.highlights.set("found-now", now);
}

document.addEventListener("miner:chapter", paint);

/* The field. */

function openFinder() {
  showPart("finder", true);
  $("query").focus();
  $("query").select();
}

function closeFinder() {
  $("query").value = "";
  look();
  showPart("finder", false);
  $("text").focus({ preventScroll: true });
}

/** Shows or hides a part of the bar that a phone has no room for. */
function showPart(id, isShown = !$(id).classList.contains("open")) {
  document.querySelector(".bar").classList.toggle(`with-${id}`, isShown);
  $(id).classList.toggle("open", isShown);
  $(`show-${id}`).setAttribute("aria-expanded", String(isShown));
}

let typed = 0;
$("query").addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(look, TYPED_FOR);
});
$("query").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.isComposing) step(event.shiftKey ? -1 : 1);
  else if (event.key === "Escape") closeFinder();
  else return;
  event.preventDefault();
  event.stopPropagation();
});
$("found-next").addEventListener("click", () => step(1));
$("found-before").addEventListener("click", () => step(-1));
$("show-finder").addEventListener("click", () => {
  if ($("finder").classList.contains("open")) closeFinder();
  else openFinder();
});
$("show-options").addEventListener("click", () => showPart("options"));
$("query").value = ""; // browsers restore values that the page does not know of
