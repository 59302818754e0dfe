"use strict";
/* The desk, which is the controls beside the text: buttons, keys, speakers and progress. */

/* The commands: keys, name of the button, and help. A command with an `action` is sent to the
   server; with `goesOn`, the page then goes to the next place. Others `run` in the page. */
const MOVES = [
  { keys: "k ↑", name: "Previous", help: "the previous span", run: () => step(-1) },
  { keys: "j ↓", name: "Next", help: "the next span", run: () => step(1) },
  {
    keys: "l",
    name: "Next undecided",
    short: "Unsure",
    help: "the undecided span with the lowest confidence, else the next one",
    run: goToNext,
  },
];
const DECISIONS = [
  {
    keys: "s",
    name: "Same speaker",
    short: "Same",
    help: "the previous speaker continues",
    action: "same",
    goesOn: true,
  },
  {
    keys: "o",
    name: "Other speaker",
    short: "Other",
    help: "another speaker answers",
    action: "other",
    goesOn: true,
  },
  {
    keys: "n",
    name: "New conversation",
    short: "New",
    help: "a conversation begins; the page asks who speaks",
    action: "new",
    goesOn: true,
  },
  {
    keys: "r",
    name: "Resume…",
    short: "Resume",
    help: "an earlier conversation resumes; you can name the speaker next",
    run: resume,
  },
  { keys: "w", name: "Who…", help: "name the speaker", run: nameSpeaker },
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
    help: "quoted, but nobody says it here",
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
    help: "give this speaker another name in the whole chapter",
    run: rename,
  },
  { keys: "c", name: "Clear", help: "remove the decision", action: "clear" },
  { keys: "z", name: "Undo", help: "undo the last change", action: "undo" },
];
const SPEAKERS_WITH_KEYS = 9;

/** Runs a command after those before it, unless one of them asks for a name by then: what was
    typed in the meantime was meant for the name. */
function runCommand({ action, name, goesOn = false, run }) {
  const { asked } = naming;
  return inTurn(() => {
    if (asked !== naming.asked) return undefined;
    closeNaming();
    return run ? run() : decide(name.toLowerCase(), { action }, goesOn);
  });
}

/** Answers the question for a name, or says who speaks. */
function setSpeaker(speaker) {
  if (naming.wanted) return answerNaming(speaker);
  return decide(nameOf(speaker), { action: "speaker", speaker }, true);
}

/** Chooses the n-th speaker, from 0. It runs in turn, since earlier keys may change the list. */
function pickSpeaker(n) {
  return inTurn(() => {
    const speaker = edit.state.speakers[n];
    if (speaker !== undefined) return setSpeaker(speaker);
    notice(`There is no speaker ${n + 1} yet: press w to name one.`);
  });
}

digitOfMode = pickSpeaker;
keysOfMode = [
  ...[...MOVES, ...DECISIONS].map((item) => [item.keys, item.help, () => runCommand(item)]),
  ["1–9", "choose the speaker with this number", null],
  ["p", "side panel with the turns of the conversation", () => openDrawer("panel")],
  ["g", "all chapters of the book", () => inTurn(() => $("all-chapters").click())],
  ["f", "finish", () => inTurn(askToFinish)],
  ["t", "light or dark colours", () => switchTheme()],
  ["?", "this help", () => openHelp()],
  ["Esc", "close a panel and go back to the text", () => closeDrawers()],
];

/* A key that is held down repeats a move, but never a decision. */
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

/* What the desk shows. */

/** The height of the desk in pixels if it is below the text, else 0. */
function heightOfDesk() {
  const isBelow = getComputedStyle($("desk")).position === "fixed";
  return isBelow ? $("desk").getBoundingClientRect().height : 0;
}

function showDesk() {
  const { state, place } = edit;
  if (naming.wanted && naming.wanted.values.place !== place) closeNaming();
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

/** Shows and announces a message until the next answer. */
function notice(text) {
  $("notice").textContent = text;
  $("notice").hidden = text === "";
  if (text) say(text);
}

/* Builds the desk, once. */

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
    ["guess", "guess: 2 A", "guessed by the tagger; accept or correct it"],
    ["undecided", "undecided", "neither decided nor guessed"],
  ]) {
    const mark = make("span", { class: "mark open", data: { label } });
    document
      .querySelector(".marks")
      .append(make("dt", { class: status }, mark), make("dd", {}, words));
  }
  $("trouble-button").addEventListener("click", () => inTurn(seeToTrouble));
  $("finish-button").addEventListener("click", () => inTurn(askToFinish));
  $("finish-now").addEventListener("click", () => inTurn(finish));
  buildNaming();
  for (const id of ["all-chapters", "finish-chapters"]) $(id).href = addressOf("/");
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
  // The desk may take any number of lines; the text ends above it.
  new ResizeObserver(() => {
    document.documentElement.style.setProperty("--desk-height", `${heightOfDesk()}px`);
  }).observe($("desk"));
}

buildDesk();
// The script after this one shows the chapter; only then is there a place to go to.
document.addEventListener("DOMContentLoaded", () => {
  const { title, number } = edit.chapter;
  $("book-author").textContent = title;
  document.title = `${book.title}, chapter ${number}: annotation`;
  goTo(edit.state.next ?? 0);
  say(wordsOf(spanAt(edit.place)));
});
