// Filters of lists, and rows and panels that change while the page is open.
import { _, focusOn, say, seen, typing } from "./page.js";
import { isOffered } from "./verbs.js";

// --- Filters apply on change: addresses leave out what is empty, and the number of matches is read out. ---
export const filters = (event) => event.detail.elt.matches("form.filters") || event.detail.requestConfig?.elt.matches("form.filters");
// A date that is typed changes with each digit: 5 May 2026 is at first one of the year 2. It applies once it is left, or by
// Enter; one that is picked with the pointer applies at once.
let typedDate = null;
document.addEventListener("keydown", ({ target, key, altKey }) => {
  if (target.matches?.(".filters input[type=date]") && !altKey && /^(\d|Backspace|Delete|ArrowUp|ArrowDown)$/.test(key)) typedDate = target;
});
document.addEventListener("focusout", ({ target }) => {
  if (target !== typedDate) return;
  typedDate = null;
  target.dispatchEvent(new Event("change", { bubbles: true }));
});
document.addEventListener("htmx:configRequest", (event) => {
  if (!filters(event)) return;
  const cause = event.detail.triggeringEvent;
  if (cause?.type === "change" && cause.target === typedDate) return event.preventDefault();
  for (const [name, value] of [...event.detail.formData]) if (!value) event.detail.formData.delete(name);
  // Enter in a field is a change and a submit: the list must not be swapped twice, under what is typed next.
  const asked = new URLSearchParams(event.detail.formData).toString();
  if (event.detail.elt.dataset.asked === asked) event.preventDefault();
  event.detail.elt.dataset.asked = asked;
});
// After a change of one filter the focus stays at the next: htmx would give it to what came with autofocus.
export const isAmongFilters = (event) =>
  filters(event) && event.detail.requestConfig?.triggeringEvent?.type === "change" && document.activeElement?.closest("form.filters");
document.addEventListener("htmx:afterSwap", (event) => {
  if (isAmongFilters(event)) document.querySelector(".error-summary")?.removeAttribute("autofocus");
  if (filters(event) && !document.querySelector(".error-summary")) {
    say("status", document.querySelector("#queue-head .lead, main .pager > span, [data-found]")?.textContent ?? _("Nothing matches these filters."));
  }
});

// --- What keeps its height when it is swapped for something smaller: nothing below it moves under a hand. ---
document.addEventListener("htmx:beforeSwap", (event) => {
  const old = event.detail.target;
  if (!event.detail.shouldSwap || !old.matches?.("[data-keep-height]")) return;
  const height = old.offsetHeight;
  document.addEventListener("htmx:afterSwap", () => {
    const fresh = document.getElementById(old.id);
    if (fresh && height) fresh.style.minHeight = `${height}px`;
  }, { once: true });
});

// --- Rows change in place while the page is open: the poll says what each shows, and the answer brings those that changed.
// A tick stays, focus stays on the same control of the row, and a row whose button was just pressed waits for its own answer. ---
// A hidden tab asks once a minute, for its title shows a number, and at once when it is looked at again.
const ASKED_IN_BACKGROUND = 55_000; // milliseconds: a browser lets timers of such tabs run once a minute or less
let askedAt = 0, unasked = false;
document.addEventListener("htmx:configRequest", (event) => {
  if (!event.detail.elt.matches("[data-live-rows], [data-live-item]")) return;
  unasked = document.hidden && Date.now() - askedAt < ASKED_IN_BACKGROUND;
  if (unasked) return event.preventDefault();
  askedAt = Date.now();
  if (document.hidden) event.detail.parameters.background = "1";
  // Text typed about a post is not removed by a colleague's decision.
  const panel = event.detail.elt.closest("#moderator-panel");
  const isWriting = (field) => typing(field) && field === document.activeElement;
  // In a folded part, too; there, what the page came with was not typed.
  const hasWritten = (field) => field.value.trim() && !isOffered(field) && (seen(field) || field.value !== field.defaultValue);
  const texts = "textarea, input:not([type=hidden], [type=checkbox], [type=radio], [type=button], [type=submit])";
  if (panel && ([...panel.querySelectorAll("select")].some(isWriting) || [...panel.querySelectorAll(texts)].some((field) => isWriting(field) || hasWritten(field)))) {
    event.detail.parameters.typed = "1";
  }
  const rows = [...document.querySelectorAll("[data-live]")].map((row) => row.dataset.live);
  if (rows.length) event.detail.parameters.rows = rows.join("~");
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && unasked) document.querySelector("[data-live-rows], [data-live-item]")?.dispatchEvent(new Event("look"));
});

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const old = event.detail.target;
  const fresh = old.matches("[data-live]") && event.detail.fragment.querySelector("[data-live]");
  if (!fresh) return;
  if (old.querySelector(".htmx-request")) {
    event.detail.shouldSwap = false;
    return;
  }
  const next = placeIn(old)?.(fresh);
  if (next) document.addEventListener("htmx:oobAfterSwap", () => next.focus({ preventScroll: true }), { once: true });
});
// A row that is swapped keeps the focus: on the same control, or on its link where that is gone, as Claim is after a claim.
function placeIn(row) {
  const controls = (of) => [...of.querySelectorAll("a, button, input")];
  const focused = controls(row).find((one) => one === document.activeElement);
  const alike = (one) => (focused.id ? one.id === focused.id : one.className === focused.className && one.type === focused.type && one.hasAttribute("data-row-link") === focused.hasAttribute("data-row-link"));
  return focused && ((fresh) => controls(fresh).find(alike) ?? fresh.querySelector("[data-row-link]"));
}
document.addEventListener("htmx:beforeSwap", (event) => {
  const old = event.detail.target;
  if (!event.detail.shouldSwap || !old.matches?.("[data-live]")) return;
  const place = placeIn(old);
  document.addEventListener("htmx:afterSwap", () => {
    const fresh = document.getElementById(old.id);
    if (fresh) place?.(fresh)?.focus({ preventScroll: true });
  }, { once: true });
});
// A poll that brings a whole panel leads the focus that was in it to its heading, and no further.
document.addEventListener("htmx:beforeSwap", (event) => {
  const old = event.detail.target;
  if (!event.detail.shouldSwap || old.id !== "moderator-panel" || !old.contains(document.activeElement)) return;
  if (event.detail.requestConfig.verb !== "get") return;
  document.addEventListener("htmx:afterSettle", () => {
    if (document.activeElement === document.body) focusOn(document.getElementById("decision-title"));
  }, { once: true });
});
