// Forms of several verbs: opening one, its default reason, which button is sent; and the ticked rows that they are about.
import { _, closedAround, focusHere, isInSight, nameOf, say, seen } from "./page.js";

// Below the field, the verbs and the line that says which of them is sent come into sight too.
export function showArmed(form) {
  const armed = form?.querySelector("[data-armed]:not([hidden])");
  if (armed && !isInSight(armed)) armed.scrollIntoView({ block: "nearest" });
}

// Opening leads to what must be written, never to the button that sends. Two verbs may share one form: the key
// chooses which of them Ctrl+Enter will send, and a line beside them says so.
export function openForm(element) {
  for (const one of closedAround(element)) one.open = true;
  const scope = element.closest("[data-opens]") ?? element.closest("[data-verbs]") ?? element.closest("details") ?? element.form;
  if (element.hasAttribute("data-counts")) tickHere();
  if (element.form) arm(element);
  const field = scope?.querySelector("select[required]") ?? scope?.querySelector("textarea[name=reason]") ?? scope?.querySelector("textarea") ?? scope?.querySelector("select, input:not([type=hidden])");
  const offered = element.form && offerReason(element);
  focusHere(field ?? element);
  showArmed(element.form);
  if (offered === field) field?.select();
}

// --- A default reason: what this person wrote last for the same verb and category in this tab, else what operators chose.
// It stands selected, so that typing replaces it, and Enter sends it as it is. ---
// In a list it is the reason of the ticked rows' category; for rows of several categories none is remembered.
function remembered(scope, verb) {
  let name = scope.dataset.reasons;
  if (scope.hasAttribute("data-of-rows")) {
    const ticked = [...document.querySelectorAll("[data-row] input[type=checkbox][name=item]:checked")];
    const categories = new Set(ticked.map((one) => one.closest("[data-row]").dataset.category));
    if (categories.size !== 1) return "";
    name = name.replace(/\*$/, [...categories][0]);
  }
  return `reason ${name} ${verb}`;
}
let lastOffered = "";
// Also where the server gave the form back with it: it is still not typed text.
export const isOffered = (field) => Boolean(field?.value) && (field.value === field.dataset.offered || field.value === lastOffered);
function offerReason(button) {
  const scope = button.closest("[data-reasons]");
  const field = scope?.querySelector("textarea[name=reason]");
  if (!field || (field.value.trim() && !isOffered(field))) return null;
  const chosen = scope.querySelector(`[data-default="${CSS.escape(button.value.split(".")[0])}"]`);
  field.value = sessionStorage.getItem(remembered(scope, button.value)) ?? chosen?.dataset.text ?? "";
  field.dataset.offered = lastOffered = field.value;
  sayEnter(field);
  return field.value ? field : null;
}
// The line beside the verbs says which keys send.
function sayEnter(field) {
  for (const one of field.closest("[data-verbs]").querySelectorAll("[data-ctrl]")) one.hidden = isOffered(field);
}
document.addEventListener("input", (event) => {
  if (event.target.dataset?.offered) sayEnter(event.target);
});
document.addEventListener("submit", (event) => {
  const scope = event.submitter?.matches(".verb") && event.submitter.closest("[data-reasons]");
  const reason = scope && scope.querySelector("textarea[name=reason]").value.trim();
  const name = reason && remembered(scope, event.submitter.value);
  if (name) sessionStorage.setItem(name, reason);
});
// What was offered for a decision is sent with no other button.
document.addEventListener("htmx:configRequest", (event) => {
  const by = event.detail.triggeringEvent?.submitter ?? event.detail.elt;
  if (lastOffered && event.detail.parameters.reason === lastOffered && !by.matches(".verb")) event.detail.parameters.reason = "";
});
function arm(chosen) {
  for (const button of chosen.form.querySelectorAll("button")) {
    button.toggleAttribute("data-submit", button === chosen);
    button.classList.toggle("chosen", button === chosen);
  }
  const line = chosen.form.querySelector("[data-armed]");
  if (!line) return;
  line.hidden = false;
  for (const name of line.querySelectorAll("strong")) name.textContent = chosen.dataset.verb ?? nameOf(chosen);
  describe(line);
}
// The field that gets the focus is read out together with what Ctrl+Enter will send from it.
export function describe(line) {
  const field = !line.hidden && line.closest("[data-verbs]")?.querySelector("textarea");
  const ids = field ? (field.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean) : [];
  if (field && !ids.includes(line.id)) field.setAttribute("aria-describedby", [...ids, line.id].join(" "));
}
export function sendForm(form, from) {
  const scope = from.closest("[data-verbs]") ?? form;
  const buttons = [...scope.querySelectorAll("button:not([type=button]), input[type=submit]")].filter(
    (button) => button.form === form && !button.disabled && !button.hasAttribute("data-no-default") && seen(button),
  );
  // A field with a button of its own is sent by that one, whatever was chosen before.
  const own = from.closest("[data-opens]")?.querySelector("button");
  const chosen =
    own ??
    [...form.elements].find((one) => one.hasAttribute("data-submit")) ??
    buttons.find((button) => button === from.closest("button")) ??
    (buttons.length === 1 ? buttons[0] : null);
  // A click and not requestSubmit(): htmx learns from the click which button's value to send.
  if (chosen) chosen.click();
  // Several verbs and none chosen: the server asks which, above the form and with the focus there.
  else if (form.hasAttribute("data-verbs")) form.requestSubmit();
  else {
    say("alert", _("Choose one of the buttons. Nothing was sent."));
    const heading = document.querySelector("main h1");
    if (heading) heading.tabIndex = -1;
    heading?.focus();
  }
}

