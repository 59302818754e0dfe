"use strict";
/* The least confidence: turns that are in no pair of at least this confidence are dimmed, as they
   would be in no pair of `miner mine --min-confidence`. */

let least = 0;

/** Whether the pair of a turn and the next one is as sure as asked. */
function isSurePair(dialogue, turn) {
  return book.layers[view.layer].sure[dialogue][turn - 1] >= least;
}

/** Whether a turn, counted from 1 in its dialogue, is in a pair that is as sure as asked. */
function isSureTurn(dialogue, turn) {
  return isSurePair(dialogue, turn) || isSurePair(dialogue, turn - 1);
}

/** The dialogues and pairs of a layer, and how many of each are left. */
function countSure(sure) {
  let [pairs, pairsLeft, dialogues, dialoguesLeft] = [0, 0, 0, 0];
  for (const confidences of sure) {
    const left = confidences.filter((value) => value >= least).length;
    pairs += confidences.length;
    pairsLeft += left;
    if (confidences.length) dialogues += 1;
    if (left) dialoguesLeft += 1;
  }
  return { pairs, pairsLeft, dialogues, dialoguesLeft };
}

function showLeast() {
  const { sure, name } = book.layers[view.layer];
  const of = (left, all, noun) => `${left.toLocaleString("en")} of ${count(all, noun)}`;
  $("least").disabled = sure === null;
  $("options").classList.toggle("without", sure === null);
  $("least-value").value = percent(sure ? least : 0);
  if (sure === null) {
    $("left").textContent = `${name} gives no confidence`;
    return;
  }
  const { pairs, pairsLeft, dialogues, dialoguesLeft } = countSure(sure);
  const words = [of(dialoguesLeft, dialogues, "dialogue"), of(pairsLeft, pairs, "pair")];
  $("left").textContent = `${words.join(", ")} left`;
}

/** Dims what is less sure than asked in the text. */
function dimText() {
  const { sure } = book.layers[view.layer];
  const isOn = sure !== null && least > 0;
  const shown = view.chapter.layers[view.layer];
  const dialogues = new Map(shown.conversations.map((item) => [item.number, item.dialogue]));
  for (const element of $("chapter").querySelectorAll(".utterance")) {
    const { conversation, turn } = shown.byKey.get(element.dataset.key);
    const isLeft = !isOn || isSureTurn(dialogues.get(conversation), turn);
    element.classList.toggle("unsure", !isLeft);
  }
  for (const [number, lines] of view.brackets) {
    const dialogue = dialogues.get(number);
    const isLeft = !isOn || sure[dialogue].some((value) => value >= least);
    for (const line of lines) line.classList.toggle("unsure", !isLeft);
  }
}

/** Dims the turns and pairs of the conversation in the panel. */
function dimPanel() {
  const { sure } = book.layers[view.layer];
  if (!view.conversation || sure === null) return;
  const { dialogue } = conversationOf(view.conversation);
  for (const turn of $("panel-body").querySelectorAll(".turn"))
    turn.classList.toggle("unsure", least > 0 && !isSureTurn(dialogue, Number(turn.dataset.turn)));
  for (const pair of $("panel-body").querySelectorAll(".pair"))
    pair.classList.toggle("unsure", least > 0 && !isSurePair(dialogue, Number(pair.dataset.turn)));
}

document.addEventListener("miner:chapter", () => {
  showLeast();
  dimText();
});
document.addEventListener("miner:panel", dimPanel);
$("least").addEventListener("input", () => {
  least = Number($("least").value);
  showLeast();
  dimText();
  dimPanel();
});
$("least").addEventListener("change", () => say($("left").textContent));
$("least").value = "0"; // browsers restore values that the page does not know of
