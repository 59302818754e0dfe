"use strict";
/* The data of a chapter -> the elements that show it. Nothing here reads the state of the page:
   renderChapter(chapter, layer) returns the same elements for the same data. */

const BLOCKS_OF_A_PART = 20;
const UNKNOWN = "?"; // in the place of a speaker whom nobody knows
const LETTERS_OF_A_BREAK = 30; // letters that the last line of a paragraph leaves empty, on average

/** Makes an element with properties and children; a child is an element or a string. */
function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "data") Object.assign(element.dataset, value);
    else if (key === "class") element.className = value;
    else if (key in element && key !== "lang") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

function keyOf(place) {
  return place.join(":");
}

function percent(value) {
  return value.toFixed(2);
}

/** Turns the columns of a table into one object per row. */
function rowsOf(columns) {
  const names = Object.keys(columns);
  return columns[names[0]].map((_, n) =>
    Object.fromEntries(names.map((name) => [name, columns[name][n]])),
  );
}

/**
 * Turns the data of a chapter into rows, with look-ups by paragraph and by place.
 *
 * `casts` has a map of people by id for each layer; `person` is the one who speaks an utterance.
 */
function decodeChapter(data, casts = []) {
  const layers = data.layers.map((layer, n) => {
    if (!layer) return null;
    const utterances = rowsOf(layer.utterances);
    for (const item of utterances) {
      item.key = keyOf([item.paragraph, item.start, item.end]);
      item.person = casts[n]?.get(item.speaker ?? UNKNOWN);
    }
    markNames(utterances);
    return {
      ...layer,
      utterances,
      byKey: new Map(utterances.map((item) => [item.key, item])),
      byParagraph: grouped(utterances, (item) => item.paragraph),
      quotedIn: grouped(
        layer.quoted.map((place, index) => ({ place, kind: layer.kinds[index] })),
        ({ place }) => place[0],
      ),
    };
  });
  const blocks = rowsOf(data.blocks);
  const position = new Map(blocks.map((block, n) => [block.index, n]));
  return { ...data, blocks, layers, position };
}

/** Marks the utterances that show a name: the first of a turn, and where a turn changes hands. */
function markNames(utterances) {
  let before = null;
  for (const item of utterances) {
    const goesOn = before?.conversation === item.conversation && before.turn === item.turn;
    item.isNamed = Boolean(item.person) && !(goesOn && before.person === item.person);
    before = item;
  }
}

/** The name of who speaks an utterance; "" if its layer has no speakers. */
function nameOfSpeaker({ person, speaker = "" }) {
  const id = person?.id ?? speaker;
  return id === UNKNOWN ? "unknown speaker" : (person?.name ?? speaker);
}

/** The class of an utterance or a name that has the colour of who speaks. */
function colourOf({ person }) {
  return person ? ` by by-${person.colour}` : "";
}

