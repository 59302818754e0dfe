"use strict";
/* Text without what a reader does not type: capitals, accents, the form of quotation marks. */

const PLAIN = Object.fromEntries(
  [
    ["‘’‚‛", "'"],
    ["“”„«»", '"'],
    ["–—―‐‑", "-"],
    ["æ", "ae"],
    ["œ", "oe"],
    ["ø", "o"],
    ["ß", "ss"],
    ["ł", "l"],
    ["đ", "d"],
    ["ς", "σ"],
  ].flatMap(([signs, plain]) => [...signs].map((sign) => [sign, plain])),
);
// In such a text each sign stays one sign, so that places stay, too.
const ONE_TO_ONE = /^[\x00-\x7f‘’‚‛“”„«»–—―]*$/;
const CHARACTER = /\P{M}\p{M}*/gu; // a letter or sign with its accents

/** The folded form of a text, in which the words are searched. */
function folded(text) {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
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
  if (ONE_TO_ONE.test(text)) return placesIn(folded(text), query);
  const { whole, starts, ends } = foldedWithPlaces(text);
  return placesIn(whole, query).map(([start, end]) => [starts[start], ends[end - 1]]);
}

function placesIn(text, query) {
  const places = [];
  for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + query.length))
    places.push([at, at + query.length]);
  return places;
}
