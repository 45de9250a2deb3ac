// What script adds to pages that work without it: keys, counters, local times, focus after a swap.
// One deferred file, no build step, nothing that a strict Content-Security-Policy forbids.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");
  const keysOn = () => document.body.dataset.keys !== "off";
  const seen = (element) => element.checkVisibility ? element.checkVisibility() : element.offsetParent !== null;
  // A field of a dialog that was just closed keeps the focus until the next frame; the key pressed meanwhile is the page's.
  const typing = (element) =>
    element instanceof Element &&
    seen(element) &&
    element.matches("input:not([type=checkbox],[type=radio],[type=button],[type=submit]), textarea, select, [contenteditable=true]");

  // --- Keys that this person chose in the settings. Everything below knows each key by what it is at first: what is pressed
  // is translated, and what is shown is the person's own. Letters of reasons to tick are no keys that can be chosen. ---
  const bound = JSON.parse(document.body.dataset.bindings ?? "{}");
  const pressedFor = new Map(Object.entries(bound).map(([first, own]) => [own, first]));
  const meaning = (key) => pressedFor.get(key) ?? (key in bound ? "" : key);
  const own = (key) => bound[key.toLowerCase()]?.toUpperCase() ?? key;
  function nameKeys(scope) {
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
  function findByKey(key) {
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
  // The bar below a list sticks to the window's edge: the focus in it must not scroll the ticked rows away.
  function isInSight(element) {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  }
  function focusHere(element) {
    element.focus({ preventScroll: element.closest(".bulk") !== null && isInSight(element) });
  }
  // Below the field, the verbs and the line that says which of them is sent come into sight too.
  function showArmed(form) {
    const armed = form?.querySelector("[data-armed]:not([hidden])");
    if (armed && !isInSight(armed)) armed.scrollIntoView({ block: "nearest" });
  }
  function closedAround(element) {
    const found = [];
    for (let one = element.closest("details:not([open])"); one; one = one.parentElement.closest("details:not([open])")) found.push(one);
    return found;
  }
  // Opening leads to what must be written, never to the button that sends. Two verbs may share one form: the key
  // chooses which of them Ctrl+Enter will send, and a line beside them says so.
  function openForm(element) {
    const details = element.closest("details");
    for (const one of closedAround(element)) one.open = true;
    const scope = details ?? element.closest("[data-opens]") ?? element.form;
    if (element.hasAttribute("data-counts")) tickHere();
    if (element.form) arm(element);
    const field = scope?.querySelector("textarea") ?? scope?.querySelector("select, input:not([type=hidden])");
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
  // Also where the server gave the form back with it: it is still no text that somebody typed.
  const isOffered = (field) => Boolean(field?.value) && (field.value === field.dataset.offered || field.value === lastOffered);
  function offerReason(button) {
    const scope = button.closest("[data-reasons]");
    const field = scope?.querySelector("textarea[name=reason]");
    if (!field || (field.value.trim() && !isOffered(field))) return null;
    const chosen = scope.querySelector(`option[data-default="${CSS.escape(button.value.split(".")[0])}"]`);
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
  function describe(line) {
    const field = !line.hidden && line.closest("[data-verbs]")?.querySelector("textarea");
    const ids = field ? (field.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean) : [];
    if (field && !ids.includes(line.id)) field.setAttribute("aria-describedby", [...ids, line.id].join(" "));
  }
  function sendForm(form, from) {
    const scope = from.closest("[data-verbs]") ?? form;
    const buttons = [...scope.querySelectorAll("button:not([type=button]), input[type=submit]")].filter(
      (button) => button.form === form && !button.disabled && !button.hasAttribute("data-no-default") && seen(button),
    );
    const chosen =
      [...form.elements].find((one) => one.hasAttribute("data-submit")) ??
      buttons.find((button) => button === from.closest("button")) ??
      (buttons.length === 1 ? buttons[0] : null);
    // A click and not requestSubmit(): htmx learns from the click which button's value to send.
    if (chosen) chosen.click();
    // Several verbs and none chosen: the server asks which, above the form and with the focus there.
    else if (form.hasAttribute("data-verbs")) form.requestSubmit();
    else {
      say("alert", "Choose one of the buttons. Nothing was sent.");
      const heading = document.querySelector("main h1");
      if (heading) heading.tabIndex = -1;
      heading?.focus();
    }
  }
  function act(element) {
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

  // --- Content behind "Show content" opens in place. Nobody answers or decides about a post before it was shown: its forms
  // carry a field that says so. The server refuses it too. What was shown once stays known while the page is open. ---
  const opened = new Set();
  // A note counts as read once its last line was in the window. On a phone its answers stick to the window's edge only after
  // that line has left the window again, so that they never cover the note while it is being read.
  const veilOf = (id) => document.querySelector(`[data-veil="${CSS.escape(id)}"]`);
  const noteOf = (id) => document.querySelector(`[data-note="${CSS.escape(id)}"]`);
  const notesRead = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) markRead(target);
      else if (opened.has(target.dataset.note)) target.closest(".card").querySelector(".rate").classList.add("stuck");
    }
  });
  function markRead(end) {
    const alert = document.getElementById("alert");
    // "Read the note first" is removed, but not before it could be read itself.
    if (!opened.has(end.dataset.note)) setTimeout(() => { if (alert?.textContent === end.dataset.why) alert.replaceChildren(); }, 3000);
    opened.add(end.dataset.note);
    document.querySelectorAll("[data-seen]").forEach(noteSeen);
  }
  function show(veil, on) {
    const button = veil.querySelector("button");
    veil.querySelector(".content").hidden = !on;
    button.setAttribute("aria-expanded", String(on));
    button.querySelector("span").textContent = on ? "Hide content" : "Show content";
    if (on) opened.add(veil.dataset.veil);
    document.querySelectorAll("[data-seen]").forEach(noteSeen);
  }
  function noteSeen(field) {
    if (opened.has(field.dataset.seen)) field.value = field.dataset.seen;
    else if (noteOf(field.dataset.seen)) field.value = "";
  }
  function unseenBy(form) {
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
    // On a phone the verbs stand far from their reason: the first tap fills it in or asks for it.
    const far = narrow.matches && event.submitter?.matches(".waiting .verbs > .verb") && event.submitter;
    const asks = far && !far.form.elements.reason?.value.trim();
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
  // X ticks the row with the focus, or the first; with Shift every row from the last ticked one to it.
  let lastTicked = null;
  function tick(isRange) {
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
  // G and then a letter goes to a page of the navigation.
  let wentAt = 0;

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
  function nameOf(element) {
    if (element.getAttribute("aria-label")) return element.getAttribute("aria-label");
    const labelled = element.labels?.[0] ?? element;
    const copy = labelled.cloneNode(true);
    copy.querySelectorAll("kbd, svg, input, select").forEach((part) => part.remove());
    return copy.textContent.replace(/\s+/g, " ").trim();
  }
  function openCommands() {
    const dialog = document.getElementById("commands");
    if (dialog.open || document.querySelector("dialog[open]")) return;
    const found = new Map();
    const add = (element, run, prefix = "") => {
      const name = nameOf(element);
      if (name && !found.has(prefix + name)) found.set(prefix + name, { key: element.dataset.key ?? "", run });
    };
    for (const one of document.querySelectorAll("main [data-key], main button, main .head a, main .btn, .saved-links a")) {
      if (!seen(one) || one.disabled || one.hasAttribute("data-no-default")) continue;
      const isRowButton = one.closest("[data-row]") && one.closest("[data-row]") !== document.activeElement?.closest("[data-row]");
      if (!isRowButton) add(one, () => runElement(one));
    }
    for (const one of document.querySelectorAll("nav[aria-label=Main] a")) add(one, () => one.click(), "Go to ");
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
      none.textContent = "Nothing of that name here.";
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

  document.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
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
      act(element);
    }
    event.preventDefault();
  });

  // --- The help tells of the keys that find something on this page; with single keys off only Ctrl+Enter is left. ---
  function works(line) {
    const places = line.dataset.helpAt;
    if (!keysOn() && !line.dataset.help.startsWith("ctrl")) return false;
    if (places) return document.querySelector(places) !== null;
    return line.dataset.help.split(" ").some((key) => findByKey(key));
  }

  // --- The help dialog. Without script, the link's address shows it. ---
  let opener = null;
  function showDialog(id) {
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
      if (!menu.contains(at) && !menu.closest(".invalid")) menu.open = false;
    }
  }
  document.addEventListener("focusin", (event) => closeMenus(event.target));
  document.addEventListener("close", () => { if (opener?.isConnected) opener.focus(); opener = null; }, true);

  // --- Copying the text of a field. Without script it is text to select. ---
  document.addEventListener("click", async (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-copy]") : null;
    const field = button && document.getElementById(button.dataset.copy);
    if (!field) return;
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      say("status", "Copied.");
    } catch {
      say("alert", "Your browser does not let us copy. The text is selected: press Ctrl and C.");
    }
  });

  // --- Counters: code points, as the server counts; spoken only when typing pauses. ---
  function count(area) {
    const line = document.getElementById(`${area.id}-count`);
    const left = Number(area.dataset.counter) - [...area.value.replaceAll("\r\n", "\n")].length;
    line.textContent = left >= 0 ? `${left.toLocaleString()} characters left` : `${(-left).toLocaleString()} characters too many`;
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
  function countTicked() {
    const ticked = document.querySelectorAll("[data-row] input[type=checkbox][name=item]:checked").length;
    for (const button of document.querySelectorAll("[data-counts]")) {
      const number = ticked ? String(ticked) : "selected";
      const words = (text) => text.replace(/ (selected|\d+)(?=$|:)/, ` ${number}`);
      const name = button.querySelector("small") ?? button.querySelector("span");
      name.textContent = words(name.textContent);
      if (button.hasAttribute("aria-label")) button.setAttribute("aria-label", words(button.getAttribute("aria-label")));
      if (button.dataset.verb) button.dataset.verb = words(button.dataset.verb);
      if (button.hasAttribute("data-submit")) for (const said of button.form.querySelectorAll("[data-armed] strong")) said.textContent = button.dataset.verb;
    }
  }
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("input[type=checkbox]")) countTicked();
  });
  document.addEventListener("htmx:afterSettle", countTicked);

  // --- A chosen template fills its form's text field at once: in place of the one chosen before, else after what was
  // typed. Leaving the list forgets the choice, or the server would add a text that was changed since. ---
  let filled = "";
  document.addEventListener("change", (event) => {
    const name = event.target.dataset?.fills;
    const field = name && event.target.form?.elements[name];
    if (!field) return;
    const text = event.target.selectedOptions[0]?.dataset.text ?? "";
    const present = isOffered(field) ? "" : field.value;
    const typed = filled && present.endsWith(filled) ? present.slice(0, -filled.length) : present;
    field.value = typed.trim() && text ? `${typed.trimEnd()}\n${text}` : typed + text;
    filled = text;
  });
  document.addEventListener("focusout", (event) => {
    if (!event.target.dataset?.fills) return;
    event.target.value = "";
    filled = "";
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
    if (tells) words.textContent = `In your timezone, ${zone.replaceAll("_", " ")}.`;
  }

  // --- Times in the reader's zone, unless the server already knew it. ---
  const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const exact = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" });
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
    each("[data-note]", (end) => notesRead.observe(end));
    each(".few", dropUselessFold);
    each("[data-armed]", describe);
    each(".undo", countDown);
    markNewest();
    nameKeys(scope);
    if (!keysOn()) each("[aria-keyshortcuts]", (element) => element.removeAttribute("aria-keyshortcuts"));
  }

  // --- Undo: the sentence counts down with the bar; screen readers hear it once, as it was sent. ---
  function countDown(bar) {
    let left = Number(bar.dataset.left);
    const words = bar.querySelector("p > span");
    const strip = bar.querySelector(".countdown");
    if (strip) strip.style.animationDuration = `${left}s`;
    bar.style.minHeight = `${bar.offsetHeight}px`; // fewer words must not draw up what is below
    const tick = setInterval(() => {
      left -= 1;
      if (!bar.isConnected || left < -5) return clearInterval(tick);
      if (words && left >= 0) words.textContent = left > 0 ? `Sent in ${left} ${left === 1 ? "second" : "seconds"} unless you undo.` : "Being sent.";
      if (left === 0) bar.querySelectorAll("button").forEach((button) => { button.disabled = true; });
      // Where nothing asks for the outcome, the bar says so and leaves. Its place stays, so that nothing moves.
      if (bar.closest("[hx-get]")) return;
      if (left === -2) {
        bar.querySelectorAll("form").forEach((form) => form.remove());
        if (words) words.textContent = "Sent.";
        tell("status", "Sent.");
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
  function release() {
    sent.clear();
    for (const one of document.querySelectorAll(".sending, .pressed")) one.classList.remove("sending", "pressed");
  }
  addEventListener("pageshow", release);

  // --- Messages. A click or Escape sends a toast away; good news leaves by itself, a failure stays until the next
  // success. No button inside: it would be read out with the message. ---
  function dress(toast) {
    if (toast.closest("#alert")) return;
    document.getElementById("alert")?.replaceChildren();
    const leave = () => (toast.matches(":hover") ? setTimeout(leave, 2000) : toast.remove());
    setTimeout(leave, 8000);
  }
  function say(region, text) {
    const toast = document.createElement("p");
    toast.className = "toast";
    toast.textContent = text;
    document.getElementById(region)?.replaceChildren(toast);
    dress(toast);
  }
  // For the ears alone: it stands on the page already.
  function tell(region, text) {
    const heard = document.createElement("p");
    heard.className = "vh";
    heard.textContent = text;
    document.getElementById(region)?.replaceChildren(heard);
  }
  document.addEventListener("htmx:responseError", (event) => {
    const { status, responseText } = event.detail.xhr;
    const answer = new DOMParser().parseFromString(responseText, "text/html");
    const words = answer.querySelector("template")?.content.querySelector(".toast")?.textContent;
    if (status === 401) return askToSignIn(answer.getElementById("sign-in-here"));
    document.getElementById("sign-in")?.close(); // a message would be below it
    if (words && [400, 413].includes(status)) say("alert", words);
    else if (status === 403) say("alert", "You are not allowed to do this. Nothing was changed.");
    else if (status === 404) say("alert", "This is no longer here. Reload the page to see what is.");
    else if (status === 429) say("alert", "That was too fast. Wait a minute, then try again.");
    else say("alert", "Something went wrong on our side. Nothing was lost: try again.");
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
  document.addEventListener("htmx:sendError", () => say("alert", "No connection. Check your network, then try again."));
  document.addEventListener("htmx:oobAfterSwap", (event) => event.detail.target.querySelectorAll(".toast").forEach(dress));

  // --- What was typed, chosen or ticked outlives a swap, the next page at the same path (a link that removes a filter, Back)
  // and a sign-in. A field is identified by its form's path and its name, a box also by its value. The value of a row's box
  // contains the row's version, so a changed row, which the moderator has not seen, is not ticked again. Text whose field is
  // not on the page is kept until the field is back. ---
  const sent = new Set(); // forms that were submitted, whose text the server has
  const isBox = (field) => field.matches("[type=checkbox], [type=radio]");
  const valueOf = (field) => (isBox(field) ? field.checked : field.value);
  const pathOf = (form) => new URL(form.getAttribute("action") ?? "", location.href).pathname;
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
    const items = (number) => `${number} ticked ${number === 1 ? "item" : "items"}`;
    const newer = gone.filter(isHere).length;
    const left = gone.length - newer;
    return [
      left ? `${items(left)} ${left === 1 ? "is" : "are"} not in this list any more.` : "",
      newer ? `${items(newer)} changed and ${newer === 1 ? "is" : "are"} not ticked any more.` : "",
      ...fieldless.filter(({ value }) => typeof value === "string").map(({ label }) => `What you typed for “${label}” is kept until its field is back.`),
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
  // In this tab only, and of this account only. A sign-out in this tab removes it.
  const account = document.body.dataset.account;
  const TYPED = "typed";
  const paths = new Set(); // of forms sent from this page: one that comes back with errors is shown at its own path
  let signsOut = false;
  document.addEventListener("submit", (event) => { signsOut ||= event.target.matches("form.account"); });
  addEventListener("pagehide", () => {
    const typed = [...fieldless, ...typedIn(document)].map(({ field, ...rest }) => rest);
    if (signsOut) sessionStorage.removeItem(TYPED);
    else if (account && typed.length) sessionStorage.setItem(TYPED, JSON.stringify({ account, paths: [location.pathname, ...paths], typed }));
  });
  function bringBack() {
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
  // A tab that nobody looks at asks once a minute, for its title shows a number, and at once when it is looked at again.
  const ASKED_IN_BACKGROUND = 55_000; // milliseconds: a browser lets timers of such tabs run once a minute or less
  let askedAt = 0, unasked = false;
  document.addEventListener("htmx:configRequest", (event) => {
    if (!event.detail.elt.matches("[data-live-rows], [data-live-item]")) return;
    unasked = document.hidden && Date.now() - askedAt < ASKED_IN_BACKGROUND;
    if (unasked) return event.preventDefault();
    askedAt = Date.now();
    // What somebody writes or has written about an item is not taken away by a colleague's decision.
    const panel = event.detail.elt.closest("#moderator-panel");
    const isWriting = (field) => typing(field) && field === document.activeElement;
    // In a folded part, too; there, what the page came with is nobody's text.
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
  // --- A plot says what is in the column under the pointer; the table beside it says the same without script. ---
  document.addEventListener("pointermove", (event) => {
    const plot = event.target instanceof Element && event.target.closest("[data-columns]");
    if (!plot) return;
    const columns = JSON.parse(plot.dataset.columns);
    const { left, width } = plot.getBoundingClientRect();
    const number = Math.floor(((event.clientX - left) / width) * columns.length);
    plot.title = columns[Math.max(0, Math.min(columns.length - 1, number))];
  });
  // --- A closed filter of several values says what is ticked in it, in the words of the server (SeveralField.in_words). ---
  document.addEventListener("change", (event) => {
    const filter = event.target.closest?.(".filters .several");
    if (!filter) return;
    const nameIn = (field) => nameOf(field.closest(".field:not(.several)")?.querySelector("label, legend") ?? field);
    const isMore = filter.matches(".more-filters");
    const set = [...filter.querySelectorAll("input, select")].filter((field) => (field.matches("[type=checkbox]") ? field.checked : field.value));
    const words = [...new Set(set.map(isMore ? nameIn : nameOf))];
    const none = isMore ? "None" : "All";
    filter.querySelector(".chosen-now").textContent = words.length > 2 && !isMore ? `${words.length} chosen` : words.join(", ") || none;
  });
  // --- Filters apply on change: addresses leave out what is empty, and the number of matches is read out. ---
  const filters = (event) => event.detail.elt.matches("form.filters") || event.detail.requestConfig?.elt.matches("form.filters");
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
  const isAmongFilters = (event) =>
    filters(event) && event.detail.requestConfig?.triggeringEvent?.type === "change" && document.activeElement?.closest("form.filters");
  document.addEventListener("htmx:afterSwap", (event) => {
    if (isAmongFilters(event)) document.querySelector(".error-summary")?.removeAttribute("autofocus");
    if (filters(event) && !document.querySelector(".error-summary")) {
      say("status", document.querySelector("#queue-head .lead, #history-list .pager > span")?.textContent ?? "Nothing matches these filters.");
    }
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
  // --- A run of cards: an answered card folds to a line, and the focus goes on to the next one; where a break is offered,
  // there first. The next cards load by themselves: who is faster than they are waits on the line. ---
  let awaited = false;
  const narrow = matchMedia("(max-width: 63.99em)");
  function nextCard(after) {
    const cards = [...document.querySelectorAll("#cards > [data-row]")];
    return cards.find((card) => after.compareDocumentPosition(card) & Node.DOCUMENT_POSITION_FOLLOWING) ?? cards[0];
  }
  function goOn(line) {
    const card = nextCard(line);
    awaited = !card && document.getElementById("more-cards") !== null;
    focusOn(card?.querySelector("h2") ?? line);
    // The line with its Undo stays in sight, and the next card begins right below it: on a phone always, else once the
    // card's answers would be below the window.
    const isBelow = card && card.getBoundingClientRect().bottom > innerHeight;
    if (card && line.nextElementSibling === card && (narrow.matches || isBelow)) line.scrollIntoView();
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
  // Only the newest of several Undo buttons answers to its key: of those that stand, what came last.
  let came = 0;
  function markNewest() {
    const buttons = [...document.querySelectorAll("[data-latest]")];
    for (const button of buttons) button.dataset.order ??= String(++came);
    const last = Math.max(...buttons.map((button) => Number(button.dataset.order)));
    for (const button of buttons) button.classList.toggle("latest", Number(button.dataset.order) === last);
  }
  function focusOn(target) {
    if (target.tabIndex < 0 && !target.hasAttribute("tabindex")) target.tabIndex = -1;
    focusHere(target);
    // Browsers centre what is taller than the window, and its heading would be out of sight.
    if (target.offsetHeight > innerHeight) target.scrollIntoView();
  }

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
      if (pause) focusOn(pause);
      else goOn(part);
    } else if (awaited && part.matches("#cards > [data-row]")) {
      awaited = false;
      focusOn(part.querySelector("h2"));
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
    setTimeout(() => say("status", "Decided. You can still undo it."), 500);
  }
})();
