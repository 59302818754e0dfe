"use strict";
/* The chapter under annotation: its state, the current place, and the edits.

   The server computes speakers, conversations and tags; it answers an edit with the whole state. */

/* `chapter` comes with the page, `state` is the newest from the server. `trouble` says why nothing
   can be saved at present, and has the edit that was not saved. */
const EDGE = 0.15; // share of the visible text at either end that the current place keeps clear of
const edit = { chapter: null, state: null, place: 0, trouble: null, isSaving: false, file: "" };

loadChapter = (number) => {
  if (!edit.chapter) {
    const { state, ...chapter } = JSON.parse($(`chapter-${number}`).textContent);
    Object.assign(edit, { chapter, state });
  }
  return { ...edit.chapter, layers: [edit.state.layer] };
};

function spanAt(place) {
  return edit.state.spans[place];
}

/** Shows a state without moving the text on the screen, and goes to a place in it. */
function showState(state, place) {
  edit.state = state;
  keepingPlace(() => {
    view.chapter = decodeChapter(loadChapter(state.chapter));
    showChapter();
  });
  goTo(place);
}

/** Goes to a place; a button of the desk keeps the focus. */
function goTo(place) {
  const before = document.activeElement?.closest("#desk button");
  focusPlace(keyOfSpan(spanAt(place)), { scroll: false });
  // After the frame in which a rebuilt chapter is scrolled back to where it was.
  requestAnimationFrame(bringIntoSight);
  if (before?.isConnected) before.focus({ preventScroll: true });
}

/** Scrolls to the current place unless it is well inside the visible text. */
function bringIntoSight() {
  const mark = nearestMark(keyOfSpan(spanAt(edit.place)));
  const top = document.querySelector(".bar").getBoundingClientRect().bottom;
  const bottom = innerHeight - heightOfDesk();
  const y = mark.getBoundingClientRect().top;
  const margin = (bottom - top) * EDGE;
  movedAt = performance.now(); // so that the panel shows this place, not one that is scrolled past
  if (y < top + margin || y > bottom - 2 * margin) scrollToPlace(mark);
}

document.addEventListener("miner:chapter", () => {
  dressChapter(edit.state);
  const { words } = book.chapters[0];
  const lost = edit.state.lost.length ? [renderLost(edit.state.lost)] : [];
  $("summary").replaceChildren(
    make(
      "p",
      { class: "where" },
      `${count(words, "word")}, ${count(edit.state.spans.length, "quoted span")}`,
    ),
    ...lost,
  );
  showDesk();
});

document.addEventListener("miner:panel", () => dressPanel(edit.state));

document.addEventListener("miner:focus", () => {
  const place = edit.state.spans.findIndex((span) => keyOfSpan(span) === view.focus);
  if (place >= 0) edit.place = place;
  showDesk();
});

/* Commands. */

function step(by) {
  const place = edit.place + by;
  if (!spanAt(place)) notice(by > 0 ? "This is the last span." : "This is the first span.");
  else {
    notice("");
    goTo(place);
    if (document.activeElement.closest("#desk")) say(wordsOf(spanAt(place)));
  }
}

/** Goes to the place that the server names as the next to decide. */
async function goToNext() {
  const answer = await askState();
  if (!answer) return;
  if (answer.values.revision !== edit.state.revision) showTrouble({ is: "stale", unsaved: "" });
  else if (answer.values.next === null) notice("All spans are decided.");
  else {
    goTo(answer.values.next);
    say(`${answer.values.next === edit.place ? "" : "Next, "}${wordsOf(spanAt(edit.place))}`);
  }
}

function askState() {
  return asked(() => ask("GET", `${location.pathname}/state?place=${edit.place}`));
}

/** The answer of the server, or null after an error, which the page shows. */
async function asked(request) {
  try {
    const answer = await request();
    if (answer.status === 200) return answer;
    notice(answer.values.error);
  } catch (error) {
    notice(error.message);
  }
  return null;
}

