// Send posts to a Bridgenote service and carry out its decisions. Every call of the API is exported too, from generated/.
// The rules are those of docs/integrate/api.md: Refusals, Signatures, Your duties.
import { createClient, type Client } from './generated/client/index.ts';
import {
    createRequest,
    listModerationActions,
    patchModerationAction,
    readModerationAction,
    readRequest,
    type ActionAttributes,
    type ActionPatchAttributes,
    type PageLinks,
    type RequestCreateAttributes,
    type RequestResource,
} from './generated/index.ts';

export * from './generated/index.ts';
export type { Client };

const RETRIED = new Set([429, 500, 502, 503, 504]);

/** Makes a call up to three times, after 0.5 s and 1 s, or as Retry-After says if that is at most a minute. */
export async function retryingFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    for (const attempt of [1, 2]) {
        let wait = 0.5 * 2 ** (attempt - 1) * (1 + Math.random() / 2);
        try {
            const response = await fetch(request.clone());
            const after = response.headers.get('Retry-After') ?? '';
            if (/^\d+$/.test(after)) wait = Number(after);
            if (!RETRIED.has(response.status) || wait > 60) return response;
            await response.body?.cancel();
        } catch (error) {
            if (request.signal.aborted) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, wait * 1000));
    }
    return fetch(request);
}

/** A client for the generated calls, which repeats what may be repeated. */
export const connect = (baseUrl: string, key: string): Client =>
    createClient({ baseUrl, auth: key, fetch: retryingFetch });

/** The service refused a call. `status` is HTTP's, the message is what it answered. */
export class Refused extends Error {
    readonly status: number;

    constructor(status: number, detail: unknown) {
        super(JSON.stringify(detail));
        this.status = status;
    }
}

function accepted<Data>(answer: { data?: Data; error?: unknown; response?: Response }): Data {
    if (answer.response === undefined) throw answer.error;
    if (!answer.response.ok) throw new Refused(answer.response.status, answer.error);
    return answer.data as Data;
}

/** Submit a post. One that is known is returned as it is. */
export async function send(client: Client, attributes: RequestCreateAttributes): Promise<RequestResource> {
    const created = await createRequest({ client, body: { data: { type: 'requests', attributes } } });
    if (created.response?.status !== 409) return accepted(created).data;
    return accepted(await readRequest({ client, path: { request_id: attributes.request_id } })).data;
}

/** This page of a list and those after it. */
export async function* pages<Page extends { links: PageLinks }>(client: Client, page: Page): AsyncGenerator<Page> {
    yield page;
    while (page.links.next !== null) {
        const { origin, pathname, search } = new URL(page.links.next);
        const security = [{ scheme: 'bearer', type: 'http' } as const];
        page = accepted(await client.get<Page>({ baseUrl: origin, url: pathname + search, security })) as Page;
        yield page;
    }
}

export type Event = Record<string, any>;
/** Headers as fetch has them or as Node.js has them. */
export type DeliveryHeaders = Headers | Record<string, string | string[] | undefined>;

/**
 * The event of a delivery. Throws unless a signature holds whose timestamp is at most 300 seconds from now.
 *
 * Checks the header of Standard Webhooks, any one of its signatures; without that header, the signature in the body.
 */
export async function verify(body: string, headers: DeliveryHeaders, secret: string): Promise<Event> {
    const sent = headers instanceof Headers ? headers : new Headers(headers as Record<string, string>);
    const listed = sent.get('webhook-signature');
    let [timestamp, message, signatures]: [string, string, Uint8Array<ArrayBuffer>[]] = ['', '', []];
    let key = new TextEncoder().encode(secret);
    if (listed !== null) {
        timestamp = sent.get('webhook-timestamp') ?? '';
        message = `${sent.get('webhook-id')}.${timestamp}.${body}`;
        signatures = listed.split(' ').filter((one) => one.startsWith('v1,')).map((one) => fromBase64(one.slice(3)));
        if (secret.startsWith('whsec_')) key = fromBase64(secret.slice(6));
    } else {
        const { _webhook_timestamp, _webhook_signature, ...signed } = JSON.parse(body);
        timestamp = String(_webhook_timestamp);
        message = `${timestamp}:${canonical(signed)}`;
        signatures = [Uint8Array.from(String(_webhook_signature).match(/../g) ?? [], (hex) => parseInt(hex, 16))];
    }
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['verify']);
    const data = new TextEncoder().encode(message);
    const held = await Promise.all(signatures.map((one) => crypto.subtle.verify('HMAC', imported, one, data)));
    if (!held.includes(true)) throw new Error('no signature holds');
    if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) throw new Error('the timestamp is old');
    return JSON.parse(body);
}

