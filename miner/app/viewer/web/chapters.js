"use strict";
/* The list of the chapters of a book under annotation: how far each is done, and links to them. */

const book = JSON.parse(document.getElementById("book").textContent);
const $ = (id) => document.getElementById(id);
const counted = (n) => n.toLocaleString("en");
const isDone = (chapter) => chapter.spans > 0 && chapter.decided === chapter.spans;

function say(text) {
  $("status").textContent = text;
}

function made(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/** How far a chapter is done, in words. */
function wordsOf({ spans, decided }) {
  if (!spans) return "nothing quoted";
  if (!decided) return `not begun, ${counted(spans)} to decide`;
  return decided === spans
    ? `done, all ${counted(spans)} decided`
    : `in progress, ${counted(decided)} of ${counted(spans)} decided`;
}

function rowOf(chapter) {
  const { number, title, spans, decided, lost } = chapter;
  const kind = !spans ? "empty" : !decided ? "new" : isDone(chapter) ? "done" : "begun";
  const heading = made("span", { className: "heading" }, title);
  if (/^[a-z]{2,3}$/.test(book.language) && number > 0) heading.lang = book.language;
  const place = made("span", { className: "number" }, String(number));
  const state = made("span", { className: "state" }, wordsOf(chapter));
  if (lost) state.append(made("span", { className: "wrong" }, `; ${counted(lost)} not found`));
  const parts = [place, heading, state];
  if (kind === "begun" || kind === "done") {
    const bar = made("progress", { max: spans, value: decided });
    bar.setAttribute("aria-hidden", "true"); // the words say the same
    parts.push(bar);
  }
  if (!spans) return made("li", { className: kind }, made("div", {}, ...parts));
  return made("li", { className: kind }, made("a", { href: pageOf(chapter) }, ...parts));
}

function pageOf(chapter) {
  return addressOf(`/chapters/${chapter.number}`);
}

function showBook() {
  const { chapters } = book;
  const sum = (of) => chapters.reduce((total, chapter) => total + of(chapter), 0);
  const [spans, decided] = [sum((item) => item.spans), sum((item) => item.decided)];
  const spoken = chapters.filter((chapter) => chapter.spans);
  $("title").textContent = book.title;
  $("author").textContent = [book.author, book.file].filter(Boolean).join(" · ");
  $("sum").textContent =
    `${counted(decided)} of ${counted(spans)} quoted spans decided, ` +
    `${spoken.filter(isDone).length} of ${spoken.length} chapters done`;
  Object.assign($("sum-bar"), { max: spans, value: decided });
  const left = spoken.filter((chapter) => !isDone(chapter));
  const next = left.find((chapter) => chapter.decided) ?? left[0];
  if (next) {
    const words = `${decided ? "Continue" : "Begin"} with ${nameOf(next)}`;
    $("begin").append(made("a", { href: pageOf(next), className: "primary" }, words));
  } else $("begin").textContent = "All chapters are done.";
  $("foreign").hidden = !book.foreign;
  $("foreign").textContent =
    `The file also has ${counted(book.foreign)} rows of chapters that this edition lacks; ` +
    "they stay in it.";
  $("list").replaceChildren(...chapters.map(rowOf));
}

function nameOf({ number, title }) {
  return number > 0 ? `chapter ${number}` : title.toLowerCase();
}

/* Keys and buttons. */

function move(by) {
  const links = [...$("list").querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  const next = at < 0 ? links[by > 0 ? 0 : links.length - 1] : links[at + by];
  if (next) next.focus();
  else say(by > 0 ? "This is the last chapter." : "This is the first chapter.");
}

function nowDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function showTheme() {
  $("theme").setAttribute("aria-pressed", String(nowDark()));
}

function switchTheme() {
  document.documentElement.dataset.theme = nowDark() ? "light" : "dark";
  showTheme();
}

function askToFinish() {
  if ($("finish").disabled) return;
  $("finish-text").textContent =
    `${$("sum").textContent}. All answers are saved. ` +
    "Finishing ends the program; the same command goes on later.";
  $("finish-dialog").showModal();
}

async function finish() {
  try {
    const answer = await ask("POST", "/done", {});
    if (answer.status !== 200) throw new Error(answer.values.error);
    showFinished(answer.values.saved);
  } catch (error) {
    $("notice").textContent = error.message;
    $("notice").hidden = false;
    $("finish-dialog").close();
  }
}

/** Nothing answers any more, so nothing is a link. */
function showFinished(file) {
  $("finish").disabled = true;
  $("finish-title").textContent = "Finished";
  $("finish-text").textContent =
    `Your answers are saved in ${file}. The program has ended; you can close this window.`;
  $("finish-now").hidden = true;
  $("finish-close").textContent = "Close";
  $("finish-close").focus();
  $("begin").textContent = "Finished.";
  for (const link of $("list").querySelectorAll("a")) link.removeAttribute("href");
  say($("finish-text").textContent);
}

const ACTIONS = {
  j: () => move(1),
  ArrowDown: () => move(1),
  k: () => move(-1),
  ArrowUp: () => move(-1),
  t: switchTheme,
  f: askToFinish,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !ACTIONS[event.key]) return;
  if ($("finish-dialog").open) return;
  event.preventDefault();
  ACTIONS[event.key]();
});
$("theme").addEventListener("click", switchTheme);
$("finish").addEventListener("click", askToFinish);
$("finish-now").addEventListener("click", () => inTurn(finish));
$("finish-close").addEventListener("click", () => $("finish-dialog").close());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
showBook();
showTheme();
document.documentElement.dataset.ready = "yes";
