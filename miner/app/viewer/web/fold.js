"use strict";
/* Text without what a reader does not type: capitals, accents, the form of quotation marks. */

const PLAIN = {
  "‘": "'", "’": "'", "‚": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"',
  "–": "-", "—": "-", "―": "-", "‐": "-", "‑": "-",
  æ: "ae", œ: "oe", ø: "o", ß: "ss", ł: "l", đ: "d", ς: "σ",
}; // prettier-ignore
const CHARACTER = /\P{M}\p{M}*/gu; // a letter or sign with its accents

/** The folded form of a text, in which the words are searched. */
function folded(text) {
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[^\x00-\x7f]/g, (sign) => PLAIN[sign] ?? sign)
    .replace(/\s/g, " ");
}

/** The folded form of a text, and where each of its letters begins and ends in the text. */
function foldedWithPlaces(text) {
  const [starts, ends] = [[], []];
  let whole = "";
  for (const { 0: character, index } of text.matchAll(CHARACTER)) {
    const letters = folded(character);
    whole += letters;
    for (let n = 0; n < letters.length; n += 1) {
      starts.push(index);
      ends.push(index + character.length);
    }
  }
  return { whole, starts, ends };
}

/** The places of a folded query in a text, as [start, end], in order and without overlap. */
function placesOf(query, text) {
  const { whole, starts, ends } = foldedWithPlaces(text);
  const places = [];
  for (let at = whole.indexOf(query); at >= 0; at = whole.indexOf(query, at + query.length))
    places.push([starts[at], ends[at + query.length - 1]]);
  return places;
}
