// A receiver's check of one delivery, with Node's own library alone. Reads {secret, headers, body} (body in base64) from
// standard input; prints "ok", or what does not hold.
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";

const { secret, headers, body } = JSON.parse(readFileSync(0, "utf8"));
const raw = Buffer.from(body, "base64");

const hmac = (key, ...parts) => parts.reduce((made, part) => made.update(part), createHmac("sha256", key)).digest();
const equal = (one, other) => one.length === other.length && timingSafeEqual(one, other);

// RFC 8785 for what deliveries hold: JavaScript's own order of strings is the one it asks for.
const canonical = (value) => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(",")}}`;
};

const problems = [];
const { _webhook_signature: given, ...payload } = JSON.parse(raw.toString("utf8"));
const timestamp = payload._webhook_timestamp;
delete payload._webhook_timestamp;
const inside = hmac(secret, `${timestamp}:`, canonical(payload));
if (!equal(inside, Buffer.from(given, "hex"))) problems.push("body");

const outside = `sha256=${hmac(secret, raw).toString("hex")}`;
if (!equal(Buffer.from(outside), Buffer.from(headers["X-Webhook-Signature"]))) problems.push("X-Webhook-Signature");

const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : secret;
const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`;
const standard = `v1,${hmac(key, signed, raw).toString("base64")}`;
if (!headers["webhook-signature"].split(" ").includes(standard)) problems.push("webhook-signature");

console.log(problems.length ? problems.join(", ") : "ok");
