"use strict";
/* Adds the state of the annotation to the chapter, which the viewer's scripts have rendered. */

function keyOfSpan(span) {
  return keyOf([span.paragraph, span.start, span.end]);
}

function nameOf(speaker) {
  return speaker === "?" ? "unknown speaker" : speaker;
}

/** Whether the speaker of a guess is a letter so far, which the annotator did not choose. */
function isUnnamed({ status, speaker }) {
  const { speakers, characters } = edit.state;
  return status === "guess" && speaker !== "?" && ![...speakers, ...characters].includes(speaker);
}

/** The facts of a span in words: "Emma, conversation 2, B-OTHER". */
function factOf(span) {
  if (span.status === "undecided") return "undecided";
  const isSaid = span.conversation > 0;
  const fact = isSaid
    ? `${nameOf(span.speaker)}${isUnnamed(span) ? "?" : ""}, conversation ${span.conversation}, ${span.tag}`
    : "not speech";
  if (span.status === "decided") return fact;
  const sure = span.sure === null ? "" : `, confidence ${percent(span.sure)}`;
  return `guess: ${fact}${sure}`;
}

/** A span as the page announces it: "12: Emma, conversation 2, B-OTHER". */
function wordsOf(span) {
  return `${span.place + 1}: ${factOf(span)}`;
}

/** Gives each place of the chapter a mark with its speaker and the look of its status. */
function dressChapter(state) {
  const elements = new Map(
    [...$("chapter").querySelectorAll("[data-key]:not(.mark)")].map((element) => [
      element.dataset.key,
      element,
    ]),
  );
  for (const span of state.spans) {
    const element = elements.get(keyOfSpan(span));
    const mark = element.querySelector(".mark") ?? addMark(element);
    element.classList.add(span.status);
    mark.dataset.label = labelOfMark(span, mark.dataset.label);
    mark.setAttribute("aria-label", wordsOf(span));
    mark.title = span.remark ? `${wordsOf(span)} (${span.remark})` : wordsOf(span);
  }
}

/** Marks the guessed turns in the side panel. */
function dressPanel(state) {
  const status = new Map(state.spans.map((span) => [keyOfSpan(span), span.status]));
  for (const turn of $("panel-body").querySelectorAll(".turn")) {
    if (status.get(turn.dataset.key) !== "guess") continue;
    turn.classList.add("guess");
    turn.append(make("small", {}, " guess"));
  }
}

/** Adds a mark to a span that the viewer shows without one: not speech, or undecided. */
function addMark(element) {
  const data = { key: element.dataset.key, label: "" };
  const mark = make("button", { type: "button", class: "mark open", tabindex: "-1", data });
  element.replaceChildren(...withMark(mark, element.textContent));
  return mark;
}

function labelOfMark(span, turn) {
  if (span.status === "undecided") return "undecided";
  const name = span.speaker === "?" ? "unknown" : `${span.speaker}${isUnnamed(span) ? "?" : ""}`;
  const fact = span.conversation === 0 ? "not speech" : turn === "›" ? turn : `${turn} ${name}`;
  return span.status === "guess" ? `guess: ${fact}` : fact;
}

/** The list of the rows that were found on no span of this edition. */
function renderLost(lost) {
  const rows = lost.map((row) => {
    const said = row.conversation
      ? `${nameOf(row.speaker)}, conversation ${row.conversation}`
      : "not speech";
    const remark = row.remark ? ` (${row.remark})` : "";
    const code = make("code", {}, row.fingerprint);
    return make("li", {}, `paragraph ${row.paragraph}: ${said}${remark} `, code);
  });
  const n = count(lost.length, "row");
  const title = `${n} of the file not found in this text, and kept in the file`;
  return make(
    "details",
    { id: "lost", open: true },
    make("summary", {}, title),
    make("ul", {}, ...rows),
  );
}