// --- A chosen reason fills its form's text field at once: in place of the one chosen before, else after what was
// typed. Leaving the choice forgets it, or the server would add a text that was changed since. ---
let filled = "";
document.addEventListener("change", (event) => {
  const name = event.target.dataset?.fills;
  const field = name && event.target.form?.elements[name];
  if (field) fillIn(field, (event.target.selectedOptions?.[0] ?? event.target).dataset.text ?? "");
});
// The reason of a post that was decided earlier: without script the link brings the page with it.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-fills]");
  const field = link && document.getElementById(link.dataset.fills);
  if (!field) return;
  event.preventDefault();
  fillIn(field, link.dataset.text);
  field.focus();
});
function fillIn(field, text) {
  const present = isOffered(field) ? "" : field.value;
  const typed = filled && present.endsWith(filled) ? present.slice(0, -filled.length) : present;
  field.value = typed.trim() && text ? `${typed.trimEnd()}\n${text}` : typed + text;
  filled = text;
}
document.addEventListener("focusout", (event) => {
  if (!event.target.dataset?.fills || event.relatedTarget?.name === event.target.name) return;
  if (event.target.type === "radio") event.target.checked = false;
  else event.target.value = "";
  filled = "";
});

// X ticks the row with the focus, or the first; with Shift every row from the last ticked one to it.
let lastTicked = null;
export function tick(isRange) {
  const boxes = [...document.querySelectorAll("[data-row] input[type=checkbox][name=item]")].filter(seen);
  const row = document.activeElement?.closest("[data-row]") ?? boxes[0]?.closest("[data-row]");
  const box = boxes.find((one) => row?.contains(one));
  if (!box) return false;
  const from = boxes.findIndex((one) => one.closest("[data-row]").id === lastTicked);
  const to = boxes.indexOf(box);
  if (isRange && from >= 0) for (const one of boxes.slice(Math.min(from, to), Math.max(from, to) + 1)) one.checked = true;
  else box.checked = !box.checked;
  delete box.dataset.made;
  lastTicked = row.id;
  box.dispatchEvent(new Event("change", { bubbles: true }));
  if (!document.activeElement?.closest("[data-row]")) (row.querySelector("[data-row-link]") ?? box).focus();
  return true;
}
// In a list, a decision that is chosen while nothing is ticked is about the row with the focus.
function tickHere() {
  const boxes = "[data-row] input[type=checkbox][name=item]";
  const box = document.activeElement?.closest("[data-row]")?.querySelector(boxes);
  const ticked = [...document.querySelectorAll(`${boxes}:checked`)];
  // What a key ticked by itself for another row makes room for this one.
  const made = box && ticked.length === 1 && ticked[0] !== box && "made" in ticked[0].dataset ? ticked[0] : null;
  if (!box || (ticked.length && !made)) return;
  if (made) {
    made.checked = false;
    delete made.dataset.made;
    made.dispatchEvent(new Event("change", { bubbles: true }));
  }
  box.checked = true;
  box.dataset.made = "";
  box.dispatchEvent(new Event("change", { bubbles: true }));
}

// --- "Select all" ticks the boxes of that name in the same form. ---
document.addEventListener("change", (event) => {
  const name = event.target.dataset?.checkAll;
  if (!name) return;
  const scope = event.target.closest("form, table") ?? document;
  for (const box of scope.querySelectorAll(`input[type=checkbox][name="${CSS.escape(name)}"]`)) {
    if (seen(box)) box.checked = event.target.checked;
  }
});

// --- Buttons for ticked rows say how many: "Dismiss 3". ---
export function countTicked() {
  const ticked = document.querySelectorAll("[data-row] input[type=checkbox][name=item]:checked").length;
  for (const button of document.querySelectorAll("[data-counts]")) {
    const name = button.querySelector("small") ?? button.querySelector("span");
    const was = name.textContent;
    const now = ticked ? button.dataset.counts.replace("{count}", ticked) : button.dataset.unticked;
    name.textContent = now;
    if (button.hasAttribute("aria-label")) button.setAttribute("aria-label", button.getAttribute("aria-label").replace(was, now));
    if (button.dataset.verb) button.dataset.verb = now;
    if (button.hasAttribute("data-submit")) for (const said of button.form.querySelectorAll("[data-armed] strong")) said.textContent = button.dataset.verb;
  }
}
document.addEventListener("change", (event) => {
  if (event.target.matches?.("input[type=checkbox]")) countTicked();
});
document.addEventListener("htmx:afterSettle", countTicked);
