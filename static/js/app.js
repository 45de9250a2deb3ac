// What script adds to pages that work without it: keys, counters, local times, focus after a swap.
// ES modules without a build step, and nothing that a strict Content-Security-Policy forbids.
import { _, focusHere, focusOn, hearOnly, keysOn, language, markNewest, nameKeys, narrow, say, seen, tell } from "./page.js";
import { countTicked, describe, showArmed } from "./verbs.js";
import { footsFit, noteSeen, notesRead, opened, show } from "./unseen.js";
import { isAmongFilters } from "./lists.js";
import { bringBack, countDown } from "./forms.js";
import "./keys.js";
import "./session.js";

// --- Passkeys: read only where a form asks for one, also in a dialog that comes later. ---
function readPasskeys() {
  if (document.querySelector("[data-passkey]")) import("./pages/passkeys.js");
}
document.addEventListener("htmx:load", readPasskeys);
readPasskeys();

document.querySelectorAll("#status > .flash").forEach(hearOnly);

// --- Copying the text of a field. Without script it is text to select. ---
document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-copy]") : null;
  const field = button && document.getElementById(button.dataset.copy);
  if (!field) return;
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    say("status", _("Copied."));
  } catch {
    say("alert", _("Your browser does not let us copy. The text is selected: press Ctrl and C."));
  }
});

// --- Counters: code points, as the server counts; spoken only when typing pauses. ---
function count(area) {
  const line = document.getElementById(`${area.id}-count`);
  const left = Number(area.dataset.counter) - [...area.value.replaceAll("\r\n", "\n")].length;
  const characters = Math.abs(left).toLocaleString(language);
  line.textContent = left >= 0 ? _("%(characters)s characters left", { characters }) : _("%(characters)s characters too many", { characters });
  line.classList.toggle("over", left < 0);
}
function addCounter(area) {
  if (document.getElementById(`${area.id}-count`)) return;
  const line = document.createElement("p");
  line.id = `${area.id}-count`;
  line.className = "counter";
  area.after(line);
  area.setAttribute("aria-describedby", `${area.getAttribute("aria-describedby") ?? ""} ${line.id}`.trim());
  count(area);
}
document.addEventListener("input", (event) => { if (event.target.dataset?.counter) count(event.target); });

// --- A note's reasons appear once it is said how helpful it is: they come into sight, for their letters are pressed next. ---
document.addEventListener("change", (event) => {
  if (!event.target.matches?.(".rating [type=radio]")) return;
  const form = event.target.closest("form");
  const points = [...form.querySelectorAll(".points")].filter(seen);
  const end = form.querySelector("[data-submit]") ?? points.at(-1);
  if (points.length && end.getBoundingClientRect().bottom > innerHeight) end.scrollIntoView({ block: "end" });
});

// --- The browser's zone for an account that chose none: the server reads typed times in it. Gone where it is not asked for. ---
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const tells = Boolean(zone) && "asksZone" in document.body.dataset && /^[\w+/-]{1,64}$/.test(zone);
const kept = document.cookie.match(/(?:^|; )bridgenote_zone=([^;]*)/)?.[1];
if (tells ? kept !== zone : kept !== undefined) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `bridgenote_zone=${tells ? zone : "; Max-Age=0"}; Path=/; SameSite=Lax${secure}`;
}
function nameZone(words) {
  if (tells) words.textContent = _("In your timezone, %(zone)s.", { zone: zone.replaceAll("_", " ") });
}

// --- Times in the reader's zone, unless the server already knew it. ---
const clock = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
const exact = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", year: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" });
function localise(time) {
  const moment = new Date(time.dateTime);
  if (Number.isNaN(moment.valueOf())) return;
  if (time.dataset.local === "text") time.textContent = clock.format(moment);
  time.title = exact.format(moment);
}

// A post that fits into three lines needs no "Show the whole post".
function dropUselessFold(few) {
  if (few.scrollHeight <= few.clientHeight && seen(few)) few.parentElement.classList.add("fits");
}

// --- A plot says what is in the column under the pointer; the table beside it says the same without script. ---
document.addEventListener("pointermove", (event) => {
  const plot = event.target instanceof Element && event.target.closest("[data-columns]");
  if (!plot) return;
  const columns = JSON.parse(plot.dataset.columns);
  const { left, width } = plot.getBoundingClientRect();
  const number = Math.floor(((event.clientX - left) / width) * columns.length);
  plot.title = columns[Math.max(0, Math.min(columns.length - 1, number))];
});

function enhance(scope) {
  const each = (selector, work) => {
    if (scope.matches?.(selector)) work(scope);
    scope.querySelectorAll?.(selector).forEach(work);
  };
  each("time[data-local]", localise);
  each("[data-zone-words]", nameZone);
  each("[data-zone-line]", (line) => { if (tells) line.remove(); });
  each("textarea[data-counter]", addCounter);
  each("[data-veil]", (veil) => show(veil, opened.has(veil.dataset.veil) || !veil.querySelector(".content").hidden));
  each("[data-seen]", noteSeen);
  each("[data-note]", (end) => [notesRead, footsFit].forEach((one) => one.observe(end)));
  each(".few", dropUselessFold);
  each("[data-armed]", describe);
  each(".undo", countDown);
  markNewest();
  nameKeys(scope);
  if (!keysOn()) each("[aria-keyshortcuts]", (element) => element.removeAttribute("aria-keyshortcuts"));
}

