// Passkeys: a form with data-passkey asks its address in data-options for a challenge, lets the browser answer it, and is
// sent with the answer. On the sign-in page the browser also offers them while the email field is filled in.
import { _, say } from "../page.js";

// base.css hides the forms of passkeys from a browser that knows none, and shows a sentence instead.
if (!window.PublicKeyCredential) document.documentElement.classList.add("no-passkeys");
const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

async function challenge(form) {
  const body = new URLSearchParams({ csrf_token: form.elements.csrf_token.value });
  const response = await fetch(form.dataset.options, { method: "POST", body });
  if (response.status === 401) {
    // The page was open for long: the service asks first who it is, or for the password again.
    location.assign(`/confirm-it-is-you?next=${encodeURIComponent(location.pathname + location.hash)}`);
    return null;
  }
  if (!response.ok) throw new DOMException(String(response.status), "NetworkError");
  const options = await response.json();
  for (const one of [...(options.allowCredentials ?? []), ...(options.excludeCredentials ?? [])]) one.id = bytes(one.id);
  if (options.user) options.user.id = bytes(options.user.id);
  options.challenge = bytes(options.challenge);
  return options;
}

function written(credential) {
  const { response } = credential;
  const parts = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
  const answer = Object.fromEntries(parts.filter((name) => response[name]).map((name) => [name, text(response[name])]));
  if (response.getTransports) answer.transports = response.getTransports();
  return JSON.stringify({ id: credential.id, rawId: text(credential.rawId), type: credential.type, response: answer });
}

let waiting = null; // the offer while the email field is filled in, which any other request has to end
let renewal = 0;
async function ask(form, more = {}) {
  waiting?.abort();
  clearTimeout(renewal);
  const { signal } = (waiting = new AbortController());
  const publicKey = await challenge(form);
  if (!publicKey) return false;
  const credential = await navigator.credentials[form.dataset.passkey]({ publicKey, signal, ...more });
  form.elements.credential.value = written(credential);
  return true;
}

function explain(error, form) {
  const creates = form.dataset.passkey === "create";
  if (error.name === "AbortError") return;
  if (error.name === "InvalidStateError") say("alert", _("This device has a passkey of your account already."));
  else if (error.name === "SecurityError") say("alert", _("Your browser allows no passkeys at this address."));
  else if (error.name === "NetworkError" && error.message === "429") say("alert", _("That was too fast. Wait a minute, then try again."));
  else if (error.name !== "NotAllowedError") say("alert", _("The passkey did not work. Reload the page and try again."));
  else say("alert", creates ? _("No passkey was added: it was cancelled or took too long.") : _("No passkey was used: it was cancelled, took too long, or there is none for this address."));
}

// Before everything else that listens, so that htmx and the others see only the form that has its answer.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-passkey]") || form.elements.credential.value) return;
  event.preventDefault();
  event.stopPropagation();
  try {
    if (await ask(form)) form.requestSubmit(event.submitter);
  } catch (error) {
    explain(error, form);
    offer();
  } finally {
    // The browser's arrow back finds a form that asks again.
    setTimeout(() => { form.elements.credential.value = ""; });
  }
}, true);

// --- The offer at the email field. A challenge lasts five minutes, so a page that stays open asks for another one. ---
async function offer() {
  const form = document.querySelector("[data-passkey-fills]");
  if (!form || !(await window.PublicKeyCredential?.isConditionalMediationAvailable?.())) return;
  const asked = ask(form, { mediation: "conditional" });
  renewal = setTimeout(renew, 240_000);
  try {
    if (await asked) form.requestSubmit();
  } catch {
    // Nothing was chosen: the button and the password are there all the same.
  }
}
function renew() {
  if (document.hidden) document.addEventListener("visibilitychange", renew, { once: true });
  else offer();
}
offer();
