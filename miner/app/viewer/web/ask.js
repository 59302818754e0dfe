"use strict";
/* The questions: for a name, for the number of a conversation, and before finishing. */

/* Asking for a name, in the desk. `wanted` is the edit that needs the name; `asked` counts the
   questions, so that keys typed before one opened do nothing after it. */
const naming = { wanted: null, asked: 0 };
const QUESTIONS = {
  same: "Who goes on speaking?",
  other: "Who answers?",
  new: "Who begins the conversation?",
  rename: "What is the new name?",
};

/** Asks for the name that an edit needs. `letter` is offered for a speaker who has no name yet. */
function openNaming({ values, name, goesOn, letter = "", value = "", hint = "" }) {
  naming.wanted = { values, name, goesOn };
  naming.asked += 1;
  const { speakers, characters } = edit.state;
  const isRename = values.action === "rename";
  $("naming-label").textContent =
    `${values.place + 1}: ${QUESTIONS[values.action] ?? "Who speaks?"}`;
  $("naming-hint").textContent =
    hint || (speakers.length ? "A name, or the number of a speaker in the list." : "");
  $("naming-hint").hidden = !$("naming-hint").textContent;
  const names = [...speakers, ...characters];
  $("naming-names").replaceChildren(...names.map((known) => make("option", { value: known })));
  $("naming-letter").textContent = `No name yet: “${letter}”`;
  $("naming-letter").dataset.letter = letter;
  $("naming-letter").hidden = !letter;
  $("naming-unknown").hidden = isRename;
  $("naming-input").value = value;
  $("naming").hidden = false;
  $("desk").classList.add("asking");
  $("naming-input").focus({ preventScroll: true });
  $("naming-input").select();
  requestAnimationFrame(bringIntoSight);
}

/** Asks for a name that the server needs. Who is guessed to begin a conversation is filled in. */
function askForName(wanted, letter) {
  const span = spanAt(wanted.values.place);
  const isGuessed = span.status === "guess" && span.speaker !== "?" && !isUnnamed(span);
  const value = wanted.values.action === "new" && isGuessed ? span.speaker : "";
  openNaming({ ...wanted, letter, value });
}

/** Closes the question without an answer; the focus goes back to the text. */
function closeNaming() {
  if (!naming.wanted) return;
  const hadFocus = $("naming").contains(document.activeElement);
  naming.wanted = null;
  $("naming").hidden = true;
  $("desk").classList.remove("asking");
  if (hadFocus) nearestMark(keyOfSpan(spanAt(edit.place)))?.focus({ preventScroll: true });
}

/** Sends the edit again, now with the name. The question stays open until it is saved. */
function answerNaming(speaker) {
  const { values, name, goesOn } = naming.wanted;
  return save({ ...values, speaker }, name || nameOf(speaker), goesOn);
}

function buildNaming() {
  const answer = (speaker) => inTurn(() => naming.wanted && answerNaming(speaker));
  $("naming").addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = $("naming-input").value;
    const listed = /^[1-9]$/.test(typed) ? edit.state.speakers[Number(typed) - 1] : undefined;
    if (typed.trim()) answer(listed ?? typed);
    else notice("Type a name first.");
  });
  $("naming").addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    closeNaming();
    notice("");
  });
  $("naming-letter").addEventListener("click", () => answer($("naming-letter").dataset.letter));
  $("naming-unknown").addEventListener("click", () => answer("?"));
  $("naming-cancel").addEventListener("click", () => {
    closeNaming();
    notice("");
  });
}

function nameSpeaker() {
  openNaming({
    values: { action: "speaker", place: edit.place },
    name: "",
    goesOn: true,
  });
}

function rename() {
  const { place, speaker, status } = spanAt(edit.place);
  if (status !== "decided" || !speaker) {
    notice(`${place + 1}: no speaker is decided here, so there is none to rename.`);
    return;
  }
  openNaming({
    values: { action: "rename", place },
    name: `rename ${speaker}`,
    goesOn: false,
    value: speaker,
    hint: "In the whole chapter. If another speaker already has the new name, the two become one.",
  });
}

/* The number of a conversation. */

/** Asks which conversation; resolves to the answer, or null if cancelled. */
function askForConversation(title, known) {
  $("ask-title").textContent = title;
  $("ask-input").value = "";
  $("ask-choices").replaceChildren(
    ...known.map(({ number, speakers, text }) =>
      make(
        "button",
        { type: "button", data: { choice: number } },
        make("b", {}, String(number)),
        ` ${speakers.map(nameOf).join(", ")} `,
        make("q", {}, text),
      ),
    ),
  );
  naming.asked += 1;
  $("ask").returnValue = "";
  $("ask").showModal();
  $("ask-input").focus();
  return new Promise((resolve) => {
    $("ask").addEventListener("close", () => resolve($("ask").returnValue || null), { once: true });
  });
}

async function resume() {
  const known = edit.state.conversations;
  if (!known.length) {
    notice("No conversation has begun yet: n begins one.");
    return;
  }
  const title = `${edit.place + 1}: which conversation resumes?`;
  const number = await askForConversation(title, known);
  if (number === null) return;
  if (!/^\d{1,9}$/.test(number.trim())) notice(`“${number}” is not the number of a conversation.`);
  else await decide("resume", { action: "resume", conversation: Number(number) });
}

/* Finishing. */

function askToFinish() {
  if (edit.file) return;
  const { decided, all } = edit.state.progress;
  const left = all - decided;
  $("finish-text").textContent = left
    ? `${decided} of ${all} are decided. You can decide the other ${left} later: ` +
      "run the same command again."
    : `All ${all} are decided.`;
  $("finish-text").append(" Finishing ends the program, for the other chapters, too.");
  const unsaved = edit.trouble?.unsaved;
  $("finish-unsaved").textContent = unsaved ? `Not saved: ${unsaved}.` : "";
  $("finish").showModal();
}

function showFinished() {
  const { decided, all } = edit.state.progress;
  $("finish-title").textContent = "Finished";
  $("finish-text").replaceChildren(
    `${decided} of ${all} are decided and saved in `,
    make("code", {}, edit.file),
    ". The server has stopped; you can close this window.",
  );
  $("finish-now").hidden = true;
  $("finish-chapters").hidden = true;
  $("all-chapters").hidden = true;
  $("finish-close").textContent = "Look at the text";
  $("finish-button").setAttribute("aria-disabled", "true");
  $("saved").textContent = "finished";
  notice("");
  showDesk();
  say($("finish-text").textContent);
}
