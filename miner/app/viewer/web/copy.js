"use strict";
/* Copies of a conversation: a link to it, its words, and its row of dialogues.jsonl. */

/** Copies a text; false if the browser does not allow it. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text); // there is no clipboard, or a page from a disk may not write to it
  }
}

/** Copies a text by selecting it in a field, as browsers without a clipboard API allow. */
function copySelected(text) {
  const before = document.activeElement;
  const field = make("textarea", { class: "hidden", readOnly: true, value: text });
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  before?.focus({ preventScroll: true });
  return isDone;
}

async function copyAndTell(text, what) {
  const isDone = await copyText(text);
  tell(isDone ? `Copied ${what}` : "Not copied: this browser does not allow it");
}

/** The row of dialogues.jsonl with a conversation of the chapter in it. */
function rowOfConversation(number) {
  const { dialogue } = conversationOf(number);
  const chapter = book.layers[view.layer].begins[dialogue];
  const data = chapter === view.chapter.number ? view.chapter : loadChapter(chapter);
  const row = data.layers[view.layer].dialogues.find((item) => item.dialogue === dialogue);
  const named = (columns, values) =>
    Object.fromEntries(columns.map((name, n) => [name, values[n]]));
  const turns = row.turns.map((values) => named(book.turn_columns, values));
  for (const turn of turns)
    turn.spans = turn.spans.map((values) => named(book.span_columns, values));
  return { ...row, turns };
}

/** The turns of a conversation, one a line, with their speakers if the layer names them. */
function linesOfConversation(number) {
  return rowOfConversation(number).turns.map((turn) => {
    const text = turn.text.replace(/\s+/g, " ");
    return turn.speaker_name ? `${turn.speaker_name}: ${text}` : text;
  });
}

/** Copies the conversation in the panel. */
const COPIES = {
  link(number) {
    const address = addressOfConversation(number);
    linked = address;
    pushAddress(address);
    rememberPlace();
    showLinked();
    return copyAndTell(location.href, `the link to conversation ${number}`);
  },
  text(number) {
    const lines = linesOfConversation(number);
    return copyAndTell(`${lines.join("\n")}\n`, `${count(lines.length, "turn")} as text`);
  },
  json(number) {
    const row = rowOfConversation(number);
    return copyAndTell(`${JSON.stringify(row)}\n`, `dialogue ${row.dialogue} as JSON`);
  },
};
const COPY_BUTTONS = [
  ["link", "Copy link", "l", "Copies the address of this conversation, which opens the page here"],
  ["text", "Text", "y", "Copies the turns, one a line, without quotation marks"],
  ["json", "JSON", "Y", "Copies the conversation as its row in dialogues.jsonl"],
];

function copyConversation(what) {
  if (view.conversation) COPIES[what](view.conversation);
  else say("No conversation here");
}

document.addEventListener("miner:panel", () => {
  if (!view.conversation) return;
  const buttons = COPY_BUTTONS.map(([what, words, key, title]) =>
    make(
      "button",
      {
        type: "button",
        title: `${title} (${key})`,
        data: { copy: what },
        "aria-keyshortcuts": key === "Y" ? "Shift+Y" : key,
        "aria-label": what === "link" ? words : `Copy as ${words}`,
      },
      words,
    ),
  );
  $("panel-body").prepend(make("p", { class: "copies" }, ...buttons));
});

$("panel").addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copyConversation(button.dataset.copy);
});

$("chapter").addEventListener("click", (event) => {
  const anchor = event.target.closest(".anchor");
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  view.conversation = Number(anchor.closest(".segment").dataset.conversation);
  view.focus = null;
  showPanel();
  copyConversation("link");
});
