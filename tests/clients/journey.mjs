// What every TypeScript client does with one server, from connecting to leaving, kept as a journal for the tests.
//
// The scripts beside this one bring the client of their SDK. Nothing is judged here: a step that fails becomes an
// entry of the journal like any other. Arguments: where the packages are, and the journeys to take as JSON, by name:
// how the `server` is started, how the client is to `agree` on a revision, a `directory` that tools may write to.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

const BOUND_MS = 15_000;
const ARTICLE = { sku: 'C-3', kind: 'kit', price: 2, arrived: '2026-01-02', shelves: [], stock: {} };
const RESTOCK = { key: 'k', article: ARTICLE, shelf: { row: 3 }, priority: 'soon', due: '2026-03-04T05:06:07Z' };
const [packages, journeys] = process.argv.slice(2);

/** Loads a package from where the suite has installed it. */
export const load = createRequire(`${packages}/`);

/** Takes all journeys at the same time and prints their journals; `connect` makes the client of one of them. */
export async function takeJourneys(connect) {
    const taken = Object.entries(JSON.parse(journeys)).map(async ([name, { server, agree, directory }]) => {
        return [name, await journey(await connect(server, agree), directory)];
    });
    console.log(JSON.stringify(Object.fromEntries(await Promise.all(taken))));
}

async function journey(client, directory) {
    const call = (name, args, options) => attempt(() => client.call(name, args, { timeout: BOUND_MS, ...options }));
    const journal = { revision: client.revision, server: client.server, tools: await client.tools() };
    journal.success = await call('describe', { sku: 'A-1' });
    journal.json = await call('describe', { sku: 'A-1', limit: 1, render: 'json' });
    journal.nested = await call('restock', RESTOCK);
    journal.scalar = await call('count', { words: ['a', 'b'] });
    journal.tampered = await tamper(client.transport, () => call('describe', { sku: 'A-1' }));
    journal.refused = await call('describe', { sku: 'B-2' });
    journal.invalid = await call('describe', { limit: 99, colour: 'red' });
    journal.unknown = await call('no_such_tool', {});
    [journal.walk, journal.cancelled, journal.timeout, journal.crashed] = await Promise.all([
        walk(call),
        cancel(call, `${directory}/cancelled`),
        call('stall', {}),
        call('fragile', { crash: true }),
    ]);
    journal.afterCrash = await call('fragile', { crash: false });
    journal.process = await call('identify', {});
    journal.left = await leave(client.transport, call, `${directory}/left`);
    return journal;
}

/** Changes the structured content of every answer on its way to the client, for as long as the step takes. */
async function tamper(transport, step) {
    const deliver = transport.onmessage;
    transport.onmessage = (message, ...rest) => {
        if (message.result?.structuredContent) message.result.structuredContent.sku = 7;
        deliver(message, ...rest);
    };
    const outcome = await step();
    transport.onmessage = deliver;
    return outcome;
}

async function walk(call) {
    const heard = [];
    const onprogress = notice => {
        heard.push(notice);
        call('open_gate', { name: notice.message });
    };
    return { ...(await call('walk', { steps: 3 }, { onprogress })), heard };
}

async function cancel(call, note) {
    const abort = new AbortController();
    const { pid, answer } = await hold(call, note, abort.signal);
    abort.abort('enough');
    const outcome = await answer;
    return { ...outcome, pid, ended: pid !== null && (await happens(() => existsSync(note) && !isAlive(pid))) };
}

async function leave(transport, call, note) {
    const { pid, answer } = await hold(call, note);
    await transport.close();
    return { ...(await answer), pid };
}

/** Starts the tool that never ends by itself; returns once the program that it runs has told its process id. */
async function hold(call, note, signal) {
    let answer;
    const pid = await new Promise(resolve => {
        const onprogress = notice => resolve(Number(notice.message));
        answer = call('hold', { note }, { signal, onprogress });
        answer.then(() => resolve(null));
    });
    return { pid, answer };
}

async function attempt(step) {
    try {
        return { result: await step() };
    } catch (error) {
        return { error: { code: error.code, message: error.message ?? String(error), data: error.data } };
    }
}

async function happens(condition) {
    const end = Date.now() + BOUND_MS;
    while (!condition() && Date.now() < end) await new Promise(resolve => setTimeout(resolve, 10));
    return condition();
}

function isAlive(pid) {
    try {
        return process.kill(pid, 0);
    } catch {
        return false;
    }
}
