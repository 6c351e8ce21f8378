// The TypeScript client 2.x: without options, probing, pinned to the stateless era, and with every older handshake.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { programs } from '../programs.mjs';
import { session } from '../session.mjs';

const MODERN = '2026-07-28';

const connectWith = (options) => async (server) => {
    const client = new Client({ name: 'interop', version: '1.0.0' }, options);
    const http = typeof server === 'string';
    await client.connect(http ? new StreamableHTTPClientTransport(new URL(server)) : new StdioClientTransport(server));
    const version = client.getNegotiatedProtocolVersion();
    return {
        version,
        list: async () => (await client.listTools()).tools,
        call: (name, args, request) => client.callTool({ name, arguments: args }, request),
        ping: version === MODERN ? undefined : () => client.ping(),
        close: () => client.close(),
    };
};

const handshake = (version) => ({ supportedProtocolVersions: [version] });
const modes = [
    ['default', '2025-11-25', {}],
    ['auto', MODERN, { versionNegotiation: { mode: 'auto' } }],
    ['pinned', MODERN, { versionNegotiation: { mode: { pin: MODERN } } }],
    ['old', '2025-06-18', handshake('2025-06-18')],
    ['older', '2025-03-26', handshake('2025-03-26')],
    ['oldest', '2024-11-05', handshake('2024-11-05')],
];
let failed = 0;
for (const [mode, version, options] of modes) {
    for (const over of ['stdio', 'http']) {
        failed += await session(`typescript client 2, ${mode}`, version, process.argv[2], connectWith(options), over);
    }
}
for (const [mode, , options] of modes.slice(0, 2)) {
    failed += await programs(`typescript client 2, ${mode}`, process.argv[2], connectWith(options));
}
process.exit(failed ? 1 : 0);
