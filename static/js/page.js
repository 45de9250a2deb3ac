// What every module needs of a page: what is visible, where the focus goes, messages, and which element a key means.
document.documentElement.classList.add("js");
// Texts in the language of the page; English has none beside the source.
const texts = JSON.parse(document.getElementById("script-texts")?.textContent ?? "{}");
export const _ = (text, values = {}) => (texts[text] ?? text).replace(/%\((\w+)\)s/g, (all, name) => values[name] ?? all);
export const language = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
export const keysOn = () => document.body.dataset.keys !== "off";
export const seen = (element) => element.checkVisibility ? element.checkVisibility() : element.offsetParent !== null;
// A field of a dialog that was just closed keeps the focus until the next frame; the key pressed meanwhile is the page's.
export const typing = (element) =>
  element instanceof Element &&
  seen(element) &&
  element.matches("input:not([type=checkbox],[type=radio],[type=button],[type=submit]), textarea, select, [contenteditable=true]");

// The bar below a list sticks to the window's edge: the focus in it must not scroll the ticked rows away.
export function isInSight(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}
export function focusHere(element) {
  element.focus({ preventScroll: element.closest(".bulk") !== null && isInSight(element) });
}

export function closedAround(element) {
  const found = [];
  for (let one = element.closest("details:not([open])"); one; one = one.parentElement.closest("details:not([open])")) found.push(one);
  return found;
}

export function nameOf(element) {
  if (element.getAttribute("aria-label")) return element.getAttribute("aria-label");
  const labelled = element.labels?.[0] ?? element;
  const copy = labelled.cloneNode(true);
  copy.querySelectorAll("kbd, svg, input, select").forEach((part) => part.remove());
  return copy.textContent.replace(/\s+/g, " ").trim();
}

export const narrow = matchMedia("(max-width: 63.99em)");

export function focusOn(target) {
  if (target.tabIndex < 0 && !target.hasAttribute("tabindex")) target.tabIndex = -1;
  focusHere(target);
  // Browsers centre what is taller than the window, and its heading would be out of sight.
  if (target.offsetHeight > innerHeight) target.scrollIntoView();
}

// --- Messages. A click or Escape sends a toast away; good news leaves by itself, a failure stays until the next
// success. No button inside: it would be read out with the message. ---
export function dress(toast) {
  if (toast.closest("#alert")) return;
  queueMicrotask(() => hearOnly(toast)); // by then the part that came with it is in the page
  document.getElementById("alert")?.replaceChildren();
  const leave = () => (toast.matches(":hover") ? setTimeout(leave, 2000) : toast.remove());
  setTimeout(leave, 8000);
}
export function say(region, text) {
  const toast = document.createElement("p");
  toast.className = "toast";
  toast.textContent = text;
  document.getElementById(region)?.replaceChildren(toast);
  dress(toast);
}
// What a heading says already is for screen readers alone.
const words = (element) => element.textContent.trim().replace(/[.!]$/, "").toLowerCase();
export function hearOnly(message) {
  const headings = [...document.querySelectorAll("main :is(h1, h2, .notice)")].filter((heading) => heading.checkVisibility());
  if (headings.some((heading) => words(heading).startsWith(words(message)))) message.className = "vh";
}
// For the ears alone: it stands on the page already.
export function tell(region, text) {
  const heard = document.createElement("p");
  heard.className = "vh";
  heard.textContent = text;
  document.getElementById(region)?.replaceChildren(heard);
}

// --- Keys that this person chose in the settings. Everything below knows each key by what it is at first: what is pressed
// is translated, and what is shown is the person's own. Letters of reasons to tick are no keys that can be chosen. ---
const bound = JSON.parse(document.body.dataset.bindings ?? "{}");
const pressedFor = new Map(Object.entries(bound).map(([first, own]) => [own, first]));
export const meaning = (key) => pressedFor.get(key) ?? (key in bound ? "" : key);
export const own = (key) => bound[key.toLowerCase()]?.toUpperCase() ?? key;
export function nameKeys(scope) {
  if (!pressedFor.size) return;
  for (const one of scope.querySelectorAll("kbd:not([data-named])")) {
    one.dataset.named = "";
    if (!one.closest(".points, .answers, [data-help^='g '], [data-help^='a b']")) one.textContent = own(one.textContent);
  }
  for (const one of scope.querySelectorAll("[aria-keyshortcuts]:not([data-named])")) {
    one.dataset.named = "";
    if (!one.closest(".points, .answers")) one.setAttribute("aria-keyshortcuts", own(one.getAttribute("aria-keyshortcuts")));
  }
}

// A field for one key: what is typed takes the place of what stood there.
document.addEventListener("focusin", (event) => {
  if (event.target.matches?.(".key-fields input")) event.target.select();
});

// --- Keys. `data-key` names the key, `data-key-action` what it does: click, focus or open. ---
export function findByKey(key) {
  const selector = `[data-key="${CSS.escape(key)}"]`;
  const row = document.activeElement?.closest("[data-row], [data-keys-here]");
  // A form that is folded away opens by its key, also one in a section that is.
  const folded = (one) => one.dataset.keyAction === "open" && seen(closedAround(one).at(-1) ?? one);
  const usable = (scope) =>
    [...(scope?.querySelectorAll(selector) ?? [])].filter((one) => (seen(one) || folded(one)) && !one.disabled);
  const inRow = usable(row);
  const candidates = inRow.length ? inRow : usable(document);
  // Pictures that are still covered come before what hides the whole post again.
  // Undo takes back what was answered last, wherever on the page that is.
  markNewest(); // a part that was swapped in a moment ago is not numbered yet
  const latest = usable(document).find((one) => one.classList.contains("latest"));
  return latest ?? candidates.find((one) => one.matches("[data-reveal]:not(:checked)")) ?? candidates[0];
}

// Only the newest of several Undo buttons answers to its key: of those that stand, what came last.
let came = 0;
export function markNewest() {
  const buttons = [...document.querySelectorAll("[data-latest]")];
  for (const button of buttons) button.dataset.order ??= String(++came);
  const last = Math.max(...buttons.map((button) => Number(button.dataset.order)));
  for (const button of buttons) button.classList.toggle("latest", Number(button.dataset.order) === last);
}

// --- The help tells of the keys that find something on this page; with single keys off only Ctrl+Enter is left. ---
export function works(line) {
  const places = line.dataset.helpAt;
  if (!keysOn() && !line.dataset.help.startsWith("ctrl")) return false;
  if (places) return document.querySelector(places) !== null;
  return line.dataset.help.split(" ").some((key) => findByKey(key));
}
