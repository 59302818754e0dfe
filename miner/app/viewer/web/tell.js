"use strict";
/* Short messages for everybody: shown for a moment, and announced to screen readers. */

const TOLD_FOR = 4000; // ms
const toast = make("p", { id: "toast", "aria-hidden": "true", hidden: true });
let toldUntil = 0;

document.body.append(toast);

function tell(text) {
  say(text);
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(toldUntil);
  toldUntil = setTimeout(() => {
    toast.hidden = true;
  }, TOLD_FOR);
}
