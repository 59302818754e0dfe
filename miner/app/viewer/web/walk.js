"use strict";
/* Places in the text: the focus, scrolling, and moving from one place to the next. */

let movedAt = -Infinity; // when a command, not the reader, last moved the page

function markOf(key) {
  return $("chapter").querySelector(`.mark[data-key="${key}"]`);
}

/** The mark of a place, or of an utterance of the shown layer that overlaps it. */
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
  settle(() => element.closest(".block").scrollIntoView({ block: "center", behavior }), 0);
}

/** Focuses the utterance at a place, named by its key, and shows its conversation. */
function focusPlace(key, { scroll = true } = {}) {
  const mark = nearestMark(key);
  if (!mark) return;
  view.focus = key;
  view.conversation =
    view.chapter.layers[view.layer].byKey.get(mark.dataset.key)?.conversation ?? null;
  for (const old of $("chapter").querySelectorAll(".here")) old.classList.remove("here");
  mark.closest(".utterance, .missed, .quoted").classList.add("here");
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

/** The conversation in the middle of the screen or, in narration, the next one below. */
function conversationInView() {
  let block = blockInView() ?? $("chapter").querySelector(".block");
  while (block && !block.dataset.conversation) {
    block = block.nextElementSibling ?? block.parentElement.nextElementSibling?.firstElementChild;
  }
  return block ? Number(block.dataset.conversation) : null;
}

/** Lets the panel follow the scrolled text, but not just after a command moved the page. */
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

/** The index of the next element after the focused one, or after the visible text. */
function stepFrom(elements, forward) {
  const from = document.activeElement?.closest("#chapter .mark, #chapter .number") ?? blockInView();
  if (!from) return forward ? 0 : elements.length - 1;
  const after = (element) =>
    from.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING;
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
  const sides = `${names[view.layer]}: ${item.shown}. ${names[view.other]}: ${item.other}.`;
  say(`Disagreement ${n + 1} of ${view.disagreements.length}. ${sides}`);
  if (nearestMark(item.key)) focusPlace(item.key);
}

/** Goes to the next disagreement, in this chapter or in the next one that has any. */
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
