// Forms on their way, and what is typed in them: undo, errors, the sign-in, and text that outlives its page.
import { _, closedAround, dress, nameOf, say, tell } from "./page.js";
import { countTicked, isOffered } from "./verbs.js";
import { showDialog } from "./keys.js";
import { filters } from "./lists.js";
import { signsOut } from "./session.js";

const sent = new Set(); // forms that were submitted, whose text the server has
const paths = new Set(); // of forms sent from this page: one that comes back with errors is shown at its own path
const pathOf = (form) => new URL(form.getAttribute("action") ?? "", location.href).pathname;

// --- Undo: the sentence counts down with the bar; screen readers hear it once, as it was sent. ---
function sentIn(seconds) {
  if (seconds === 0) return _("Being sent.");
  return seconds === 1 ? _("Sent in 1 second unless you undo.") : _("Sent in %(seconds)s seconds unless you undo.", { seconds });
}
export function countDown(bar) {
  let left = Number(bar.dataset.left);
  const words = bar.querySelector("p > span");
  const strip = bar.querySelector(".countdown");
  if (strip) strip.style.animationDuration = `${left}s`;
  bar.style.minHeight = `${bar.offsetHeight}px`; // fewer words must not draw up what is below
  const tick = setInterval(() => {
    left -= 1;
    if (!bar.isConnected || left < -5) return clearInterval(tick);
    if (words && left >= 0) words.textContent = sentIn(left);
    if (left === 0) bar.querySelectorAll("button").forEach((button) => { button.disabled = true; });
    // Where nothing asks for the outcome, the bar says so and leaves. Its place stays, so that nothing moves.
    if (bar.closest("[hx-get]")) return;
    if (left === -2) {
      bar.querySelectorAll("form").forEach((form) => form.remove());
      if (words) words.textContent = _("Sent.");
      tell("status", _("Sent."));
    }
    if (left === -5) bar.classList.add("over");
  }, 1000);
}

// --- A page that takes its time: what was pressed shows it, and a second press sends nothing twice. htmx does so for its
// own forms. Coming back with the browser's arrow finds the form as it was. ---
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.classList.contains("sending")) return event.preventDefault();
  form.classList.add("sending");
  sent.add(form);
  paths.add(pathOf(form));
  event.submitter?.classList.add("pressed");
  setTimeout(release, 10000); // a person who stopped the page may press again
});
// Answers of a run wait for each other, and each is given once: htmx would drop a second one whose card is gone, and with
// it those that wait behind it.
const given = new Set();
document.addEventListener("submit", (event) => {
  if (!event.target.matches("#cards form[hx-post]")) return;
  if (!given.has(event.target)) return given.add(event.target);
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);
document.addEventListener("htmx:afterRequest", (event) => given.delete(event.detail.elt));
function release() {
  sent.clear();
  given.clear();
  for (const one of document.querySelectorAll(".sending, .pressed")) one.classList.remove("sending", "pressed");
}
addEventListener("pageshow", release);

document.addEventListener("htmx:responseError", (event) => {
  const { status, responseText } = event.detail.xhr;
  const answer = new DOMParser().parseFromString(responseText, "text/html");
  const words = answer.querySelector("template")?.content.querySelector(".toast")?.textContent;
  if (status === 401) return askToSignIn(answer.getElementById("sign-in-here"));
  document.getElementById("sign-in")?.close(); // a message would be below it
  if (words && [400, 413].includes(status)) say("alert", words);
  else if (status === 403) say("alert", _("You are not allowed to do this. Nothing was changed."));
  else if (status === 404) say("alert", _("This is no longer here. Reload the page to see what is."));
  else if (status === 429) say("alert", _("That was too fast. Wait a minute, then try again."));
  else say("alert", _("Something went wrong on our side. Nothing was lost: try again."));
});
// The sign-in opens above the page, and what is typed on it stays. Afterwards its forms are sent with a fresh token.
function askToSignIn(part) {
  const dialog = document.getElementById("sign-in");
  if (!part || !dialog || dialog.open) return; // without a part the whole page is on its way to the sign-in
  dialog.replaceChildren(part);
  htmx.process(dialog);
  showDialog("sign-in");
}
document.addEventListener("formToken", (event) => {
  for (const field of document.querySelectorAll("[name=csrf_token]")) field.value = event.detail.value;
  document.getElementById("sign-in").close();
  // Parts that stopped asking, because the page was signed out, ask again for what changed since.
  for (const line of document.querySelectorAll("[data-stopped]")) {
    const part = stopped.get(line.dataset.stopped);
    line.replaceWith(part);
    htmx.process(part);
  }
});
const stopped = new Map(); // by what they ask
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.xhr.status === 286) stopped.set(new URL(detail.xhr.responseURL).pathname, detail.target.cloneNode(true));
});
document.addEventListener("htmx:sendError", () => say("alert", _("No connection. Check your network, then try again.")));
document.addEventListener("htmx:oobAfterSwap", (event) => event.detail.target.querySelectorAll(".toast").forEach(dress));

