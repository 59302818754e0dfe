"use strict";
/* The cast of the layer, in the panel, and all that a page with speakers has more than another. */

function renderPerson(person) {
  const here = countIn([person], (number) => number === view.chapter.number);
  const box = make("input", { type: "checkbox", checked: chosen.has(person.id) });
  box.dataset.person = person.id;
  const said = utterancesOf(person).toLocaleString("en");
  const line = make(
    "label",
    {},
    box,
    make("span", { class: "name" }, person.name),
    make("span", { class: "said", title: "Utterances in the book" }, said),
  );
  const about = [othersOf(person), natureOf(person)].filter(Boolean).join(" · ");
  const where = [chaptersOf(person), here ? `${here.toLocaleString("en")} in this chapter` : ""];
  return make(
    "li",
    { class: `by by-${person.colour}` },
    line,
    about ? make("small", {}, about) : null,
    make("small", {}, where.filter(Boolean).join(" · ")),
  );
}

function renderCast() {
  const speaking = castHere().filter(({ chapters }) => chapters.length);
  const silent = castHere().filter(({ chapters }) => !chapters.length);
  const people = speaking.filter(({ id }) => id !== UNKNOWN).length;
  const hint =
    `${count(people, "speaker")} in the book. ` +
    "Choose one or several: what the others say is dimmed.";
  const parts = [
    make("p", { class: "note" }, hint),
    make("ul", { class: "people" }, ...speaking.map(renderPerson)),
  ];
  for (const [words, others] of [
    ["Only spoken to", silent.filter(({ addressed }) => addressed)],
    ["Only mentioned", silent.filter(({ addressed }) => !addressed)],
  ]) {
    if (!others.length) continue;
    const summary = make("summary", {}, `${words}: ${others.length.toLocaleString("en")}`);
    const list = others.map((person) =>
      make("li", {}, [person.name, othersOf(person)].filter(Boolean).join(", ")),
    );
    parts.push(make("details", {}, summary, make("ul", { class: "silent" }, ...list)));
  }
  return parts;
}

/** Shows the cast in the panel, or the conversation again. */
function showCast(isOn) {
  $("panel-body").hidden = isOn;
  $("cast").hidden = !isOn;
  $("show-cast").setAttribute("aria-pressed", String(isOn));
  if (isOn) $("cast").replaceChildren(...renderCast());
  showPanel();
}

/** Opens the cast with the focus on the first chosen speaker; or closes it. */
function openCast() {
  const isThere = !isCovering($("panel")) || $("panel").classList.contains("open");
  if (isThere && !$("cast").hidden) {
    showCast(false);
    if (isCovering($("panel"))) closeDrawers();
    else $("text").focus({ preventScroll: true });
    return;
  }
  if ($("show-cast").hidden) {
    tell(`${names[view.layer]} names no speakers`);
    return;
  }
  if (!isThere) openDrawer("panel");
  showCast(true);
  ($("cast").querySelector(":checked") ?? $("cast").querySelector("input")).focus();
}

function startCast() {
  const properties = { type: "button", id: "show-cast", title: "Who speaks (w)" };
  const button = make("button", properties, "Cast");
  button.setAttribute("aria-pressed", "false");
  button.setAttribute("aria-keyshortcuts", "w");
  button.addEventListener("click", () => showCast($("cast").hidden));
  $("panel-heading").after(button);
  $("panel-body").after(make("div", { id: "cast", hidden: true }));
  $("cast").addEventListener("change", ({ target }) => {
    if (target.checked) chosen.add(target.dataset.person);
    else chosen.delete(target.dataset.person);
    showChosen();
  });
  buildLit();
  document.body.append(card, lit);
  document.addEventListener("miner:chapter", () => {
    const hasCast = castHere().length > 0;
    $("show-cast").hidden = !hasCast;
    if (!$("cast").hidden) showCast(hasCast);
    lightText();
    showLit();
  });
  document.addEventListener("miner:panel", () => {
    if (!$("cast").hidden) $("panel-heading").textContent = "Cast";
    lightPanel();
    showLit();
  });
  $("chapter").addEventListener("click", ({ target }) => {
    if (!target.closest(".who")) return;
    const { key } = target.closest("[data-key]").dataset;
    focusPlace(key, { scroll: false });
    openCard(utteranceAt(key));
  });
  moreKeys.push(
    ["w", "cast: who speaks", openCast],
    ["i", "about the speaker of this utterance", openCardHere],
    ["o", "dim all but this speaker; again, nobody", chooseSpeakerHere],
    ["f", "next utterance of the chosen speakers, or of this one", () => walkChosen(true)],
    ["F", "previous utterance of these speakers", () => walkChosen(false)],
  );
  const sample = make("span", { class: "by by-1" }, make("span", { class: "name" }, "Ann"));
  for (const list of document.querySelectorAll(".marks")) {
    const meaning = list.querySelector(".meaning-of-turn");
    meaning.textContent = "a turn begins; even turns have a dotted line";
    list.append(
      make("dt", {}, sample.cloneNode(true)),
      make(
        "dd",
        {},
        "who speaks; those who speak most have a colour and a line of their own; " +
          "a click or i tells more",
      ),
    );
  }
}

if (casts.some((cast) => cast.size)) startCast();
