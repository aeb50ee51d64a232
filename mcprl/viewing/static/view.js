"use strict";

// The first page follows the run: each event is the page's changing part, escaped by the server.
const progress = document.getElementById("progress");
if (progress) {
  const events = new EventSource(progress.dataset.events);
  events.onmessage = (event) => {
    const part = new DOMParser().parseFromString(event.data, "text/html").body;
    progress.replaceChildren(...part.childNodes);
  };
  addEventListener("pagehide", () => events.close());
}

// Keys: j and k go down and up in a list, n and p to its next and previous part, / to the search.
const links = () => [...document.querySelectorAll(".rows tbody a, article h2 a, .columns > section")];
const step = (by) => {
  const all = links();
  const at = all.indexOf(document.activeElement);
  const next = all[Math.min(all.length - 1, Math.max(0, at + by))];
  if (next) {
    if (!next.href) next.tabIndex = -1;
    next.focus();
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
};
const go = (rel) => document.querySelector(`a[rel=${rel}]`)?.click();
const keys = {
  j: () => step(1),
  k: () => step(-1),
  n: () => go("next"),
  p: () => go("prev"),
  "/": () => document.querySelector("input[type=search]")?.focus(),
};
addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

// In a turn's tokens, the arrow keys go from one to the next, and the page says what hovering over it shows.
const said = document.getElementById("token");
addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const turn = document.activeElement.closest(".tokens");
  if (!said || !by || !turn || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const all = [...turn.children];
  const at = all.findIndex((token) => token.classList.contains("at"));
  const next = all[Math.min(all.length - 1, Math.max(0, at + by))];
  document.querySelector(".at")?.classList.remove("at");
  next?.classList.add("at");
  next?.scrollIntoView({ block: "nearest" });
  said.textContent = next ? `${JSON.stringify(next.textContent)}: ${next.title}` : "";
});