const fromBase64 = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** RFC 8785: JSON with its keys sorted at every level. */
function canonical(value: unknown): string {
    if (Array.isArray(value)) return `[${value.map(canonical)}]`;
    if (value === null || typeof value !== 'object') return JSON.stringify(value);
    const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)}}`;
}

/** Throw it in `carryOut` for what cannot be undone on the platform; its message is the reason. */
export class Impossible extends Error {}

/**
 * What does a verb on the platform: `hide`, `unhide`, `delete`, `warn`, `silence`, or to undo what was overturned `restore`,
 * `unsilence`, `retract`. It looks first whether that is done already, and may return the platform's own id of what it did.
 */
export type CarryOut = (verb: string, action: ActionAttributes) => Promise<string | void>;

/**
 * Hands everything to be done on the platform to `carryOut`, once, and acknowledges it.
 *
 * It is the same whatever event it came with. If `carryOut` throws, the action stays proposed.
 */
export class Decisions {
    // A repeated event that is no longer among these finds its action applied, and does nothing.
    readonly #handled = new Set<string>();
    #last: Promise<unknown> = Promise.resolve();
    readonly #client: Client;
    readonly #carryOut: CarryOut;

    constructor(client: Client, carryOut: CarryOut) {
        this.#client = client;
        this.#carryOut = carryOut;
    }

    /** Work on a verified event of any shape, once its delivery is answered. Notes and rationales are ignored. */
    handle(event: Event): Promise<void> {
        return this.#inTurn(async () => {
            if (this.#handled.has(event.event_id)) return;
            const id = await this.#actionOf(event);
            if (id !== undefined) await this.#workOn(id);
            this.#handled.add(event.event_id);
            if (this.#handled.size > 1000) this.#handled.delete(this.#handled.values().next().value!);
        });
    }

    /** Work on everything still to be done, oldest first: when you start, and after an outage. */
    async catchUp(): Promise<void> {
        const client = this.#client;
        for (const filter of [{ 'filter[action_state]': 'proposed' }, { 'filter[undo_state]': 'proposed' }] as const) {
            const first = accepted(await listModerationActions({ client, query: { 'page[size]': 100, ...filter } }));
            const waiting: string[] = [];
            for await (const page of pages(client, first)) waiting.unshift(...page.data.map(({ id }) => id).reverse());
            for (const id of waiting) await this.#inTurn(() => this.#workOn(id));
        }
    }

    /** One after the other, so that two events about one action do not both find it proposed. */
    #inTurn(work: () => Promise<void>): Promise<void> {
        const turn = this.#last.then(work);
        this.#last = turn.catch(() => undefined);
        return turn;
    }

    async #actionOf(event: Event): Promise<string | undefined> {
        const name: string = event.event ?? event.event_type;
        if (/^moderation_action\.(created|proposed|overturned)$/.test(name)) return event.data.id;
        if (name !== 'moderation.decision' || event.decision === 'none') return undefined;
        const path = { request_id: event.request_id };
        return accepted(await readRequest({ client: this.#client, path })).data.attributes.action_id;
    }

    async #workOn(id: string): Promise<void> {
        const [client, path] = [this.#client, { action_id: id }];
        // Read again: the event may be old, or another may have come first.
        const action = accepted(await readModerationAction({ client, path })).data.attributes;
        let body: ActionPatchAttributes;
        if (action.action_state === 'proposed') {
            const done = await this.#carryOut(action.action_type, action);
            body = { action_state: 'applied', platform_action_id: done ?? null };
        } else if (action.undo !== null && action.undo_state === 'proposed') {
            try {
                await this.#carryOut(action.undo, action);
                body = { undo_state: 'done' };
            } catch (error) {
                if (!(error instanceof Impossible)) throw error;
                body = { undo_state: 'impossible', reason: error.message };
            }
        } else return;
        accepted(await patchModerationAction({ client, path, body }));
    }
}
