"use strict";
/* Keys, buttons, drawers and the theme; opens the first chapter. */

const KEYS = [
  ["1–9", "show a layer", null],
  ["⇧ 1–9", "compare with a layer", null],
  [
    "b",
    "show or hide the second layer beside the text",
    () => showLayer(view.layer, { beside: !view.beside }),
  ],
  ["x", "swap the two layers", swapLayers],
  ["d", "next disagreement, also in later chapters", () => walkDisagreements(true)],
  ["D", "previous disagreement", () => walkDisagreements(false)],
  ["j", "next utterance", () => walk(".mark", true, "utterance")],
  ["k", "previous utterance", () => walk(".mark", false, "utterance")],
  ["c", "next conversation", () => walk(".rail:not(.other) .number", true, "conversation")],
  ["C", "previous conversation", () => walk(".rail:not(.other) .number", false, "conversation")],
  ...moreKeys,
  ["/", "find in the book", () => openFinder()],
  ["l", "copy a link to the conversation", () => copyConversation("link")],
  ["y", "copy the conversation as text", () => copyConversation("text")],
  ["Y", "copy the conversation as JSON", () => copyConversation("json")],
  ["n", "next chapter", () => turnPage(1)],
  ["p", "previous chapter", () => turnPage(-1)],
  ["g", "list of chapters", () => openDrawer("chapters")],
  ["s", "side panel", () => openDrawer("panel")],
  ["t", "light or dark colours", switchTheme],
  ["?", "this help", () => openHelp()],
  ["Esc", "close a panel and go back to the text", closeDrawers],
];
const NAMES_OF_KEYS = { "↓": "ArrowDown", "↑": "ArrowUp" };
const ACTIONS = new Map(
  (keysOfMode ?? KEYS).flatMap(([keys, , action]) =>
    action ? keys.split(" ").map((key) => [NAMES_OF_KEYS[key] ?? key, action]) : [],
  ),
);

function swapLayers() {
  if (view.other !== null) showLayer(view.other, { other: view.layer });
}

function turnPage(step) {
  const place = book.chapters.indexOf(entryOf(view.chapter.number)) + step;
  if (book.chapters[place]) openChapter(book.chapters[place].number);
  else say(step > 0 ? "This is the last chapter" : "This is the first chapter");
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") {
    closeDrawers();
    return;
  }
  const taken = "input:not([type=checkbox]), select, textarea"; // these need the keys themselves
  if (!$("use-keys").checked || event.target.closest(taken)) return;
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code);
  const n = digit && Number(digit[1]) - 1;
  if (digit && digitOfMode) digitOfMode(n);
  else if (digit) {
    if (event.shiftKey) {
      if (n < names.length) compareWith(n);
    } else showLayer(n);
  } else if (ACTIONS.has(event.key)) ACTIONS.get(event.key)();
  else return;
  event.preventDefault();
});

/* Drawers: beside the text on wide screens, over it on narrow ones. */

let openedBy = null;

function openDrawer(id) {
  const drawer = $(id);
  if (drawer.classList.contains("open")) {
    closeDrawers();
    return;
  }
  openedBy = document.activeElement;
  for (const other of document.querySelectorAll(".drawer.open"))
    if (other !== drawer) closeDrawer(other);
  keepingPlace(() => drawer.classList.add("open"));
  $(`show-${id}`).setAttribute("aria-expanded", "true");
  if (isCovering(drawer)) $("text").inert = true;
  const current = drawer.querySelector("[aria-current]");
  (current ?? drawer).focus({ preventScroll: true });
  if (current) showInDrawer(current);
}

/** Whether an open drawer lies over the text, as on a narrow screen. */
function isCovering(drawer) {
  return getComputedStyle(drawer).position === "fixed";
}

function closeCovering() {
  if ([...document.querySelectorAll(".drawer.open")].some(isCovering)) closeDrawers();
}

function closeDrawer(drawer) {
  keepingPlace(() => drawer.classList.remove("open"));
  $(`show-${drawer.id}`).setAttribute("aria-expanded", "false");
  $("text").inert = false;
}

