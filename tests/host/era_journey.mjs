// What the TypeScript clients do with a worker of the other era behind the host, kept as journals for the tests.
//
// Arguments: where the packages are, and the journeys to take as JSON, by name: the generation of the client, how the
// `server` is started, how the client is to `agree` on a revision.

import { createRequire } from 'node:module';

const BOUND_MS = 15_000;
const [packages, journeys] = process.argv.slice(2);
const load = createRequire(`${packages}/`);
const INFO = { name: 'typescript', version: '1.0.0' };

const CONNECT = {
    v1: async server => {
        const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
        const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
        const transport = new StdioClientTransport(server);
        let revision;
        transport.setProtocolVersion = negotiated => (revision = negotiated);
        const client = new Client(INFO);
        await client.connect(transport);
        const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
        return { client, call, revision };
    },
    v2: async (server, agree) => {
        const { Client } = load('@modelcontextprotocol/client');
        const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio');
        // With any other transport than the SDK's own, a client asks for a revision on the connection itself.
        class OneProcessTransport extends StdioClientTransport {}
        const client = new Client(INFO, { versionNegotiation: agree ?? undefined });
        await client.connect(new OneProcessTransport(server));
        const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
        return { client, call, revision: client.getNegotiatedProtocolVersion() };
    },
};

async function attempt(step) {
    try {
        return { result: await step() };
    } catch (error) {
        return { error: { code: error.code, message: error.message ?? String(error) } };
    }
}

async function journey({ client, call, revision }) {
    const heard = [];
    const onprogress = notice => heard.push(notice.progress) === 2 && call('go', {});
    const abort = new AbortController();
    const held = attempt(() => call('hold', {}, { signal: abort.signal, timeout: BOUND_MS }));
    const journal = {
        revision,
        server: client.getServerVersion(),
        tools: (await client.listTools()).tools.map(tool => tool.name),
        echo: await attempt(() => call('echo', { text: 'hi' })),
        steps: await attempt(() => call('steps', {}, { onprogress })),
        heard,
        refused: await attempt(() => call('refuse', {})),
        unknown: await attempt(() => call('nope', {})),
        read: await attempt(() => client.readResource({ uri: 'memo://a' })),
        prompt: await attempt(() => client.getPrompt({ name: 'greet' })),
    };
    abort.abort('enough');
    journal.cancelled = await held;
    journal.trapped = await attempt(() => client.readResource({ uri: 'memo://trap' }));
    journal.after = await attempt(() => call('echo', { text: 'after' }));
    await client.close();
    return journal;
}

const taken = Object.entries(JSON.parse(journeys)).map(async ([name, { generation, server, agree }]) => {
    return [name, await journey(await CONNECT[generation](server, agree))];
});
console.log(JSON.stringify(Object.fromEntries(await Promise.all(taken))));
