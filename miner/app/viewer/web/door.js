"use strict";
/* A window that was let in goes in again; one with a wrong token forgets it. */

const isRefused = new URLSearchParams(location.search).has("token");
if (isRefused) {
  sessionStorage.removeItem("token");
  history.replaceState(null, "", location.pathname);
}
const known = sessionStorage.getItem("token");
if (known) location.replace(`/?token=${encodeURIComponent(known)}${location.hash}`);
