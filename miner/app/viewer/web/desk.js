"use strict";
/* The desk beside the text: its buttons and keys, the speakers, questions; how far the work is. */

/* What can be done: its keys, the words on its button and in the help. An `action` is the server's,
   and where it `goesOn`, the next place follows; the rest is run here. */
const MOVES = [
  { keys: "k ↑", name: "Before", help: "the one before", run: () => step(-1) },
  { keys: "j ↓", name: "Next", help: "the next one", run: () => step(1) },
  {
    keys: "l",
    name: "Next undecided",
    short: "Unsure",
    help: "what to decide next: the least sure, else the next",
    run: goToNext,
  },
];
const DECISIONS = [
  {
    keys: "s",
    name: "Same speaker",
    short: "Same",
    help: "the speaker before goes on",
    action: "same",
    goesOn: true,
  },
  {
    keys: "o",
    name: "Other speaker",
    short: "Other",
    help: "another one answers",
    action: "other",
    goesOn: true,
  },
  {
    keys: "n",
    name: "New conversation",
    short: "New",
    help: "a conversation begins; then say who speaks",
    action: "new",
  },
  {
    keys: "r",
    name: "Resume…",
    short: "Resume",
    help: "an older conversation goes on; then say who speaks",
    run: resume,
  },
  { keys: "w", name: "Who…", help: "who speaks, by name", run: nameSpeaker },
  {
    keys: "u",
    name: "Unknown",
    help: "the text does not tell who speaks",
    action: "unknown",
    goesOn: true,
  },
  {
    keys: "x",
    name: "Not speech",
    help: "quoted, but not said aloud here",
    action: "nothing",
    goesOn: true,
  },
  {
    keys: "a",
    name: "Accept guess",
    short: "Accept",
    help: "the guess is right",
    action: "accept",
    goesOn: true,
  },
  {
    keys: "R",
    name: "Rename…",
    short: "Rename",
    help: "another name for this speaker, in the whole chapter",
    run: rename,
  },
  { keys: "c", name: "Clear", help: "undecided again", action: "clear" },
  { keys: "z", name: "Undo", help: "takes the last change back", action: "undo" },
];
const SPEAKERS_WITH_KEYS = 9;

function runCommand({ action, name, goesOn = false, run }) {
  return inTurn(run ?? (() => decide(name.toLowerCase(), { action }, goesOn)));
}

function setSpeaker(speaker) {
  return decide(nameOf(speaker), { action: "speaker", speaker }, true);
}

/** The n-th speaker of the list, from 0, when its turn has come: the list may have changed. */
function pickSpeaker(n) {
  return inTurn(() => {
    const speaker = edit.state.speakers[n];
    if (speaker !== undefined) return setSpeaker(speaker);
    notice(`No speaker ${n + 1} yet: w says who speaks.`);
  });
}

digitOfMode = pickSpeaker;
keysOfMode = [
  ...[...MOVES, ...DECISIONS].map((item) => [item.keys, item.help, () => runCommand(item)]),
  ["1–9", "the speaker is this one of the list", null],
  ["p", "side panel: the conversation, turn by turn", () => openDrawer("panel")],
  ["f", "finish", () => inTurn(askToFinish)],
  ["t", "light or dark", () => switchTheme()],
  ["?", "this help", () => openHelp()],
  ["Esc", "close what is open; back to the text", () => closeDrawers()],
];

/* Held down, a key moves on and on, and decides once. */
document.addEventListener(
  "keydown",
  (event) => {
    const moves = MOVES.flatMap((item) => item.keys.split(" ")).concat("ArrowDown", "ArrowUp");
    const isText = event.target.closest?.("input, textarea");
    if (event.repeat && event.key.length === 1 && !moves.includes(event.key) && !isText)
      event.stopImmediatePropagation();
  },
  true,
);

/* What is shown. */

/** How much of the window the desk takes below the text. */
function heightOfDesk() {
  const isBelow = getComputedStyle($("desk")).position === "fixed";
  return isBelow ? $("desk").getBoundingClientRect().height : 0;
}

