// A minute before the session ends, a bar offers to stay. Other tabs may have used the session meanwhile, so the server is
// asked first; asking is no use of the session.
const { account, sessionLeft, sessionNotice } = document.body.dataset;
const place = document.getElementById("session-bar");
const notice = Number(sessionNotice);
export const tabs = new BroadcastChannel("bridgenote-session");
// What a tab remembers is one person's: another who signs in finds nothing of it, nor does anyone after a sign-out.
export let signsOut = false;
const OWNER = "owner";
if (account) {
  if (![null, account].includes(sessionStorage.getItem(OWNER))) sessionStorage.clear();
  sessionStorage.setItem(OWNER, account);
}
function forget() {
  signsOut = true;
  sessionStorage.clear();
}
document.addEventListener("submit", (event) => {
  if (!event.target.matches("form.account")) return;
  forget();
  tabs.postMessage({ signsOut });
});
tabs.addEventListener("message", ({ data }) => { if (data.signsOut) forget(); });

let due = 0;
let timer = 0;

function show(state) {
  if (place.firstElementChild?.dataset.session === state) return;
  const bar = document.getElementById("session-bar-parts").content.cloneNode(true).querySelector(`[data-session="${state}"]`);
  const link = bar.querySelector("[data-sign-in]");
  if (link) link.href = `${link.pathname}?${new URLSearchParams({ next: location.pathname + location.search })}`;
  place.replaceChildren(bar);
}
function wait(seconds) {
  clearTimeout(timer);
  due = Date.now() + seconds * 1000;
  timer = setTimeout(ask, Math.min(seconds * 1000, 2 ** 31 - 1));
}
function follow({ left, is_last: isLast }) {
  if (left <= 0) return show("over");
  if (left > notice) {
    place.replaceChildren();
    return wait(left - notice);
  }
  show(isLast ? "last" : "ends");
  wait(left + 1);
}
async function ask() {
  try {
    const answer = await fetch(place.dataset.left, { headers: { Accept: "application/json" } });
    if (answer.ok) return follow(await answer.json());
  } catch {
    // Without a connection nobody knows; the next try may.
  }
  wait(notice);
}
async function stay(form) {
  try {
    const answer = await fetch(form.action, { method: "POST", body: new FormData(form) });
    if (!answer.ok) return ask();
    const state = await answer.json();
    follow(state);
    tabs.postMessage(state);
  } catch {
    wait(5);
  }
}
if (sessionLeft !== undefined && place) {
  wait(Math.max(1, Number(sessionLeft) - notice));
  tabs.addEventListener("message", ({ data }) => { if ("left" in data) follow(data); });
  // Work goes on while the bar is there, or a computer wakes up: what is left is another time by now.
  document.addEventListener("htmx:afterRequest", () => { if (place.firstElementChild) ask(); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden && Date.now() >= due) ask(); });
  document.addEventListener("formToken", ask);
  place.addEventListener("submit", (event) => {
    event.preventDefault();
    stay(event.target);
  });
}