/** Sends an edit of the current place; with `goesOn`, the next place follows. */
function decide(name, values, goesOn) {
  return save({ ...values, place: edit.place }, name, goesOn);
}

async function save(values, name, goesOn) {
  if (edit.file) {
    notice("The annotation is finished: the server has stopped.");
    return;
  }
  if (edit.trouble) {
    notice(`Not done: ${name}. See the message at the top first.`);
    $("trouble-button").focus();
    return;
  }
  const wanted = { values, name, goesOn };
  const isNamed = values.speaker !== undefined && !name.includes(nameOf(values.speaker));
  const unsaved = `${values.place + 1}: ${name}${isNamed ? `, ${nameOf(values.speaker)}` : ""}`;
  showSaving(true);
  try {
    const wish = { ...values, revision: edit.state.revision };
    const answer = await ask("POST", `${location.pathname}/edit`, wish);
    showSaving(false);
    if (answer.values.needs_name) askForName(wanted, answer.values.letter);
    else if (answer.status === 200) saved(answer.values, wanted);
    else if (answer.status === 409) showTrouble({ is: "stale", unsaved });
    else if (answer.status === 400) notice(refusal(answer.values.error));
    else showTrouble({ is: "gone", why: answer.values.error, unsaved, wanted });
  } catch (error) {
    showSaving(false);
    showTrouble({ is: "gone", why: error.message, unsaved, wanted });
  }
}

function saved(state, { values, name, goesOn }) {
  const place = name === "undo" ? undone(edit.state, state, values.place) : values.place;
  const next = goesOn && $("go-on").checked ? (state.next ?? place) : place;
  closeNaming();
  notice("");
  showState(state, next);
  const words = `${name === "undo" ? "Undone. " : ""}${wordsOf(spanAt(place))}`;
  say(goesOn && state.next === null ? `${words}. All spans are decided.` : words);
}

/** The first place whose decision differs between two states. */
function undone(before, after, otherwise) {
  const place = before.spans.findIndex((old, n) => {
    const now = after.spans[n];
    const isDecided = old.status === "decided" || now.status === "decided";
    const isSame = old.speaker === now.speaker && old.conversation === now.conversation;
    return isDecided && !(isSame && old.status === now.status);
  });
  return place < 0 ? otherwise : place;
}

/** The server's message about an edit, with places counted from 1 as on the page. */
function refusal(error) {
  return error.replace(/^place (\d+): /, (_, n) => `${Number(n) + 1}: `);
}

/* An edit that could not be saved stays visible until the annotator acts. */

function showTrouble(trouble) {
  edit.trouble = trouble;
  if (trouble) closeNaming();
  const box = $("trouble");
  box.hidden = !trouble;
  showSaving(false);
  if (!trouble) return;
  const isStale = trouble.is === "stale";
  $("trouble-text").textContent = isStale ? "This chapter was changed elsewhere." : trouble.why;
  $("trouble-unsaved").textContent = trouble.unsaved ? `Not saved: ${trouble.unsaved}.` : "";
  $("trouble-button").textContent = isStale ? "Show the current state" : "Try again";
}

async function seeToTrouble() {
  const { trouble } = edit;
  if (!trouble) return;
  if (trouble.is === "gone") {
    edit.trouble = null;
    await save(trouble.wanted.values, trouble.wanted.name, trouble.wanted.goesOn);
    if (!edit.trouble) showTrouble(null);
    else say(`Still not saved: ${edit.trouble.why ?? "this chapter was changed elsewhere."}`);
    return;
  }
  const answer = await askState();
  if (!answer) return;
  showTrouble(null);
  notice("");
  showState(answer.values, Math.min(edit.place, answer.values.spans.length - 1));
  say(`This is the current state. ${wordsOf(spanAt(edit.place))}`);
}

async function finish() {
  const answer = await asked(() => ask("POST", "/done", {}));
  if (!answer) return;
  edit.file = answer.values.saved;
  showFinished();
}

addEventListener("beforeunload", (event) => {
  if (edit.isSaving || edit.trouble?.unsaved) event.preventDefault();
});
