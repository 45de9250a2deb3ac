// The thresholds page: a category's histogram, whose two lines are dragged by pointer or by the sliders below it. The number
// fields beside them are what is sent; without this script they and Preview do the same work.
const WIDTH = 400; // of a histogram, in its own units
const form = () => document.getElementById("thresholds-form");
const categories = () => document.querySelectorAll("[data-category]");
const fieldOf = (category, tier) => category.querySelector(`[data-tier=${tier}]`);

// A typed threshold as the server reads it: a decimal comma is fine, empty is null, and what is no number is undefined.
function read(field) {
  const text = field.value.trim().replace(",", ".");
  if (!text) return null;
  const value = Number(text);
  return value >= 0 && value <= 1 ? value : undefined;
}
function draw(category) {
  const tier2 = read(fieldOf(category, "tier2")), tier1 = read(fieldOf(category, "tier1"));
  if (tier2 == null || tier1 === undefined) return; // the lines wait for a number
  const acts = tier1 ?? 1;
  const place = (selector, at, width) => {
    const zone = category.querySelector(selector);
    zone.setAttribute("x", at * WIDTH);
    zone.setAttribute("width", Math.max(0, width * WIDTH));
  };
  place("[data-zone=tier2]", tier2, acts - tier2);
  place("[data-zone=tier1]", acts, 1 - acts);
  const row = document.querySelector(`[data-of="${category.dataset.category}"]`);
  for (const [tier, value] of [["tier2", tier2], ["tier1", tier1]]) {
    const line = category.querySelector(`[data-line=${tier}]`);
    line.setAttribute("x1", (value ?? 1) * WIDTH);
    line.setAttribute("x2", (value ?? 1) * WIDTH);
    const slider = category.querySelector(`[data-slider=${tier}]`);
    const words = value === null ? fieldOf(category, tier).placeholder : String(value);
    slider.value = value ?? 1;
    slider.setAttribute("aria-valuetext", words);
    if (row) row.querySelector(`[data-says=${tier}]`).textContent = words;
  }
}
// One line stops where the other is. The right end of the scale is "never": no score is above 1.
function set(category, tier, value) {
  const other = read(fieldOf(category, tier === "tier2" ? "tier1" : "tier2"));
  const within = (at) => (tier === "tier2" ? Math.min(at, other ?? 1) : Math.max(at, other ?? 0));
  const rounded = within(Math.round(value * 100) / 100);
  fieldOf(category, tier).value = tier === "tier1" && rounded === 1 ? "" : String(rounded);
  draw(category);
}
const tryOut = () => form()?.dispatchEvent(new Event("tried"));

document.addEventListener("input", (event) => {
  const category = event.target.closest?.("[data-category]");
  if (!category) return;
  const { slider } = event.target.dataset;
  if (slider) set(category, slider, Number(event.target.value));
  else draw(category);
  if (!event.target.matches("textarea")) tryOut();
});

// A pointer on the plot takes the nearest line along, and leaves the focus on its slider for the arrow keys.
document.addEventListener("pointerdown", (event) => {
  const plot = event.target instanceof Element && event.button === 0 ? event.target.closest(".histogram > svg") : null;
  if (!plot) return;
  const category = plot.closest("[data-category]");
  const at = ({ clientX }) => {
    const { left, width } = plot.getBoundingClientRect();
    return Math.max(0, Math.min(1, (clientX - left) / width));
  };
  const from = (tier) => Math.abs(Number(category.querySelector(`[data-slider=${tier}]`).value) - at(event));
  const tier = from("tier1") < from("tier2") ? "tier1" : "tier2";
  const move = (moved) => {
    set(category, tier, at(moved));
    tryOut();
  };
  event.preventDefault(); // no text is selected
  plot.setPointerCapture(event.pointerId);
  move(event);
  plot.addEventListener("pointermove", move);
  plot.addEventListener("lostpointercapture", () => {
    plot.removeEventListener("pointermove", move);
    category.querySelector(`[data-slider=${tier}]`).focus({ preventScroll: true });
  }, { once: true });
});

const drawAll = () => categories().forEach(draw);
document.addEventListener("htmx:afterSettle", drawAll);
drawAll();
