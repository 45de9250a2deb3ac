// The page of the interface: copying samples, and finding an operation by its words. All of it works without script.
const status = document.getElementById("found");
for (const sample of navigator.clipboard ? document.querySelectorAll("[data-copy]") : []) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "small";
  button.textContent = "Copy";
  const label = sample.querySelector("pre").getAttribute("aria-label");
  button.setAttribute("aria-label", `Copy: ${label}`);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(sample.querySelector("code").textContent);
      button.textContent = "Copied";
      status.textContent = "Copied.";
    } catch {
      button.textContent = "Not copied";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  sample.append(button);
}

// On a phone the contents stand above the text, so they begin folded; a search unfolds them.
const groups = document.querySelectorAll("[data-group]");
const narrow = matchMedia("(max-width: 63.99em)").matches;
for (const group of narrow ? groups : []) group.open = false;

const find = document.getElementById("find");
const show = () => {
  const wanted = find.value.trim().toLowerCase().split(/\s+/);
  let count = 0;
  for (const element of document.querySelectorAll("[data-find]")) {
    const fits = wanted.every((word) => element.dataset.find.includes(word));
    element.hidden = !fits;
    count += fits && element.tagName === "ARTICLE";
  }
  for (const group of document.querySelectorAll("[data-group], [data-section]")) {
    group.hidden = ![...group.querySelectorAll("[data-find]")].some((element) => !element.hidden);
  }
  for (const group of narrow ? groups : []) group.open = find.value !== "";
  status.textContent = find.value ? `${count} operations` : "";
};
find.addEventListener("input", show);
// A link into something that the search hides must still lead there.
window.addEventListener("hashchange", () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target?.closest("[hidden]")) {
    find.value = "";
    show();
    target.scrollIntoView();
  }
});