function closeDrawers() {
  const within = document.activeElement?.closest(".drawer");
  document.querySelectorAll(".drawer.open").forEach(closeDrawer);
  if (!within) return;
  if (openedBy?.isConnected && openedBy !== document.body) openedBy.focus();
  else $("text").focus({ preventScroll: true });
}

function openHelp() {
  $("help").showModal();
}

function switchTheme() {
  const isDark = !nowDark();
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  showTheme();
  say(isDark ? "dark" : "light");
}

function nowDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function showTheme() {
  $("theme").setAttribute("aria-pressed", String(nowDark()));
}

function start() {
  const nChapters = lastNumber() || 1;
  $("book-title").textContent = book.title;
  $("book-author").textContent = book.author;
  tellLanguage([$("chapter"), $("book-title")]);
  names.forEach((name, n) => {
    const key = make("kbd", { "aria-hidden": "true" }, String(n + 1));
    const button = make("button", { type: "button", title: name }, key, make("span", {}, name));
    button.setAttribute("aria-keyshortcuts", String(n + 1));
    button.addEventListener("click", () => showLayer(n));
    $("layers").append(button);
    $("other").append(make("option", { value: String(n) }, name));
  });
  $("compare").hidden = names.length < 2;
  for (const [key, meaning] of keysOfMode ?? KEYS) {
    $("keys").append(
      make("tr", {}, make("th", { scope: "row" }, make("kbd", {}, key)), make("td", {}, meaning)),
    );
  }
  const annotated = book.chapters.filter((chapter) => chapter.annotated).length;
  const lost = book.lost ? `; ${count(book.lost, "annotated span")} not found in this edition` : "";
  $("about-gold").textContent = book.layers[0].gold
    ? `${annotated} of ${count(nChapters, "chapter")} annotated${lost}`
    : "";
  wire();
  showTheme();
  openBook();
}

function wire() {
  $("beside").addEventListener("click", () => showLayer(view.layer, { beside: !view.beside }));
  $("other").addEventListener("change", () => compareWith(Number($("other").value)));
  $("next").addEventListener("click", () => walkDisagreements(true));
  $("previous").addEventListener("click", () => walkDisagreements(false));
  $("theme").addEventListener("click", switchTheme);
  $("show-help").addEventListener("click", openHelp);
  for (const id of ["chapters", "panel"])
    $(`show-${id}`).addEventListener("click", () => openDrawer(id));
  for (const button of document.querySelectorAll(".drawer .close"))
    button.addEventListener("click", closeDrawers);
  $("help")
    .querySelector(".close")
    .addEventListener("click", () => $("help").close());
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && entryOf(Number(link.hash.slice(1))) && link.hash !== "#text") {
      event.preventDefault();
      closeCovering();
      openChapter(Number(link.hash.slice(1)));
      $("text").focus({ preventScroll: true });
    }
  });
  $("chapter").addEventListener("click", (event) => {
    const number = event.target.closest(".number");
    if (number && !number.dataset.other) showConversation(number);
    const place = event.target.closest("[data-key]");
    if (place && getSelection().isCollapsed) focusPlace(place.dataset.key, { scroll: false });
  });
  $("panel").addEventListener("click", (event) => {
    const place = event.target.closest("[data-key]");
    if (!place) return;
    closeCovering();
    focusPlace(place.dataset.key);
  });
  // The panel follows when scrolling stops.
  let pause = 0;
  const follow = () => {
    clearTimeout(pause);
    pause = setTimeout(followScrolling, 120);
  };
  window.addEventListener("scroll", follow, { passive: true });
  // The bar may take any number of lines; what is below begins at its end.
  new ResizeObserver(() => {
    const height = document.querySelector(".bar").getBoundingClientRect().height;
    document.documentElement.style.setProperty("--bar", `${height}px`);
  }).observe(document.querySelector(".bar"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
}

start();
document.documentElement.dataset.ready = "yes";
