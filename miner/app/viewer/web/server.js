"use strict";
/* Requests to the server of the page, one after another, with the token. */

const token = takeToken();
const LONGEST_WAIT = 20_000; // ms; the server waits 10 s for a file in use

/** Moves the token from the address of the page into the storage of this window. */
function takeToken() {
  const given = new URLSearchParams(location.search).get("token");
  sessionStorage.setItem("token", given);
  history.replaceState(null, "", location.pathname + location.hash);
  return given;
}

/** The status and the values of an answer; rejects with a TypeError if there is no answer. */
async function ask(method, path, values = null) {
  const headers = { "X-Token": token };
  if (values) headers["Content-Type"] = "application/json";
  const body = values && JSON.stringify(values);
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers,
      body,
      cache: "no-store",
      signal: AbortSignal.timeout(LONGEST_WAIT),
    });
    return { status: answer.status, values: await answer.json() };
  } catch (error) {
    throw new TypeError("The server does not answer.", { cause: error });
  }
}

/** The address of another page of the server, for a link. The page that opens hides the token. */
function addressOf(path) {
  return `${path}?token=${encodeURIComponent(token)}`;
}

/* The chosen theme holds for all pages of this window. */
const { dataset } = document.documentElement;
if (sessionStorage.getItem("theme")) dataset.theme = sessionStorage.getItem("theme");
new MutationObserver(() => sessionStorage.setItem("theme", dataset.theme)).observe(
  document.documentElement,
  { attributeFilter: ["data-theme"] },
);

// A page that the browser kept shows an old state when one comes back to it.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

let last = Promise.resolve();

/** Runs a command after all earlier ones, so that keys typed ahead are done in order. */
function inTurn(command) {
  last = last.then(command).catch((error) => {
    say(`The page failed: ${error.message}`);
    reportError(error);
  });
  return last;
}