// --- What was typed, chosen or ticked outlives a swap, the next page at the same path (a link that removes a filter, Back)
// and a sign-in. A field is identified by its form's path and its name, a box also by its value. The value of a row's box
// contains the row's version, so a changed row, which the moderator has not seen, is not ticked again. Text whose field is
// not on the page is kept until the field is back. ---
const isBox = (field) => field.matches("[type=checkbox], [type=radio]");
const valueOf = (field) => (isBox(field) ? field.checked : field.value);
const keyOf = (field) => [pathOf(field.form), field.name, isBox(field) ? field.value : ""].join(" ");
function fieldsIn(scope) {
  const texts = "textarea, select:not([multiple]), input:not([type=hidden], [type=password], [type=file], [type=submit], [type=button])";
  return [...scope.querySelectorAll(texts)].filter(
    (field) => field.name && field.form?.method === "post" && !/password|secret|^key$/.test(field.name) && !field.closest("dialog"),
  );
}
function isChanged(field) {
  if (isOffered(field)) return false;
  const initial = field.matches("select") ? (field.querySelector("option[selected]") ?? field.options[0])?.value : field.defaultValue;
  if (valueOf(field) !== (isBox(field) ? field.defaultChecked : initial)) return true;
  // In a form that came back with errors, the server filled in what was typed.
  return document.querySelector("main .error-summary") !== null && (isBox(field) ? field.checked : field.value.trim() !== "");
}
const typedIn = (scope, but) =>
  fieldsIn(scope)
    .filter((field) => field.form !== but && !sent.has(field.form) && isChanged(field))
    .map((field) => ({ field, key: keyOf(field), label: nameOf(field), isTick: field.name === "item", value: valueOf(field) }));
let fieldless = [];
// Returns the message about ticks that are gone and texts whose field is not on the page.
function putBack(typed) {
  const fields = new Map(fieldsIn(document).map((field) => [keyOf(field), field]));
  fieldless = typed.filter(({ key, value, isTick, field: old }) => {
    const field = fields.get(key);
    if (!field) return true;
    if (isBox(field)) field.checked = value;
    else if (!isChanged(field)) {
      field.value = value;
      if (field === document.activeElement && old?.selectionStart != null) field.setSelectionRange(old.selectionStart, old.selectionEnd);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    if (!isTick) for (const one of closedAround(field)) one.open = true;
    return false;
  });
  countTicked();
  const gone = fieldless.filter(({ isTick, value }) => isTick && value);
  fieldless = fieldless.filter(({ isTick }) => !isTick);
  const isHere = ({ key }) => document.getElementById(`row-${key.split(" ")[2].split(".")[0]}`);
  const newer = gone.filter(isHere).length;
  const left = gone.length - newer;
  return [
    left ? _("Ticked posts that are not in this list any more: %(posts)s.", { posts: left }) : "",
    newer ? _("Ticked posts that changed and are not ticked any more: %(posts)s.", { posts: newer }) : "",
    ...fieldless.filter(({ value }) => typeof value === "string").map(({ label }) => _("What you typed for “%(label)s” is kept until its field is back.", { label })),
  ].filter(Boolean).join(" ");
}
const formOf = (element) => (element.matches("form") ? element : element.form ?? element.closest("form"));
let held = [];
function hold(event) {
  if (event.detail.shouldSwap === false) return;
  const { target, requestConfig } = event.detail;
  const form = requestConfig && requestConfig.verb !== "get" ? formOf(requestConfig.elt) : null;
  held.push(...typedIn(target, target.contains(form) ? form : null));
  // htmx swaps before this event's task ends. Fields that are still on the page then were not swapped out.
  queueMicrotask(() => {
    const taken = held.filter(({ field }) => !field.isConnected);
    held = [];
    if (!taken.length && !fieldless.length) return;
    const words = putBack([...fieldless, ...taken]);
    const before = filters(event) ? document.querySelector("#status > .toast")?.textContent : "";
    if (words && taken.length && !form) say("status", [before, words].filter(Boolean).join(" "));
  });
}
document.addEventListener("htmx:beforeSwap", hold);
document.addEventListener("htmx:oobBeforeSwap", hold);
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful && detail.requestConfig.verb !== "get" && detail.xhr.getResponseHeader("HX-Redirect")) sent.add(formOf(detail.elt));
});
// In this tab only, and of this account only. A sign-out, in whichever tab, removes it.
const account = document.body.dataset.account;
const TYPED = "typed";
addEventListener("pagehide", () => {
  const typed = [...fieldless, ...typedIn(document)].map(({ field, ...rest }) => rest);
  if (account && typed.length && !signsOut) sessionStorage.setItem(TYPED, JSON.stringify({ account, paths: [location.pathname, ...paths], typed }));
});
export function bringBack() {
  const saved = JSON.parse(sessionStorage.getItem(TYPED) ?? "null");
  if (!saved) return;
  // On pages of the sign-in it is kept for the page it was typed on, wherever the sign-in leads.
  if (!account) return sessionStorage.setItem(TYPED, JSON.stringify({ ...saved, waits: true }));
  const isHere = saved.paths.includes(location.pathname);
  if (saved.account === account && !isHere && saved.waits) return;
  sessionStorage.removeItem(TYPED);
  if (saved.account !== account || !isHere) return;
  saved.paths.forEach((path) => paths.add(path));
  const words = putBack(saved.typed);
  if (words) say("status", words);
}
