"use strict";
/* Addresses of chapters ("#3") and of conversations ("#dialogue-12", "#dialogue-12-layer-2"), and
   the way back: every entry of the history knows the place in the text that it left. */

const ADDRESS = /^#dialogue-(\d{1,9})(?:-layer-([1-9]))?$/;
const STILL_FOR = 300; // ms without scrolling, after which the place is remembered
const SHARE_ABOVE = 0.2; // of the window, above the conversation that is gone to

let linked = null; // the address of the conversation that was opened by it

history.scrollRestoration = "manual";

/** The address of a dialogue, by its number in the data; the first layer is not named. */
function addressOf(dialogue, layer) {
  return `#dialogue-${dialogue}${layer ? `-layer-${layer + 1}` : ""}`;
}

/** The conversation of the chapter with this number, in the layer that is shown. */
function conversationOf(number) {
  return view.chapter.layers[view.layer].conversations.find((item) => item.number === number);
}

function addressOfConversation(number) {
  return addressOf(conversationOf(number).dialogue, view.layer);
}

/* The history. */

/** What an entry of the history knows: the chapter, the layer and the first block in view. */
function placeInView() {
  const block = blockInView();
  const top = block ? Math.round(block.getBoundingClientRect().top) : 0;
  return { chapter: view.chapter.number, layer: view.wanted, block: block?.id ?? null, top };
}

function rememberPlace() {
  if (view.chapter) history.replaceState(placeInView(), "");
}

/** Remembers the place that is left, and makes an entry for the one that is gone to. */
function pushAddress(address) {
  rememberPlace();
  if (location.hash !== address) history.pushState(null, "", address);
}

rememberChapter = (number) => pushAddress(`#${number}`);

/** Goes back to what an entry of the history knows; false if it knows nothing of this book. */
function goToPlace(place) {
  if (!place || !entryOf(place.chapter)) return false;
  if (place.layer in names) view.wanted = place.layer;
  linked = ADDRESS.test(location.hash) ? location.hash : null;
  openChapter(place.chapter, { remember: false, announce: false });
  if ($(place.block)) putAt(place.block, place.top);
  return true;
}

/** Goes to the place that an address names; false if it names none in this book. */
function goToAddress(address) {
  const found = ADDRESS.exec(address);
  if (found) return goToDialogue(Number(found[1]), Number(found[2] ?? 1) - 1);
  const number = /^#\d{1,9}$/.test(address) ? Number(address.slice(1)) : null;
  if (number === null || !entryOf(number)) return false;
  openChapter(number, { remember: false });
  return true;
}

function goToDialogue(dialogue, layer) {
  const chapter = book.layers[layer]?.begins[dialogue];
  if (chapter === undefined) {
    tell(`This page has no dialogue ${dialogue}${layer ? ` in layer ${layer + 1}` : ""}`);
    return false;
  }
  view.wanted = layer;
  openChapter(chapter, { remember: false, announce: false });
  linked = addressOf(dialogue, layer);
  showLinked();
  const { number } = view.chapter.layers[layer].conversations.find(
    (item) => item.dialogue === dialogue,
  );
  goToConversation(number);
  say(`Conversation ${labelOf(number)}, ${placeOf(chapter)}`);
  return true;
}

/** Scrolls to the beginning of a conversation and shows it in the panel. */
function goToConversation(number) {
  const block = view.brackets.get(number)[0].closest(".block");
  const bar = document.querySelector(".bar").getBoundingClientRect().bottom;
  putAt(block.id, Math.round(bar + (innerHeight - bar) * SHARE_ABOVE));
  movedAt = performance.now(); // so that the panel shows this one, not one that is scrolled past
  view.conversation = number;
  showPanel();
  showTools();
}

/** Opens the first chapter with speech where its talk begins. */
function goToFirstTalk() {
  openChapter(firstChapter().number, { remember: false, announce: false });
  const first = $("chapter").querySelector(".rail:not(.other) .segment");
  if (first) goToConversation(Number(first.dataset.conversation));
}

openBook = () => {
  if (!goToPlace(history.state) && !goToAddress(location.hash)) goToFirstTalk();
  rememberPlace();
};

window.addEventListener("popstate", (event) => {
  if (!goToPlace(event.state)) goToAddress(location.hash);
  rememberPlace();
});

let stillSince = 0;
window.addEventListener(
  "scroll",
  () => {
    clearTimeout(stillSince);
    stillSince = setTimeout(rememberPlace, STILL_FOR);
  },
  { passive: true },
);
window.addEventListener("pagehide", rememberPlace);

/* The signs in the margin. */

document.addEventListener("miner:chapter", () => {
  for (const line of $("chapter").querySelectorAll(".rail:not(.other) .segment.starts")) {
    const number = Number(line.dataset.conversation);
    const address = addressOfConversation(number);
    line.id = address.slice(1);
    const label = `Link to conversation ${number}`;
    line.append(make("a", { class: "anchor", href: address, tabindex: "-1", "aria-label": label }));
  }
  showLinked();
});

/** Marks the conversation that was opened by its address. */
function showLinked() {
  for (const line of document.querySelectorAll(".segment.linked")) line.classList.remove("linked");
  if (!linked || !view.brackets.size) return;
  for (const [number, lines] of view.brackets)
    if (addressOfConversation(number) === linked)
      for (const line of lines) line.classList.add("linked");
}
