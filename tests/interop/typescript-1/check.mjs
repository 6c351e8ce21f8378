// The TypeScript SDK 1.x, which most hosts of today are built on: the handshake, at its newest version.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { session } from '../session.mjs';

async function connect(command) {
    const client = new Client({ name: 'interop', version: '1.0.0' });
    const transport = new StdioClientTransport(command);
    let version;
    transport.setProtocolVersion = (negotiated) => (version = negotiated);
    await client.connect(transport);
    return {
        version,
        list: async () => (await client.listTools()).tools,
        call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
        ping: () => client.ping(),
        close: () => client.close(),
    };
}

const failed = await session('typescript sdk 1, handshake', '2025-11-25', process.argv[2], connect);
process.exit(failed ? 1 : 0);
