// Submits a post with the installed package, reads it and lists its actions: `node call.ts URL KEY COMMUNITY` prints what
// it read, as JSON. It is type-checked against the package.
import * as sdk from 'bridgenote-client';

declare const process: { argv: string[] };
const [url, key, community] = process.argv.slice(2);
if (url === undefined || key === undefined || community === undefined) throw new Error('usage: call.ts URL KEY COMMUNITY');

const client = sdk.connect(url, key);
const path = { request_id: 'from-typescript' };
const attributes: sdk.RequestCreateAttributes = {
    request_id: path.request_id,
    requested_by: 'ann',
    community_server_id: community,
    original_message_content: 'You are an idiot and everybody here knows it',
};
const created = await sdk.createRequest({ client, body: { data: { type: 'requests', attributes } }, throwOnError: true });

const end = Date.now() + 90_000;
let read = created.data.data;
while (read.attributes.action_id === undefined) {
    if (read.attributes.status === 'FAILED' || Date.now() > end) throw new Error(JSON.stringify(read));
    await new Promise((resolve) => setTimeout(resolve, 100));
    read = (await sdk.readRequest({ client, path, throwOnError: true })).data.data;
}
const actions = await sdk.listModerationActions({ client, throwOnError: true });
const unknown = await sdk.readRequest({ client, path: { request_id: 'of-nobody' } });

console.log(
    JSON.stringify({
        functions: Object.keys(sdk),
        created: created.response.status,
        id: read.id,
        actions: actions.data.data.map((action) => action.attributes.request_id),
        refused: unknown.error?.detail,
    }),
);