// --- A run of cards: an answered card slides to its line, and the focus goes on to the next one; where a break is offered,
// there first. The answer brings the next card along. It settles at once (`settle:0ms`), so that no key finds the focus nowhere. ---
const still = matchMedia("(prefers-reduced-motion: reduce)");
let stood = new Map();

function nextCard(after) {
  const cards = [...document.querySelectorAll("#cards > [data-row]")];
  return cards.find((card) => after.compareDocumentPosition(card) & Node.DOCUMENT_POSITION_FOLLOWING) ?? cards[0];
}
function goOn(line) {
  const card = nextCard(line);
  focusOn(card?.querySelector("h2") ?? document.getElementById("run-end-title") ?? line);
  // The line with its Undo stays in sight, and the next card begins right below it: on a phone always, else once the
  // card's answers would be below the window.
  const isBelow = card && card.getBoundingClientRect().bottom > innerHeight;
  if (card && line.nextElementSibling === card && (narrow.matches || isBelow)) line.scrollIntoView();
}
document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
  if (!target.matches("#cards > [data-row]")) return;
  stood = new Map([...target.parentElement.children].map((one) => [one.id, one.getBoundingClientRect().top]));
});
function slide() {
  for (const one of still.matches ? [] : document.querySelectorAll("#cards > *")) {
    const by = stood.get(one.id) - one.getBoundingClientRect().top;
    if (by) one.animate({ translate: [`0 ${by}px`, "0 0"] }, { duration: 120, easing: "ease-out" });
  }
  stood.clear();
}
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("[data-keep-going]") : null;
  if (!link) return;
  const line = link.closest("[data-folded]");
  if (!nextCard(line)) return;
  event.preventDefault();
  link.closest("[data-pause]").remove();
  goOn(line);
});

// Errors come first: the list of them, or the field where one field of a form of verbs is all that is wrong. What is typed
// next is then its text; the list is read out all the same.
function errorsIn(scope) {
  const summary = scope.querySelector(".error-summary");
  const invalid = summary ? [...scope.querySelectorAll("[data-verbs] [aria-invalid]")] : [];
  if (invalid.length !== 1 || !seen(invalid[0]) || summary.querySelectorAll("li").length !== 1) return summary;
  tell("alert", summary.innerText);
  showArmed(invalid[0].form);
  return invalid[0];
}
// --- Focus goes where work continues: to errors first, else to what the new part marks. A poll marks nothing. ---
document.addEventListener("htmx:afterSettle", (event) => {
  const part = event.detail.elt;
  enhance(part);
  const wrong = errorsIn(part);
  const target = wrong ?? (part.matches("[data-focus]") ? part : part.querySelector("[data-focus]"));
  // What is wrong with the filter before is read out.
  if (wrong && isAmongFilters(event)) tell("alert", wrong.innerText);
  else if (target) focusOn(target);
  else if (part.matches("[data-folded]")) {
    const pause = part.querySelector("[data-pause]");
    // Who went on to another card meanwhile stays there: the next key is for that one.
    if (!document.activeElement?.closest("#cards > [data-row]")) pause ? focusOn(pause) : goOn(part);
    slide();
  }
});
document.addEventListener("htmx:load", (event) => enhance(event.detail.elt));
enhance(document.body);
countTicked();
// A list that came back from its form has the form's address: what is loaded again is the list.
const list = document.querySelector("form[data-list]")?.dataset.list;
if (list && new URL(list, location.href).pathname !== location.pathname) history.replaceState(history.state, "", list);
bringBack();
// Errors come first, whatever part of the page the address names.
const wrong = errorsIn(document);
if (wrong) focusHere(wrong);
// The address names the row that was decided last, or that was taken back: work goes on at the first open one from there.
const landed = location.hash.startsWith("#row-") ? document.getElementById(location.hash.slice(1)) : null;
if (landed && !wrong) {
  const rows = [...document.querySelectorAll("[data-row]")].filter((row) => row.querySelector("input[type=checkbox]"));
  const next = rows.find((row) => row === landed || landed.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING) ?? rows[0];
  // After the browser has gone to the row itself, which takes the focus from everything else.
  const goThere = () => next?.querySelector("[data-row-link]")?.focus();
  if (document.readyState === "complete") goThere();
  else addEventListener("load", goThere, { once: true });
}
// The bar of a decision made on the page before is no news to a screen reader: a live region must change to be read.
if (document.querySelector(".undo") && !document.querySelector("#status > *, #alert > *")) {
  setTimeout(() => say("status", _("Decided. You can still undo it.")), 500);
}
