// What a pressed key does; the list of commands, the help and menus.
import { _, findByKey, keysOn, meaning, nameOf, own, seen, typing, works } from "./page.js";
import { isOffered, openForm, sendForm, tick } from "./verbs.js";
import { act } from "./unseen.js";

function step(by) {
  const rows = [...document.querySelectorAll("[data-row]")].filter(seen);
  if (!rows.length) return;
  const here = rows.indexOf(document.activeElement?.closest("[data-row]"));
  const row = rows[here < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, here + by))];
  const target = row.querySelector("[data-row-link]") ?? row;
  if (target === row && !row.hasAttribute("tabindex")) row.tabIndex = -1;
  target.focus();
  row.scrollIntoView({ block: "nearest" });
}

// G and then a letter goes to a page of the navigation.
let wentAt = 0;

document.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  // Enter in a line of text presses the button beside it, where it has one of its own.
  const isLine = event.key === "Enter" && event.target.matches?.("[data-opens] input");
  if (isLine || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) {
    const form = event.target.closest?.("form");
    if (form && form.method !== "dialog") {
      event.preventDefault();
      sendForm(form, event.target);
    }
    return;
  }
  // A reason that was only offered is one line to confirm; after typed text a new line begins.
  if (event.key === "Enter" && !event.shiftKey && !event.altKey && isOffered(event.target)) {
    event.preventDefault();
    if (!event.repeat) sendForm(event.target.form, event.target);
    return;
  }
  if (event.key === "Escape") {
    document.querySelectorAll(".toast").forEach((toast) => toast.remove());
    const open = event.target.closest?.("details:is(.disclosure, [data-menu])[open]");
    if (open) {
      open.open = false;
      open.querySelector("summary").focus();
    }
    return;
  }
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && document.getElementById("commands")) {
    event.preventDefault();
    if (!event.repeat) openCommands();
    return;
  }
  if (!keysOn() || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  // What is typed while the list of errors has the focus is meant for a field. On a card of a run, keys still answer.
  const errors = event.target.closest?.(".error-summary");
  if (errors && !errors.closest("[data-row]")) return;
  const pressed = event.key.toLowerCase();
  const going = Date.now() - wentAt < 2000 && document.querySelector(`[data-go="${CSS.escape(pressed)}"]`);
  const letter = document.activeElement?.closest("[data-row], [data-keys-here]")?.querySelector(`.points [data-key="${CSS.escape(pressed)}"]`);
  const key = letter && seen(letter) ? pressed : meaning(pressed);
  wentAt = 0;
  if (going) going.click();
  else if (key === "g" && document.querySelector("[data-go]")) wentAt = Date.now();
  else if (key === "x" && tick(event.shiftKey)) ;
  else if (key === "?") showDialog("keys");
  else if (key === "j" || key === "k") step(key === "j" ? 1 : -1);
  else {
    const element = key.length === 1 && findByKey(key);
    if (!element) return;
    // A note is rated in two keys: how helpful it is, and one reason, which sends. Several are ticked with the space bar.
    // A card that was taken back has its reason ticked: its letter sends too.
    const isReason = element.matches(".rating .points label");
    if (!isReason || !element.querySelector(":checked")) act(element);
    if (isReason) sendForm(element.closest("form"), element);
  }
  event.preventDefault();
});

// --- Ctrl+K: everything the page can do, found by its name. What sends a form with fields leads to these fields and
// never sends: "Escalate" needs its reason first, as "Dismiss" does. ---
let commands = [];
const asksFirst = (button) =>
  button.matches("button:not([type=button], [formnovalidate])") && button.form?.method === "post"
  && [...button.form.elements].some((one) => one.matches("textarea, select, input:not([type=hidden])") && one.name !== "item");
function runElement(element) {
  if (element.matches(".verb")) openForm(element);
  else if (element.matches("[data-key], [data-key-action]") || !asksFirst(element)) act(element);
  else openForm(element);
}

