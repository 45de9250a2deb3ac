// Makes calls and verifies deliveries with the package: `node duties.ts URL` reads cases and prints results, as JSON.
import { Refused, connect, send, verify } from 'bridgenote-client';

declare const process: { argv: string[]; stdin: AsyncIterable<Uint8Array> };
let input = '';
for await (const part of process.stdin) input += new TextDecoder().decode(part);
const cases: { calls: string[]; deliveries: [string, Record<string, string>, string][] } = JSON.parse(input);
const client = connect(process.argv[2] ?? '', 'bnk');

async function outcome(request_id: string): Promise<number> {
    const post = { request_id, requested_by: 'ann', community_server_id: 'sea', original_message_content: 'x' };
    try {
        await send(client, post);
        return 200;
    } catch (error) {
        if (error instanceof Refused) return error.status;
        throw error;
    }
}

const statuses: number[] = [];
for (const status of cases.calls) statuses.push(await outcome(status));
const verified: boolean[] = [];
for (const delivery of cases.deliveries) verified.push(await verify(...delivery).then(() => true, () => false));
console.log(JSON.stringify({ statuses, verified }));
