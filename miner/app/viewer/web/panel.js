"use strict";
/* Around the text: the statistics of the chapter, the list of chapters, the side panel. */

const RATES = [
  ["precision", "P"],
  ["recall", "R"],
  ["f1", "F1"],
];

/** The statistics of a chapter: counts of each layer, and scores if the chapter has gold. */
function renderSummary(book, chapter, shown) {
  const isJudged = chapter.layers.some((layer) => layer?.scores);
  const entry = book.chapters.find((item) => item.number === chapter.number);
  const place = make("span", { class: "chapter-number" }, placeOf(chapter.number));
  const line = make("p", { class: "where" }, place, ` · ${count(entry.words, "word")}`);
  if (book.layers[0].gold) {
    const known = entry.annotated ? "annotated" : "not annotated";
    line.append(" · ", make("span", { class: entry.annotated ? "is-gold" : "" }, known));
  }
  const table = make("table", { class: "numbers" });
  table.append(make("caption", { class: "hidden" }, isJudged ? "Against the gold" : "Counts"));
  const counted = isJudged ? COUNTED.slice(1) : COUNTED; // the scores take the room
  table.append(isJudged ? scoresHead(counted) : countsHead(counted));
  const body = make("tbody");
  for (const [n, layer] of chapter.layers.entries()) {
    if (!layer) continue;
    const row = make("tr", { class: n === shown ? "shown" : "" });
    row.append(make("th", { scope: "row", title: book.layers[n].name }, book.layers[n].name));
    for (const name of counted) {
      row.append(make("td", { class: "count" }, layer.counts[name].toLocaleString("en")));
    }
    if (isJudged) {
      for (const unit of ["start", "pairs"]) {
        for (const [rate] of RATES) row.append(rateCell(layer.scores?.[unit][rate], rate));
      }
    }
    body.append(row);
  }
  table.append(body);
  return [line, make("div", { class: "scrolling" }, table)];
}

/** The number of the last chapter; 0 if the book has no chapters. */
function lastNumber() {
  return Math.max(...book.chapters.map((chapter) => chapter.number));
}

/** The place of a chapter in words. Numbers are those of the data, where chapters count from 1. */
function placeOf(number) {
  const last = lastNumber();
  if (number) return `chapter ${number} of ${last}`;
  return last ? "before chapter 1" : "no chapters";
}

const COUNTED = ["utterances", "conversations", "turns", "pairs"];

function rateCell(value, rate) {
  const text = value === undefined ? "" : value === null ? "–" : value.toFixed(2);
  return make("td", { class: rate }, text);
}

function countsHead(counted) {
  const row = make("tr", {}, make("th", { scope: "col" }, "layer"));
  for (const name of counted) row.append(make("th", { scope: "col", class: "count" }, name));
  return make("thead", {}, row);
}

function scoresHead(counted) {
  const names = make("tr", {}, make("th", { scope: "col", rowSpan: 2 }, "layer"));
  for (const name of counted) {
    names.append(make("th", { scope: "col", rowSpan: 2, class: "count" }, name));
  }
  names.append(make("th", { scope: "colgroup", colSpan: 3, class: "unit" }, "B-START"));
  names.append(make("th", { scope: "colgroup", colSpan: 3, class: "unit" }, "turn pairs"));
  const rates = make("tr");
  for (let unit = 0; unit < 2; unit += 1) {
    for (const [rate, short] of RATES) {
      rates.append(make("th", { scope: "col", class: rate, "aria-label": rate }, short));
    }
  }
  return make("thead", {}, names, rates);
}

/** The list of chapters, with the counts of the shown layer. */
function renderChapterList(book, number, layer, other) {
  return book.chapters.map((chapter) => {
    const counts = chapter.counts[layer] ?? chapter.counts.find((item) => item);
    const notes = [count(counts.conversations, "conversation"), count(counts.turns, "turn")];
    const key = `${Math.min(layer, other)}-${Math.max(layer, other)}`;
    const differing = other === null ? 0 : (chapter.disagreements[key] ?? 0);
    const counted = make("span", { class: "counted" }, chapter.number ? `${chapter.number}` : "");
    const title = make("span", { class: "title" }, chapter.title);
    const link = make("a", { href: `#${chapter.number}` }, counted, title);
    link.append(make("small", {}, counts.utterances ? notes.join(", ") : "no utterances"));
    const more = make("small", { class: "more" });
    if (chapter.annotated) more.append(make("span", { class: "badge" }, "annotated"));
    if (differing) {
      const label = count(differing, "disagreement");
      more.append(make("span", { class: "differing", title: label }, `${differing} ≠`));
    }
    if (more.children.length) link.append(more);
    if (chapter.number === number) link.setAttribute("aria-current", "page");
    return make("li", {}, link);
  });
}