function grouped(items, keyFor) {
  const groups = new Map();
  for (const item of items) {
    const key = keyFor(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
}

/** The disagreements of two layers in a chapter, seen from the first of them. */
function disagreementsOf(chapter, layer, other) {
  if (other === null || layer === other) return [];
  const rows = chapter.disagreements[`${Math.min(layer, other)}-${Math.max(layer, other)}`] ?? [];
  return rows.map(([paragraph, start, end, first, second]) => ({
    paragraph,
    start,
    end,
    key: keyOf([paragraph, start, end]),
    shown: layer < other ? first : second,
    other: layer < other ? second : first,
  }));
}

/** The text of a place in a block of the chapter. */
function textAt(chapter, { paragraph, start, end }) {
  return chapter.blocks[chapter.position.get(paragraph)].text.slice(start, end);
}

/**
 * Renders a chapter as the blocks of a book page, in one layer (a number), or in none (null).
 *
 * `other` is the number of the layer to compare with, and `names` are the names of the layers.
 * `beside` puts the conversations of that layer into the other margin, and what it says after every
 * utterance on which the two disagree.
 */
function renderChapter(chapter, layer, { other = null, beside = false, names = [] } = {}) {
  const shown = layer === null ? null : chapter.layers[layer];
  const against = other === null ? null : chapter.layers[other];
  const differing = new Map(
    against ? disagreementsOf(chapter, layer, other).map((item) => [item.key, item]) : [],
  );
  const missed = grouped(
    [...differing.values()].filter((item) => !shown.byKey.has(item.key)),
    (item) => item.paragraph,
  );
  const rails = railsOf(chapter, shown);
  const otherRails = beside ? railsOf(chapter, against) : null;
  const fragment = document.createDocumentFragment();
  if (chapter.blocks[0].kind !== "heading") {
    fragment.append(make("h2", { class: "untitled" }, chapter.title));
  }
  const rows = [];
  for (const [n, block] of chapter.blocks.entries()) {
    const context = { shown, differing, beside, otherName: names[other] ?? "" };
    const text = renderBlock(block, context, missed.get(block.index) ?? [], n === 0);
    const row = make(
      "div",
      {
        class: `block ${block.kind}${block.beside ? " beside" : ""}`,
        id: `p${block.index}`,
        data: { paragraph: block.index, conversation: rails[n][0]?.number ?? "" },
      },
      renderRail(rails[n], "", shown),
      text,
    );
    if (otherRails) row.append(renderRail(otherRails[n], names[other], against));
    rows.push(row);
  }
  fragment.append(...partsOf(chapter.blocks, rows));
  return fragment;
}

/**
 * Groups the rows of blocks into parts, which the browser lays out when they become visible.
 *
 * Single paragraphs would be slow: the browser would check thousands of them in every frame.
 * `--letters` lets the style estimate the height of a part that was not laid out yet.
 */
function partsOf(blocks, rows) {
  const parts = [];
  let letters = 0;
  for (const [n, row] of rows.entries()) {
    const isFull = !parts.length || parts.at(-1).children.length >= BLOCKS_OF_A_PART;
    if (isFull && blocks[n - 1]?.kind !== "heading") {
      parts.push(make("div", { class: "part" }));
      letters = 0;
    }
    letters += blocks[n].text.length + LETTERS_OF_A_BREAK;
    parts.at(-1).append(row);
    parts.at(-1).style.setProperty("--letters", letters);
  }
  return parts;
}

/** The conversations in each block, and whether each begins or ends there. */
function railsOf(chapter, layer) {
  const rails = chapter.blocks.map(() => []);
  if (!layer) return rails;
  const spans = grouped(layer.utterances, (item) => item.conversation);
  for (const conversation of layer.conversations) {
    const utterances = spans.get(conversation.number);
    const first = chapter.position.get(utterances[0].paragraph);
    const last = chapter.position.get(utterances.at(-1).paragraph);
    for (let n = first; n <= last; n += 1) {
      rails[n].push({ ...conversation, starts: n === first, ends: n === last });
    }
  }
  return rails;
}

function renderRail(segments, name, layer) {
  const rail = make("div", { class: `rail${name ? " other" : ""}` });
  for (const segment of segments) {
    const open = `segment${segment.starts ? " starts" : ""}${segment.ends ? " ends" : ""}`;
    const line = make("div", { class: open, data: { conversation: segment.number } });
    if (segment.starts) {
      const turns = segment.last - segment.first + 1;
      const whose = name ? ` of ${name}` : "";
      const shown = segment.label ?? segment.number;
      const resumed = segment.resumed ? ", resumed" : "";
      const label = `Conversation ${shown}${whose}${resumed}, ${count(turns, "turn")}`;
      line.append(
        make("button", {
          type: "button",
          class: "number",
          tabindex: "-1",
          "aria-label": label,
          title: label,
          data: { conversation: segment.number, label: shown, other: name ? "yes" : "" },
        }),
      );
    }
    rail.append(line);
  }
  return rail;
}

function count(n, noun) {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

function renderBlock(block, context, missed, isFirstHeading) {
  const name = block.kind === "heading" ? (isFirstHeading ? "h2" : "h3") : "p";
  const element = make(name, { class: "text" });
  let at = 0;
  for (const piece of piecesOf(block, context, missed)) {
    element.append(block.text.slice(at, piece.start));
    element.append(...renderPiece(block, piece, context));
    at = piece.end;
  }
  element.append(block.text.slice(at));
  return element;
}

/** The marked pieces of a block, in order and without overlap. */
function piecesOf(block, { shown }, missed) {
  if (!shown) return [];
  const said = (shown.byParagraph.get(block.index) ?? []).map((item) => ({ ...item, is: "said" }));
  const free = (item) => !said.some((other) => item.start < other.end && other.start < item.end);
  const beside = missed.filter(free).map((item) => ({ ...item, is: "missed" }));
  const taken = [...said, ...beside];
  const quoted = (shown.quotedIn.get(block.index) ?? [])
    .map(({ place, kind }) => ({
      start: place[1],
      end: place[2],
      key: keyOf(place),
      is: "quoted",
      kind,
    }))
    .filter((item) => !taken.some((other) => item.start < other.end && other.start < item.end));
  return [...taken, ...quoted].sort((a, b) => a.start - b.start);
}

function renderPiece(block, piece, { shown, differing, beside, otherName }) {
  const text = block.text.slice(piece.start, piece.end);
  if (piece.is === "quoted") {
    return [make("span", { class: "quoted", data: { key: piece.key, kind: piece.kind } }, text)];
  }
  const differs = differing.get(piece.key);
  const span = make("span", {
    class:
      piece.is === "missed"
        ? "missed"
        : `utterance ${piece.turn % 2 ? "odd" : "even"}${colourOf(piece)}`,
    data: { key: piece.key },
  });
  const name = piece.isNamed ? renderName(piece) : null;
  span.append(...withMark(renderMark(piece, differs, otherName), text, name));
  if (!differs) return [span];
  span.classList.add("differs");
  const flag = make("span", { class: "flag", "aria-hidden": "true" }, "≠");
  const says = make(
    "span",
    { class: "says", "aria-hidden": "true" },
    `${otherName}: ${differs.other}`,
  );
  return beside ? [span, flag, says] : [span, flag];
}

/** A mark, perhaps a name, and a text; the last of them stays on the line of the first letters. */
function withMark(mark, text, name = null) {
  const [first] = /^\S{0,8}/.exec(text);
  return [make("span", { class: "first" }, mark, name, first), text.slice(first.length)];
}

/** The button with the name of who speaks; the name is not part of the text of the book. */
function renderName({ person }) {
  return make("button", {
    type: "button",
    class: "who",
    tabindex: "-1",
    "aria-label": `About ${person.name}`,
    "aria-haspopup": "dialog",
    data: { label: person.name },
  });
}

/** The button before an utterance: it shows the turn, and its label says all that is known. */
function renderMark(piece, differs, otherName) {
  const parts = [];
  if (piece.is === "missed") parts.push("Not an utterance");
  else {
    parts.push(`Conversation ${piece.conversation}, turn ${piece.turn}`);
    if (piece.says !== "begins a turn") parts.push(piece.says);
    if (nameOfSpeaker(piece)) parts.push(nameOfSpeaker(piece));
    if (piece.confidence != null) parts.push(`confidence ${percent(piece.confidence)}`);
  }
  if (differs) parts.push(`${otherName}: ${differs.other}`);
  const goesOn = piece.says === "continues the turn";
  const kind = piece.is === "missed" ? "none" : piece.turn % 2 ? "odd" : "even";
  const mark = make("button", {
    type: "button",
    class: `mark ${kind}${goesOn ? " on" : ""}${colourOf(piece)}`,
    tabindex: "-1",
    "aria-label": parts.join(", "),
    data: { key: piece.key, label: piece.is === "missed" ? "–" : goesOn ? "›" : piece.turn },
  });
  if (piece.confidence != null) {
    mark.classList.add("has-sure");
    mark.style.setProperty("--sure", piece.confidence);
  }
  return mark;
}