function showDesk() {
  const { state, place } = edit;
  const span = spanAt(place);
  const { decided, all } = state.progress;
  $("progress-text").textContent = `${decided} of ${all} decided`;
  Object.assign($("progress-bar"), { max: all, value: decided });
  $("now-place").textContent = `${place + 1} of ${all}`;
  const parts = factOf(span).split(", ");
  $("now-fact").replaceChildren(
    ...parts.flatMap((part, n) => [n ? ", " : "", make("span", { class: "part-of" }, part)]),
  );
  $("now").className = span.status;
  $("now-text").textContent = span.text;
  const can = {
    accept: span.status === "guess",
    clear: span.status === "decided",
    undo: state.can_undo,
  };
  for (const button of $("commands").children) {
    const isOff = edit.file !== "" || can[button.dataset.action] === false;
    button.setAttribute("aria-disabled", String(isOff));
  }
  showSpeakers(state.speakers, span);
}

function showSpeakers(speakers, span) {
  const used = [...$("speakers").children].indexOf(document.activeElement);
  const buttons = speakers.map((speaker, n) => {
    const key = n < SPEAKERS_WITH_KEYS ? make("kbd", { "aria-hidden": "true" }, String(n + 1)) : "";
    const button = make("button", { type: "button" }, key, make("span", {}, speaker));
    button.setAttribute(
      "aria-pressed",
      String(span.status === "decided" && span.speaker === speaker),
    );
    if (key) button.setAttribute("aria-keyshortcuts", String(n + 1));
    button.addEventListener("click", () => inTurn(() => setSpeaker(speaker)));
    return button;
  });
  $("speakers").replaceChildren(...buttons);
  $("no-speakers").hidden = buttons.length > 0;
  if (used >= 0) buttons[used]?.focus({ preventScroll: true });
}

function showSaving(isSaving) {
  edit.isSaving = isSaving;
  const text = isSaving ? "saving…" : edit.trouble ? "not saved" : "saved";
  $("saved").textContent = text;
  $("saved").classList.toggle("wrong", text === "not saved");
}

/** What could not be done, or what there is no more of; in sight until the next answer. */
function notice(text) {
  $("notice").textContent = text;
  $("notice").hidden = text === "";
  if (text) say(text);
}

/* The elements of the desk, once. */

function buildDesk() {
  for (const [box, items] of [
    ["moves", MOVES],
    ["commands", DECISIONS],
  ]) {
    for (const item of items) {
      const [key] = item.keys.split(" ");
      const words = make("span", { class: item.short ? "long" : "" }, item.name);
      const short = item.short ? make("span", { class: "short" }, item.short) : "";
      const shortcut = make("kbd", { "aria-hidden": "true" }, key);
      const button = make("button", { type: "button", title: item.help }, shortcut, words, short);
      button.setAttribute("aria-label", item.name);
      button.setAttribute("aria-keyshortcuts", key === "R" ? "Shift+R" : key);
      if (item.action) button.dataset.action = item.action;
      button.addEventListener("click", () => runCommand(item));
      $(box).append(button);
    }
  }
  for (const [status, label, words] of [
    ["guess", "guess: 2 A", "guessed by the tagger, to accept or to correct"],
    ["undecided", "undecided", "nothing is known yet"],
  ]) {
    const mark = make("span", { class: "mark open", data: { label } });
    document
      .querySelector(".marks")
      .append(make("dt", { class: status }, mark), make("dd", {}, words));
  }
  $("trouble-button").addEventListener("click", () => inTurn(seeToTrouble));
  $("finish-button").addEventListener("click", () => inTurn(askToFinish));
  $("finish-now").addEventListener("click", () => inTurn(finish));
  for (const button of document.querySelectorAll("#ask .close, #finish .close"))
    button.addEventListener("click", () => button.closest("dialog").close(""));
  $("ask-form").addEventListener("submit", (event) => {
    event.preventDefault();
    $("ask").close($("ask-input").value);
  });
  $("ask-choices").addEventListener("click", (event) => {
    const choice = event.target.closest("[data-choice]");
    if (choice) $("ask").close(choice.dataset.choice);
  });
  // What is fixed below the text leaves it that much less room, however many lines it takes.
  new ResizeObserver(() => {
    document.documentElement.style.setProperty("--desk-height", `${heightOfDesk()}px`);
  }).observe($("desk"));
}

buildDesk();
// The first chapter is shown by the script after this one, and then there is a place to go to.
document.addEventListener("DOMContentLoaded", () => {
  const { title, number } = edit.chapter;
  $("book-author").textContent = title;
  document.title = `${book.title}, chapter ${number}: annotation`;
  goTo(edit.state.next ?? 0);
  say(wordsOf(spanAt(edit.place)));
});
