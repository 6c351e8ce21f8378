// The TypeScript SDK 1.x, which most hosts of today are built on: the handshake, at its newest version.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { programs } from '../programs.mjs';
import { session } from '../session.mjs';

async function connect(server) {
    const client = new Client({ name: 'interop', version: '1.0.0' });
    const http = typeof server === 'string';
    const transport = http ? new StreamableHTTPClientTransport(new URL(server)) : new StdioClientTransport(server);
    let version;
    const set = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = (negotiated) => {
        version = negotiated;
        set?.(negotiated);
    };
    await client.connect(transport);
    return {
        version,
        list: async () => (await client.listTools()).tools,
        call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
        ping: () => client.ping(),
        close: async () => {
            if (http) await transport.terminateSession();
            await client.close();
        },
    };
}

let failed = 0;
for (const over of ['stdio', 'http']) {
    failed += await session('typescript sdk 1, handshake', '2025-11-25', process.argv[2], connect, over);
}
failed += await programs('typescript sdk 1', process.argv[2], connect);
process.exit(failed ? 1 : 0);
