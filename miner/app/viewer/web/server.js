"use strict";
/* The server of the page: what is asked of it, one thing after the other, with its token. */

const token = takeToken();
const LONGEST_WAIT = 20_000; // ms; the server itself waits 10 s for a file in use

/** The token of the page's address, which is kept by this window only and seen no longer. */
function takeToken() {
  const given = new URLSearchParams(location.search).get("token");
  sessionStorage.setItem("token", given);
  history.replaceState(null, "", location.pathname + location.hash);
  return given;
}

/** The status and the values of an answer; rejects with a TypeError where there is none. */
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

let last = Promise.resolve();

/** Runs a command after those before it: what is typed ahead is done in order. */
function inTurn(command) {
  last = last.then(command).catch((error) => {
    say(`The page failed: ${error.message}`);
    reportError(error);
  });
  return last;
}
