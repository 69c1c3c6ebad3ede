// The journey with the TypeScript SDK of the second generation, which can also ask for revisions without a handshake.

import { load, takeJourneys } from './journey.mjs';

const { Client } = load('@modelcontextprotocol/client');
const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio');

// With the SDK's own transport, a client that asks for a revision does so in a process that it starts just for that;
// with any other, a subclass of it too, it asks on the connection itself.
class OneProcessTransport extends StdioClientTransport {}

await takeJourneys(async (server, agree) => {
    const transport = new (agree?.mode.pin ? OneProcessTransport : StdioClientTransport)(server);
    const client = new Client({ name: 'typescript-v2', version: '1.0.0' }, { versionNegotiation: agree ?? undefined });
    await client.connect(transport);
    return {
        revision: client.getNegotiatedProtocolVersion(),
        transport,
        server: client.getServerVersion(),
        tools: async () => (await client.listTools()).tools,
        call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    };
});
