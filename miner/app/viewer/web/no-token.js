"use strict";
/* A window that has the token from before opens the book again; a wrong token is forgotten. */

const isRefused = new URLSearchParams(location.search).has("token");
if (isRefused) {
  sessionStorage.removeItem("token");
  history.replaceState(null, "", location.pathname);
}
const known = sessionStorage.getItem("token");
if (known)
  location.replace(`${location.pathname}?token=${encodeURIComponent(known)}${location.hash}`);
