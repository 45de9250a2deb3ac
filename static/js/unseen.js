// Posts and notes that must be seen before an answer or a decision about them.
import { _, isInSight, say } from "./page.js";
import { isOffered, openForm } from "./verbs.js";

// --- Content behind "Show content" opens in place. A post cannot be answered or decided before it was shown: its forms
// carry a field that says so. The server refuses it too. What was shown once stays known while the page is open. ---
export const opened = new Set();
// A note counts as read once its last line was in the window. On a phone its answers stick to the window's edge from then on,
// as soon as they have room below that line, so that they never cover the note while it is being read.
const veilOf = (id) => document.querySelector(`[data-veil="${CSS.escape(id)}"]`);
const noteOf = (id) => document.querySelector(`[data-note="${CSS.escape(id)}"]`);
export const notesRead = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) markRead(target);
    else if (opened.has(target.dataset.note)) stick(target);
  }
});
const FOOT = 144; // pixels: the question, its answers, and Skip
export const footsFit = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting) stick(target);
}, { rootMargin: `0px 0px -${FOOT}px 0px` });
function stick(end) {
  end.closest(".card").querySelector(".rate").classList.add("stuck");
}
function markRead(end) {
  const alert = document.getElementById("alert");
  // "Read the note first" is removed, but not before it could be read itself.
  if (!opened.has(end.dataset.note)) setTimeout(() => { if (alert?.textContent === end.dataset.why) alert.replaceChildren(); }, 3000);
  opened.add(end.dataset.note);
  document.querySelectorAll("[data-seen]").forEach(noteSeen);
}
export function show(veil, on) {
  const button = veil.querySelector("button");
  veil.querySelector(".content").hidden = !on;
  button.setAttribute("aria-expanded", String(on));
  button.querySelector("span").textContent = on ? _("Hide content") : _("Show content");
  if (on) opened.add(veil.dataset.veil);
  document.querySelectorAll("[data-seen]").forEach(noteSeen);
}
export function noteSeen(field) {
  if (opened.has(field.dataset.seen)) field.value = field.dataset.seen;
  else if (noteOf(field.dataset.seen)) field.value = "";
}
function unseenBy(form) {
  // A card that still slides is measured where it comes to rest.
  for (const moving of form?.closest("[data-row]")?.getAnimations() ?? []) moving.finish();
  for (const field of form?.querySelectorAll("[data-seen]") ?? []) {
    const end = noteOf(field.dataset.seen);
    if (!field.value && end && isInSight(end)) markRead(end);
    if (!field.value) return end ?? veilOf(field.dataset.seen);
  }
  return null;
}
function leadTo(unseen) {
  const note = unseen.closest(".the-note");
  if (note) {
    // No scrolling while the note fills the window: the reader keeps the place.
    const { top, bottom } = note.getBoundingClientRect();
    note.focus({ preventScroll: true });
    if (top > innerHeight / 2 || bottom < innerHeight) note.scrollIntoView();
  } else unseen.querySelector("button").focus();
  say("alert", unseen.dataset.why);
}
// Before the note was read, its answers cannot be chosen either.
document.addEventListener("click", (event) => {
  const unseen = event.target.closest?.(".rating :is(label, input)") ? unseenBy(event.target.closest("form")) : null;
  if (!unseen) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  leadTo(unseen);
}, true);
document.addEventListener("submit", (event) => {
  const veil = event.target.closest("[data-veil]") ?? veilOf(event.submitter?.name === "show" ? event.submitter.value : "");
  const unseen = event.submitter?.hasAttribute("data-unseen-ok") ? null : unseenBy(event.target);
  // The verbs stand before their reason: the first click or tap fills it in or asks for it, the second sends.
  const early = event.submitter?.matches("#decide .verb:not([data-submit])") && event.submitter;
  const asks = early && !early.form.elements.reason?.value.trim();
  // A reason that was offered for another decision is offered again for this one before it is sent.
  const other = event.submitter?.matches(".verb:not([data-submit])") && event.submitter;
  const isOthers = other && isOffered(other.closest("[data-reasons]")?.querySelector("textarea[name=reason]"));
  if (!veil && !unseen && !asks && !isOthers) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!veil && !unseen) openForm(event.submitter);
  else if (veil) show(veil, veil.querySelector(".content").hidden);
  else leadTo(unseen);
}, true);

export function act(element) {
  const veil = unseenBy(element.closest("form"));
  if (veil && !element.hasAttribute("data-unseen-ok")) return leadTo(veil);
  const action = element.dataset.keyAction ?? "click";
  if (action === "open") openForm(element);
  else if (action === "focus") element.focus();
  else {
    element.click();
    element.querySelector("input")?.focus();
  }
}
