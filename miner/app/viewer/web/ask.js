"use strict";
/* The dialogs: for a name, for the number of a conversation, and before finishing. */

/** Asks a question; resolves to the answer, or null if cancelled. A choice is [value, ...words]. */
function question({
  title,
  hint = "",
  label,
  value = "",
  names = [],
  choices = [],
  isNumber = false,
}) {
  $("ask-title").textContent = title;
  $("ask-hint").textContent = hint;
  $("ask-label").textContent = label;
  const input = $("ask-input");
  input.value = value;
  input.inputMode = isNumber ? "numeric" : "text";
  $("ask-names").replaceChildren(...names.map((name) => make("option", { value: name })));
  $("ask-choices").replaceChildren(
    ...choices.map(([choice, ...words]) =>
      make("button", { type: "button", data: { choice } }, ...words),
    ),
  );
  $("ask").returnValue = "";
  $("ask").showModal();
  input.select();
  return new Promise((resolve) => {
    $("ask").addEventListener("close", () => resolve($("ask").returnValue || null), { once: true });
  });
}

async function nameSpeaker() {
  const { speakers } = edit.state;
  const speaker = await question({
    title: `${edit.place + 1}: who speaks?`,
    label: "Name",
    names: speakers,
    choices: speakers.map((name) => [name, name]),
  });
  if (speaker !== null) await setSpeaker(speaker);
}

async function rename() {
  const { place, speaker, status } = spanAt(edit.place);
  if (status !== "decided" || !speaker) {
    notice(`${place + 1}: no speaker is decided here, so there is none to rename.`);
    return;
  }
  const name = await question({
    title: `Rename ${nameOf(speaker)}`,
    hint: "In the whole chapter. If another speaker already has the new name, the two become one.",
    label: "New name",
    value: speaker,
    names: edit.state.speakers,
  });
  if (name !== null) await decide(`rename ${speaker}`, { action: "rename", speaker: name });
}

async function resume() {
  const known = edit.state.conversations;
  if (!known.length) {
    notice("No conversation has begun yet: n begins one.");
    return;
  }
  const number = await question({
    title: `${edit.place + 1}: which conversation resumes?`,
    label: "Number",
    isNumber: true,
    choices: known.map(({ number: n, speakers, text }) => [
      n,
      make("b", {}, String(n)),
      ` ${speakers.map(nameOf).join(", ")} `,
      make("q", {}, text),
    ]),
  });
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
  $("finish-close").textContent = "Look at the text";
  $("finish-button").setAttribute("aria-disabled", "true");
  $("saved").textContent = "finished";
  notice("");
  showDesk();
  say($("finish-text").textContent);
}
