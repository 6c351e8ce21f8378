// The MCP inspector on the command line: one process, one connection and one request each time.
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Fixture, Report, PIXEL, assertFailure, assertTools, observation } from '../fixture.mjs';

const binary = process.argv[2];
const installed = (path) => fileURLToPath(new URL(`node_modules/${path}`, import.meta.url));

/** Version 2 needs a newer node than many machines have, so one is installed with it. */
const newNode = installed(`node-${process.platform}-${process.arch}/bin/node`);
const versions = {
    0: [process.execPath, installed('inspector-0/build/index.js')],
    2: [existsSync(newNode) ? newNode : process.execPath, installed('inspector-2/clients/launcher/build/index.js'), '--cli'],
};

/** Runs a command line to its end: `{ code, stdout, stderr }`. */
function run([command, ...args], home) {
    return new Promise((resolve, reject) => {
        const child = spawn(command, args, { env: { ...process.env, HOME: home }, stdio: ['ignore', 'pipe', 'pipe'] });
        const out = { stdout: '', stderr: '' };
        for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (out[name] += text));
        child.on('error', reject).on('close', (code) => resolve({ code, ...out }));
    });
}

/** Version 0 takes the server first and its own options after it; version 2 the other way round. */
function inspector(fixture, version, options) {
    const { command, args } = fixture.command(binary);
    const server = fixture.url ? [fixture.url] : [command, ...args];
    const mark = fixture.url ? [] : ['--'];
    const line = version === 0 ? [...server, ...options] : ['--format', 'json', ...options, ...mark, ...server];
    return run([...versions[version], ...line], fixture.base);
}

const shown = ({ code, stdout, stderr }) => `exit code ${code}\n${stdout}\n${stderr}`;

/** The printed result of a request, which must have ended with `code`. */
async function result(fixture, version, options, code = 0) {
    const ended = await inspector(fixture, version, options);
    assert.equal(ended.code, code, shown(ended));
    const printed = JSON.parse(ended.stdout);
    return version === 0 ? printed : printed.result;
}

async function session(label, version, era, over) {
    const report = new Report(`${label}, ${over}`);
    const fixture = new Fixture();
    if (over === 'http') fixture.url = await fixture.serve(binary);
    const call = (tool, args, code) => {
        const how = version === 0
            ? Object.entries(args).flatMap(([name, value]) => ['--tool-arg', `${name}=${value}`])
            : ['--tool-args-json', JSON.stringify(args)];
        return result(fixture, version, [...era, '--method', 'tools/call', '--tool-name', tool, ...how], code);
    };
    // Version 2 says by its exit code that a tool failed.
    const failing = version === 0 ? 0 : 5;

    await report.check('lists the tools', async () => {
        assertTools((await result(fixture, version, [...era, '--method', 'tools/list'])).tools);
    });
    if (version === 2) {
        await report.check('finds no fault in the schemas', async () => {
            const ended = await inspector(fixture, version, [...era, '--method', 'tools/list', '--strict']);
            assert.equal(ended.code, 0, shown(ended));
        });
    }
    await report.check('reads a range of lines', async () => {
        const text = observation(await call('read_file', { path: 'lines.txt', start_line: 3, end_line: 4 }));
        assert.equal(text, '3: line 3\n4: line 4\n');
    });
    await report.check('gets an image as an image', async () => {
        const { content } = await call('read_file', { path: 'pixel.png' });
        assert.equal(content.find((block) => block.type === 'image')?.data, PIXEL, JSON.stringify(content));
    });
    await report.check('writes a file', async () => {
        observation(await call('write_file', { path: 'new.txt', content: 'Grüße = 1\n' }));
        assert.equal(fixture.get('new.txt'), 'Grüße = 1\n');
    });
    await report.check('patches a file', async () => {
        observation(await call('patch_file', { path: 'hello.js', old_str: 'hi', new_str: 'ho' }));
        assert.equal(fixture.get('hello.js'), "console.log('ho');\n");
    });
    await report.check('is told that the text to replace is not there', async () => {
        const answer = await call('patch_file', { path: 'hello.js', old_str: 'absent', new_str: 'x' }, failing);
        assertFailure(answer, 'patch_file', 'old_str_not_found');
    });
    await report.check('says that an unknown tool is unknown', async () => {
        const ended = await inspector(fixture, version, [...era, '--method', 'tools/call', '--tool-name', 'no_such_tool']);
        assert.notEqual(ended.code, 0, shown(ended));
        assert.match(ended.stderr, /-32602|tool_not_found/);
    });
    await report.check('every server ended by itself with exit code 0', async () => {
        await fixture.stop();
        const exits = fixture.exits();
        assert.ok(exits.length >= (over === 'http' ? 1 : 7) && exits.every((code) => code === '0'), `exit codes ${exits}`);
    });

    report.close(fixture);
    fixture.remove();
    return report.failed;
}

let failed = 0;
for (const over of ['stdio', 'http']) {
    failed += await session('inspector 0.15, handshake', 0, [], over);
    for (const era of ['legacy', 'auto', 'modern']) {
        failed += await session(`inspector 2.12, ${era}`, 2, ['--protocol-era', era], over);
    }
}
process.exit(failed ? 1 : 0);