function openCommands() {
  const dialog = document.getElementById("commands");
  if (dialog.open || document.querySelector("dialog[open]")) return;
  const found = new Map();
  const add = (element, run, said = (name) => name) => {
    const name = nameOf(element);
    if (name && !found.has(said(name))) found.set(said(name), { key: element.dataset.key ?? "", run });
  };
  for (const one of document.querySelectorAll("main [data-key], main button, main .head a, main .btn, .saved-links a")) {
    if (!seen(one) || one.disabled || one.hasAttribute("data-no-default")) continue;
    const isRowButton = one.closest("[data-row]") && one.closest("[data-row]") !== document.activeElement?.closest("[data-row]");
    if (!isRowButton) add(one, () => runElement(one));
  }
  for (const one of document.querySelectorAll(".menu nav a")) add(one, () => one.click(), (page) => _("Go to: %(page)s", { page }));
  commands = [...found].map(([name, command]) => ({ name, ...command }));
  opener = document.activeElement;
  const input = document.getElementById("command");
  input.value = "";
  chosenCommand = 0;
  listCommands();
  dialog.showModal();
  input.focus();
}
function listCommands(at = 0) {
  const input = document.getElementById("command");
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = commands.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  const index = fitting.length ? (at + fitting.length) % fitting.length : -1;
  const list = document.getElementById("command-list");
  list.replaceChildren(
    ...fitting.map((command, number) => {
      const item = document.createElement("li");
      item.id = `command-${number}`;
      item.role = "option";
      item.setAttribute("aria-selected", String(number === index));
      item.append(command.name);
      if (command.key) item.append(Object.assign(document.createElement("kbd"), { textContent: own(command.key).toUpperCase() }));
      item.addEventListener("click", () => runCommand(command));
      return item;
    }),
  );
  if (!fitting.length) {
    const none = document.createElement("li");
    none.role = "option";
    none.setAttribute("aria-disabled", "true");
    none.setAttribute("aria-selected", "false");
    none.textContent = _("Nothing of that name here.");
    list.append(none);
  }
  list.children[index]?.scrollIntoView({ block: "nearest" });
  if (index >= 0) input.setAttribute("aria-activedescendant", `command-${index}`);
  else input.removeAttribute("aria-activedescendant");
  return { index, command: fitting[index] };
}
let chosenCommand = 0;
function runCommand(command) {
  document.getElementById("commands").close();
  // After the dialog has given the focus back, or it would take it from where the command leads.
  setTimeout(() => command.run(), 0);
}
document.getElementById("command")?.addEventListener("input", () => {
  chosenCommand = 0;
  listCommands();
});
document.getElementById("command")?.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") chosenCommand = listCommands(chosenCommand + (event.key === "ArrowDown" ? 1 : -1)).index;
  else if (event.key === "Enter") {
    const { command } = listCommands(chosenCommand);
    if (command) runCommand(command);
  } else return;
  event.preventDefault();
  event.stopPropagation();
});

// --- The help dialog. Without script, the link's address shows it. ---
let opener = null;
export function showDialog(id) {
  const dialog = document.getElementById(id);
  if (!dialog || dialog.open) return;
  for (const line of dialog.querySelectorAll("[data-help]")) line.hidden = !works(line);
  opener = document.activeElement;
  document.getElementById("menu")?.matches(":popover-open") && document.getElementById("menu").hidePopover();
  dialog.showModal();
}
document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const opens = target?.closest("[data-dialog]");
  const closes = target?.closest("[data-close]");
  if (opens) {
    event.preventDefault();
    showDialog(opens.dataset.dialog);
  } else if (closes) {
    const dialog = document.getElementById(closes.dataset.close);
    if (dialog?.open) {
      event.preventDefault();
      dialog.close();
    }
  } else if (target?.matches("dialog")) target.close();
  target?.closest(".toast")?.remove();
  closeMenus(target);
});
// A menu lies over what follows it, so it closes when work goes on elsewhere.
function closeMenus(at) {
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (!menu.contains(at) && !menu.closest(".invalid") && !menu.querySelector(".invalid")) menu.open = false;
  }
}
document.addEventListener("focusin", (event) => closeMenus(event.target));
document.addEventListener("close", () => { if (opener?.isConnected) opener.focus(); opener = null; }, true);