/** The panel: the focused utterance, the turns of its conversation, the disagreements. */
function renderPanel(chapter, names, state) {
  const { layer, other, conversation, focus, disagreements } = state;
  const parts = [];
  const shown = layer === null ? null : chapter.layers[layer];
  const facts = focus ? renderUtterance(chapter, names, state) : null;
  if (facts?.children.length) parts.push(facts);
  const found = shown?.conversations.find((item) => item.number === conversation);
  if (found) parts.push(...renderConversation(chapter, shown, found, focus));
  else if (!facts?.children.length)
    parts.push(make("p", { class: "note" }, "No conversation here."));
  if (other !== null) parts.push(renderDisagreements(chapter, names, state, disagreements));
  return parts;
}

function renderUtterance(chapter, names, { layer, other, focus, disagreements }) {
  const item = chapter.layers[layer].byKey.get(focus);
  const differs = disagreements.find((found) => found.key === focus);
  const list = make("dl", { class: "utterance-facts" });
  const fact = (term, ...said) => list.append(make("dt", {}, term), make("dd", {}, ...said));
  if (item) {
    fact(names[layer], item.says, " ", make("code", {}, item.tag));
    if (item.confidence != null) {
      const bar = make("meter", { min: 0, max: 1, value: item.confidence });
      bar.setAttribute("aria-label", "confidence");
      fact("confidence", bar, " ", percent(item.confidence));
    }
    if (nameOfSpeaker(item)) {
      const sure = item.speaker_confidence;
      fact("speaker", nameOfSpeaker(item), sure == null ? "" : ` (confidence ${percent(sure)})`);
    }
  } else if (differs) fact(names[layer], differs.shown);
  if (differs) fact(names[other], make("strong", {}, `≠ ${differs.other}`));
  return list;
}

function renderConversation(chapter, shown, conversation, focus) {
  const spoken = shown.utterances.filter((item) => item.conversation === conversation.number);
  const turns = grouped(spoken, (item) => item.turn);
  const list = make("ol", { class: "turns" });
  const pairs = new Map(conversation.pairs.map((pair) => [pair[0], pair]));
  for (const [turn, utterances] of turns) {
    const text = utterances.map((item) => textAt(chapter, item).trim()).join(" ");
    const speakers = [...new Set(utterances.map(nameOfSpeaker))].filter(Boolean).join(", ");
    const here = utterances.some((item) => item.key === focus);
    const button = make(
      "button",
      { type: "button", class: "turn", data: { key: utterances[0].key, turn } },
      make("span", {
        class: `mark ${turn % 2 ? "odd" : "even"}${colourOf(utterances[0])}`,
        data: { label: turn },
      }),
      make("span", { class: "hidden" }, `Turn ${turn}. `),
      speakers ? make("b", {}, speakers, ": ") : null,
      make("q", {}, text),
    );
    if (here) button.setAttribute("aria-current", "true");
    const entry = make("li", {}, button);
    if (pairs.has(turn)) entry.append(renderPair(pairs.get(turn), turns.has(turn + 1)));
    list.append(entry);
  }
  const n = turns.size;
  const sub = [count(n, "turn"), count(conversation.pairs.length, "pair")].join(", ");
  const before = conversation.first > 1 ? " It began in an earlier chapter." : "";
  return [make("p", { class: "note" }, `${sub}.${before}`), list];
}

function renderPair([turn, confidence, cause], isAnsweredHere) {
  const parts = [`pair ${turn} → ${turn + 1}`];
  if (!isAnsweredHere) parts.push("answered in the next chapter");
  if (confidence !== null) parts.push(`confidence ${percent(confidence)}`);
  const line = make("p", { class: "pair", data: { turn } }, parts.join(" · "));
  if (cause !== null) {
    const verdict = cause === "" ? "✓ in the gold" : `✗ ${cause}`;
    line.append(" ", make("span", { class: cause === "" ? "right" : "wrong" }, verdict));
  }
  return line;
}

function renderDisagreements(chapter, names, { layer, other, focus }, disagreements) {
  const list = make("ol", { class: "differences" });
  for (const item of disagreements) {
    const excerpt = textAt(chapter, item);
    const button = make(
      "button",
      { type: "button", class: "difference", data: { key: item.key } },
      make("q", {}, excerpt.length > 70 ? `${excerpt.slice(0, 68)}…` : excerpt),
      make("small", {}, `${names[layer]}: ${item.shown}`),
      make("small", {}, `${names[other]}: ${item.other}`),
    );
    if (item.key === focus) button.setAttribute("aria-current", "true");
    list.append(make("li", {}, button));
  }
  const title = `${names[layer]} ≠ ${names[other]}: ${disagreements.length}`;
  return make("section", {}, make("h3", {}, title), list);
}
