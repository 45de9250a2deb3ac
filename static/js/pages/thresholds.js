// The thresholds page: a category's histogram, whose two lines are dragged by pointer or by the sliders below it. The number
// fields of the table stay what is sent; without this script they and Preview do the same work.
const WIDTH = 400; // of a histogram, in its own units
const form = () => document.getElementById("thresholds-form");
// A category that is only previewed has the fields of the addition.
function fieldOf(name, tier) {
  const { elements } = form() ?? {};
  return elements?.[`${name}_${tier}`] ?? (elements?.["add-name"]?.value.trim() === name ? elements[`add-${tier}`] : null);
}
const pictureOf = (name) => document.getElementById(`picture-${name}`);

// A typed threshold as the server reads it: a decimal comma is fine, empty is null, and what is no number is undefined.
function read(field) {
  const text = (field?.value ?? "").trim().replace(",", ".");
  if (!text) return null;
  const value = Number(text);
  return value >= 0 && value <= 1 ? value : undefined;
}
function draw(picture) {
  const name = picture.dataset.picture;
  const tier2 = read(fieldOf(name, "tier2")), tier1 = read(fieldOf(name, "tier1"));
  if (tier2 == null || tier1 === undefined) return; // the lines wait for a number
  const acts = tier1 ?? 1;
  const place = (selector, at, width) => {
    const zone = picture.querySelector(selector);
    zone.setAttribute("x", at * WIDTH);
    zone.setAttribute("width", Math.max(0, width * WIDTH));
  };
  place("[data-zone=tier2]", tier2, acts - tier2);
  place("[data-zone=tier1]", acts, 1 - acts);
  for (const [tier, value] of [["tier2", tier2], ["tier1", tier1]]) {
    const line = picture.querySelector(`[data-line=${tier}]`);
    line.setAttribute("x1", (value ?? 1) * WIDTH);
    line.setAttribute("x2", (value ?? 1) * WIDTH);
    const words = value === null ? "never" : String(value);
    const slider = picture.querySelector(`[data-slider=${tier}]`);
    slider.value = value ?? 1;
    slider.setAttribute("aria-valuetext", words);
    picture.querySelector(`[data-says=${tier}]`).textContent = words;
  }
}
function show(name) {
  const chosen = pictureOf(name);
  if (!chosen?.hidden) return;
  for (const picture of document.querySelectorAll("[data-picture]")) picture.hidden = picture !== chosen;
  for (const button of document.querySelectorAll("[data-shows]")) button.setAttribute("aria-pressed", String(button.dataset.shows === name));
  form().elements.shown.value = name;
}
// One line stops where the other is. The right end of the scale is "never": no score is above 1.
function set(picture, tier, value) {
  const name = picture.dataset.picture;
  const other = read(fieldOf(name, tier === "tier2" ? "tier1" : "tier2"));
  const within = (at) => (tier === "tier2" ? Math.min(at, other ?? 1) : Math.max(at, other ?? 0));
  const rounded = within(Math.round(value * 100) / 100);
  const field = fieldOf(name, tier);
  if (field) field.value = tier === "tier1" && rounded === 1 ? "" : String(rounded);
  draw(picture);
}
const tryOut = () => form()?.dispatchEvent(new Event("tried"));

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-shows]") : null;
  if (!button) return;
  event.preventDefault();
  show(button.dataset.shows);
});
document.addEventListener("focusin", (event) => {
  const row = event.target.closest?.(".threshold[data-category]");
  if (row) show(row.dataset.category);
});
document.addEventListener("input", (event) => {
  const { slider } = event.target.dataset ?? {};
  const row = event.target.closest?.(".threshold[data-category]");
  if (slider) set(event.target.closest("[data-picture]"), slider, Number(event.target.value));
  else if (row && pictureOf(row.dataset.category)) draw(pictureOf(row.dataset.category));
});
document.addEventListener("change", (event) => {
  if (event.target.closest?.("[data-picture], .threshold[data-category]")) tryOut();
});

// A pointer on the plot takes the nearest line along, and leaves the focus on its slider for the arrow keys.
document.addEventListener("pointerdown", (event) => {
  const plot = event.target instanceof Element && event.button === 0 ? event.target.closest("[data-picture] > svg") : null;
  if (!plot) return;
  const picture = plot.closest("[data-picture]");
  const at = ({ clientX }) => {
    const { left, width } = plot.getBoundingClientRect();
    return Math.max(0, Math.min(1, (clientX - left) / width));
  };
  const from = (tier) => Math.abs(Number(picture.querySelector(`[data-slider=${tier}]`).value) - at(event));
  const tier = from("tier1") < from("tier2") ? "tier1" : "tier2";
  const move = (moved) => set(picture, tier, at(moved));
  event.preventDefault(); // no text is selected
  plot.setPointerCapture(event.pointerId);
  move(event);
  plot.addEventListener("pointermove", move);
  plot.addEventListener("lostpointercapture", () => {
    plot.removeEventListener("pointermove", move);
    picture.querySelector(`[data-slider=${tier}]`).focus({ preventScroll: true });
    tryOut();
  }, { once: true });
});

const drawAll = () => document.querySelectorAll("[data-picture]").forEach(draw);
document.addEventListener("htmx:afterSettle", drawAll);
drawAll();
