// What every TypeScript client does with the search server, kept as a journal for the tests.
//
// Arguments: where the packages are, which client to use, and the journeys to take as JSON, by name: how the
// `server` is started, how the client is to `agree` on a revision, and the repository to build an index of.

import { createRequire } from 'node:module';

const BOUND_MS = 30_000;
const [packages, generation, journeys] = process.argv.slice(2);
const load = createRequire(`${packages}/`);

const CONNECT = {
    typescript_v1: async server => {
        const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
        const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
        const transport = new StdioClientTransport(server);
        let revision;
        transport.setProtocolVersion = negotiated => (revision = negotiated);
        const client = new Client({ name: 'typescript-v1', version: '1.0.0' });
        await client.connect(transport);
        const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
        return { client, revision, call };
    },
    typescript_v2: async (server, agree) => {
        const { Client } = load('@modelcontextprotocol/client');
        const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio');
        const info = { name: 'typescript-v2', version: '1.0.0' };
        const client = new Client(info, { versionNegotiation: agree ?? undefined });
        await client.connect(new StdioClientTransport(server));
        const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
        return { client, revision: client.getNegotiatedProtocolVersion(), call };
    },
};

const taken = Object.entries(JSON.parse(journeys)).map(async ([name, { server, agree, repo }]) => {
    return [name, await journey(await CONNECT[generation](server, agree), repo)];
});
console.log(JSON.stringify(Object.fromEntries(await Promise.all(taken))));

async function journey({ client, revision, call }, repo) {
    const step = (name, args, options) => attempt(() => call(name, args, { timeout: BOUND_MS, ...options }));
    const journal = { revision, server: client.getServerVersion(), tools: (await client.listTools()).tools };
    journal.search = await step('search', { query: 'budget', lang: 'python' });
    journal.shown = await step('show_file', { path: 'src/budget.py', startLine: 1, endLine: 1 });
    journal.invalid = await step('search', { query: 'budget', top: 'many', nonsense: 1 });
    journal.refused = await step('search', { query: 'budget', repoPath: repo });
    journal.cancelled = await cancel(step, repo);
    journal.afterwards = await step('index_status', { repoPath: repo });
    await client.close();
    return journal;
}

/** Builds an index and gives up when the first progress is told. */
async function cancel(step, repo) {
    const abort = new AbortController();
    const heard = [];
    const onprogress = notice => {
        heard.push(notice);
        abort.abort('enough');
    };
    return { ...(await step('build_index', { repoPath: repo }, { signal: abort.signal, onprogress })), heard };
}

async function attempt(step) {
    try {
        return { result: await step() };
    } catch (error) {
        return { error: { code: error.code, message: error.message ?? String(error), data: error.data } };
    }
}
