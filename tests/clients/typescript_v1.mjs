// The journey with the TypeScript SDK of the first generation, which knows the handshake only.

import { load, takeJourneys } from './journey.mjs';

const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');

await takeJourneys(async server => {
    const transport = new StdioClientTransport(server);
    let revision;
    transport.setProtocolVersion = negotiated => (revision = negotiated);
    const client = new Client({ name: 'typescript-v1', version: '1.0.0' });
    await client.connect(transport);
    return {
        revision,
        transport,
        server: client.getServerVersion(),
        tools: async () => (await client.listTools()).tools,
        call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    };
});
