// A provider of the package oidc-provider (scripts/clients installs it), for tests. Its settings come as one JSON argument:
// port, client_id, client_secret, redirect_uri, modules (the folder of packages). POST /control changes people and the
// client: {"people": {"id": {claims} or null}, "backchannel_logout_uri": "…"}.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const settings = JSON.parse(process.argv[2]);
const found = createRequire(settings.modules + "/").resolve("oidc-provider");
const { default: Provider } = await import(pathToFileURL(found));
const people = {};
const issuer = `http://127.0.0.1:${settings.port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: settings.client_id,
      client_secret: settings.client_secret,
      redirect_uris: [settings.redirect_uri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      backchannel_logout_uri: `${issuer}/unset`,
      backchannel_logout_session_required: true,
    },
  ],
  cookies: { keys: ["a key of the tests"] },
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
  scopes: ["openid", "offline_access", "email", "profile", "groups"],
  features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
  pkce: { required: () => true },
  rotateRefreshToken: true,
  // Its own fetch calls no loopback address.
  fetch: (url, options) => globalThis.fetch(url, { ...options, dispatcher: undefined }),
  async findAccount(_context, id) {
    if (!people[id]) return undefined;
    return { accountId: id, claims: async () => ({ sub: id, ...people[id] }) };
  },
});

provider.use(async (context, next) => {
  if (context.path !== "/control") return next();
  const chunks = [];
  for await (const chunk of context.req) chunks.push(chunk);
  const change = JSON.parse(Buffer.concat(chunks).toString());
  Object.assign(people, change.people ?? {});
  if (change.backchannel_logout_uri) {
    const client = await provider.Client.find(settings.client_id);
    client.backchannelLogoutUri = change.backchannel_logout_uri;
  }
  context.body = {};
});
provider.on("server_error", (_context, error) => console.error(error));
provider.on("backchannel.error", (_context, error) => console.error("back-channel:", error.message, error.cause ?? ""));
provider.listen(settings.port, "127.0.0.1", () => console.log("ready"));
