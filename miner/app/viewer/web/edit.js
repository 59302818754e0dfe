"use strict";
/* The chapter under annotation: its state, the place that is worked on, and what is done to it.

   Speakers, conversations and tags are the server's: an answer to an edit has the whole state. */

/* `chapter` is what the server put into the page, `state` the newest that it gave. `trouble` is why
   nothing can be saved at present, with the edit that was not. */
const EDGE = 0.15; // of the text that is seen: so near its end no place is worked on
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

/** Shows a state, with the line that is being read where it was, and goes to a place in it. */
function showState(state, place) {
  edit.state = state;
  keepingPlace(() => {
    view.chapter = decodeChapter(loadChapter(state.chapter));
    showChapter();
  });
  goTo(place);
}

/** Goes to a place; a button of the desk that was used keeps the focus. */
function goTo(place) {
  const before = document.activeElement?.closest("#desk button");
  focusPlace(keyOfSpan(spanAt(place)), { scroll: false });
  // After the frame in which a chapter that was built anew is put where it was.
  requestAnimationFrame(bringIntoSight);
  if (before?.isConnected) before.focus({ preventScroll: true });
}

/** Scrolls to the place that is worked on unless it stands well within what is seen of the text. */
function bringIntoSight() {
  const mark = nearestMark(keyOfSpan(spanAt(edit.place)));
  const top = document.querySelector(".bar").getBoundingClientRect().bottom;
  const bottom = innerHeight - heightOfDesk();
  const y = mark.getBoundingClientRect().top;
  const margin = (bottom - top) * EDGE;
  movedAt = performance.now(); // the panel shows this place, not what is scrolled past
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
  if (!spanAt(place)) notice(by > 0 ? "This is the last one." : "This is the first one.");
  else {
    notice("");
    goTo(place);
    if (document.activeElement.closest("#desk")) say(wordsOf(spanAt(place)));
  }
}

/** Goes to what the server says is to be decided next. */
async function goToNext() {
  const answer = await asked(() => ask("GET", `/state?place=${edit.place}`));
  if (!answer) return;
  if (answer.values.revision !== edit.state.revision) showTrouble({ is: "stale", unsaved: "" });
  else if (answer.values.next === null) notice("All are decided.");
  else {
    goTo(answer.values.next);
    say(`${answer.values.next === edit.place ? "" : "Next, "}${wordsOf(spanAt(edit.place))}`);
  }
}

/** The answer of the server, or null where it has none that can be used; the page says why. */
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

/** Does something to the place that is worked on; `goesOn` says whether that is all there. */
function decide(name, values, goesOn) {
  return save({ ...values, place: edit.place }, name, goesOn);
}

async function save(values, name, goesOn) {
  if (edit.file) {
    notice("The annotation is finished: the server has ended.");
    return;
  }
  if (edit.trouble) {
    notice(`Not done: ${name}. See the message at the top first.`);
    $("trouble-button").focus();
    return;
  }
  const wanted = { values, name, goesOn };
  const unsaved = `${values.place + 1}: ${name}`;
  showSaving(true);
  try {
    const answer = await ask("POST", "/edit", { ...values, revision: edit.state.revision });
    showSaving(false);
    if (answer.status === 200) saved(answer.values, wanted);
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
  notice("");
  showState(state, next);
  const words = `${name === "undo" ? "Undone. " : ""}${wordsOf(spanAt(place))}`;
  say(goesOn && state.next === null ? `${words}. All are decided.` : words);
}

/** The place where one state has a decision that another has not. */
function undone(before, after, otherwise) {
  const place = before.spans.findIndex((old, n) => {
    const now = after.spans[n];
    const isDecided = old.status === "decided" || now.status === "decided";
    const isSame = old.speaker === now.speaker && old.conversation === now.conversation;
    return isDecided && !(isSame && old.status === now.status);
  });
  return place < 0 ? otherwise : place;
}

/** What the server says of an edit; people count places from 1. */
function refusal(error) {
  return error.replace(/^place (\d+): /, (_, n) => `${Number(n) + 1}: `);
}

/* Where something does not get through, it stays in sight until somebody has seen to it. */

function showTrouble(trouble) {
  edit.trouble = trouble;
  const box = $("trouble");
  box.hidden = !trouble;
  showSaving(false);
  if (!trouble) return;
  const isStale = trouble.is === "stale";
  $("trouble-text").textContent = isStale ? "This chapter was changed elsewhere." : trouble.why;
  $("trouble-unsaved").textContent = trouble.unsaved ? `Not saved: ${trouble.unsaved}.` : "";
  $("trouble-button").textContent = isStale ? "Show what is there now" : "Try again";
}

async function seeToTrouble() {
  const { trouble } = edit;
  if (!trouble) return;
  if (trouble.is === "gone") {
    edit.trouble = null;
    await save(trouble.wanted.values, trouble.wanted.name, trouble.wanted.goesOn);
    if (!edit.trouble) showTrouble(null);
    else say(`Again: ${edit.trouble.why ?? "this chapter was changed elsewhere."}`);
    return;
  }
  const answer = await asked(() => ask("GET", `/state?place=${edit.place}`));
  if (!answer) return;
  showTrouble(null);
  notice("");
  showState(answer.values, Math.min(edit.place, answer.values.spans.length - 1));
  say(`Shown as it is now. ${wordsOf(spanAt(edit.place))}`);
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
