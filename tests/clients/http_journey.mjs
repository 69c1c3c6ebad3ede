// What a TypeScript client does with a server over HTTP, as a journal. Arguments: where the packages are, which SDK
// (v1 or v2), how it agrees on a revision as JSON, the URL, and a file that an interrupted tool writes.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

const [packages, sdk, agree, url, note] = process.argv.slice(2);
const load = createRequire(`${packages}/`);
const BOUND = { timeout: 60_000 };

function connected() {
    if (sdk === 'v1') {
        const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
        const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js');
        const client = new Client({ name: 'typescript-v1', version: '1.0.0' });
        const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
        return { client, call, transport: new StreamableHTTPClientTransport(new URL(url)) };
    }
    const { Client, StreamableHTTPClientTransport } = load('@modelcontextprotocol/client');
    const client = new Client(
        { name: 'typescript-v2', version: '1.0.0' },
        { versionNegotiation: JSON.parse(agree) ?? undefined },
    );
    const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
    return { client, call, transport: new StreamableHTTPClientTransport(new URL(url)) };
}

const { client, call, transport } = connected();
await client.connect(transport);
const heard = [];
const onprogress = notice => {
    heard.push(notice.progress);
    call('open_gate', { name: notice.message }, BOUND);
};
const walked = await call('walk', { steps: 2 }, { ...BOUND, onprogress });
const abort = new AbortController();
const held = call('hold', { note }, { ...BOUND, signal: abort.signal, onprogress: () => abort.abort('enough') });
const cancelled = await held.then(() => 'answered', () => 'cancelled');
const end = Date.now() + BOUND.timeout;
while (!existsSync(note) && Date.now() < end) await new Promise(resolve => setTimeout(resolve, 10));
const journal = {
    revision: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion,
    server: client.getServerVersion()?.name,
    tools: (await client.listTools()).tools.map(tool => tool.name),
    counted: (await call('count', { words: ['a', 'b'] }, BOUND)).structuredContent.result,
    steps: walked.structuredContent.steps,
    heard,
    cancelled,
    interrupted: existsSync(note),
};
await client.close();
console.log(JSON.stringify(journal));
process.exit(0);
