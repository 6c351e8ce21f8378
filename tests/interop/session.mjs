// What every TypeScript client must be able to do, whichever version of the SDK and whichever era.
import { strict as assert } from 'node:assert';
import { Fixture, Report, PIXEL, assertFailure, assertTools, observation } from './fixture.mjs';

/**
 * Runs all checks over one connection.
 *
 * `connect(server)` takes the command that starts the server, or with `over = 'http'` the URL of one that runs, and
 * returns the client as this file sees it: `{ version, list(), call(name, args, { signal }?), ping?(), close() }`; `call`
 * rejects on a JSON-RPC error.
 */
export async function session(label, expectedVersion, binary, connect, over = 'stdio') {
    const report = new Report(`${label}, ${over}`);
    const fixture = new Fixture();
    let client;
    await report.check(`connects with ${expectedVersion}`, async () => {
        client = await connect(over === 'http' ? await fixture.serve(binary) : fixture.command(binary));
        assert.equal(client.version, expectedVersion);
    });
    if (client) await checks(report, fixture, client);
    report.close(fixture);
    fixture.remove();
    return report.failed;
}

async function checks(report, fixture, client) {
    const check = (name, body) => report.check(name, body);
    const read = async (args) => observation(await client.call('read_file', args));

    if (client.ping) await check('answers a ping', () => client.ping());
    await check('lists the tools', async () => assertTools(await client.list()));
    await check('lists a folder', async () => {
        const text = observation(await client.call('list_dir', { path: '.' }));
        for (const name of ['hello.js', 'src', 'many']) assert.ok(text.includes(name), `no ${name} in: ${text}`);
    });

    await check('reads a file', async () => {
        assert.equal(await read({ path: 'hello.js' }), "1: console.log('hi');\n");
    });
    await check('reads a range of lines', async () => {
        assert.equal(await read({ path: 'lines.txt', start_line: 3, end_line: 4 }), '3: line 3\n4: line 4\n');
    });
    await check('reads text in all scripts', async () => {
        assert.equal(await read({ path: 'unicode.txt' }), '1: Grüße, 世界 👋🏽\n2: naïve café\n');
    });
    await check('reads an empty file', async () => {
        assert.doesNotMatch(await read({ path: 'empty.txt' }), /^1: /);
    });
    await check('gets an image as an image', async () => {
        const { content } = await client.call('read_file', { path: 'pixel.png' });
        const image = content.find((block) => block.type === 'image');
        assert.equal(image?.mimeType, 'image/png', JSON.stringify(content));
        assert.equal(image.data, PIXEL);
    });
    await check('gets 50 answers to 50 concurrent reads', async () => {
        const texts = await Promise.all(Array.from({ length: 50 }, (_, i) => read({ path: `many/${i}.txt` })));
        assert.deepEqual(texts, Array.from({ length: 50 }, (_, i) => `1: file ${i}\n`));
    });

    await check('writes a new file', async () => {
        const content = 'Zeile 1 ✓\n\ttab "quoted" \\n\nno newline at the end';
        const text = observation(await client.call('write_file', { path: 'new.txt', content }));
        assert.match(text, /^File written: new\.txt(\n|$)/);
        assert.equal(fixture.get('new.txt'), content);
    });
    await check('creates folders when asked to', async () => {
        const args = { path: 'a/b/c.txt', content: 'deep\n' };
        assert.equal((await client.call('write_file', args)).isError, true, 'without create_dirs');
        assert.equal(fixture.has('a'), false, 'a folder was left behind');
        observation(await client.call('write_file', { ...args, create_dirs: true }));
        assert.equal(fixture.get('a/b/c.txt'), 'deep\n');
    });
    await check('patches a file', async () => {
        const args = { path: 'hello.js', old_str: "'hi'", new_str: "'👋'" };
        const dry = observation(await client.call('patch_file', { ...args, dry_run: true }));
        assert.equal(fixture.get('hello.js'), "console.log('hi');\n", `a dry run wrote: ${dry}`);
        assert.match(observation(await client.call('patch_file', args)), /^File patched: hello\.js(\n|$)/);
        assert.equal(fixture.get('hello.js'), "console.log('👋');\n");
    });
    await check('patches several lines of a CRLF file and keeps its line endings', async () => {
        observation(await client.call('patch_file', { path: 'crlf.txt', old_str: 'one\ntwo', new_str: '1\n2\n2b' }));
        assert.equal(fixture.get('crlf.txt'), '1\r\n2\r\n2b\r\nthree\r\n');
    });

    await check('lands 20 concurrent patches of one file', async () => {
        const texts = Array.from({ length: 20 }, (_, i) => `<${i}>\n`);
        fixture.put('shared.txt', texts.join(''));
        const patch = (text) => ({ path: 'shared.txt', old_str: text, new_str: `done ${text}` });
        const results = await Promise.all(texts.map((text) => client.call('patch_file', patch(text))));
        results.forEach(observation);
        assert.equal(fixture.get('shared.txt'), texts.map((text) => `done ${text}`).join(''));
    });

    await check('is told that a file is not there', async () => {
        const result = await client.call('read_file', { path: 'nowhere.txt' });
        assert.match(assertFailure(result, 'read_file', 'file_not_found').message, /nowhere\.txt/);
    });
    await check('is told that the text to replace is not there', async () => {
        const result = await client.call('patch_file', { path: 'lines.txt', old_str: 'absent', new_str: 'x' });
        assertFailure(result, 'patch_file', 'old_str_not_found');
    });
    await check('is told where an ambiguous match is, and nothing changes', async () => {
        const result = await client.call('patch_file', { path: 'twice.txt', old_str: 'same', new_str: 'x' });
        const { message, details } = assertFailure(result, 'patch_file', 'ambiguous_match');
        assert.match(message, /1.*3/s, `the message does not name both lines: ${message}`);
        assert.match(JSON.stringify(details), /1.*3/, `the details do not name both lines: ${JSON.stringify(details)}`);
        assert.equal(fixture.get('twice.txt'), 'same\nother\nsame\n');
    });
    await check('cannot leave the workspace', async () => {
        for (const path of ['../server.exits', '/etc/passwd', 'src/../../x']) {
            assertFailure(await client.call('read_file', { path }), 'read_file', 'outside_workspace');
        }
    });
    for (const [what, args, field] of [
        ['a missing', {}, 'path'],
        ['a wrongly typed', { path: 'hello.js', start_line: 'three' }, 'start_line'],
        ['an unknown', { path: 'hello.js', colour: 'red' }, 'colour'],
    ]) {
        await check(`is told about ${what} argument by name`, async () => {
            const { message } = assertFailure(await client.call('read_file', args), 'read_file', 'invalid_arguments');
            assert.ok(message.includes(field), `no ${field} in: ${message}`);
        });
    }
    await check('gets a JSON-RPC error for an unknown tool', async () => {
        await assert.rejects(client.call('no_such_tool', {}), (error) => {
            assert.equal(error.code, -32602, String(error));
            return true;
        });
    });
    await check('goes on after aborted calls', async () => {
        const calls = Array.from({ length: 20 }, (_, i) => {
            const abort = new AbortController();
            const call = client.call('list_dir', { path: '.', depth: 3 }, { signal: abort.signal });
            // Some at once, some when the request is on its way, some perhaps too late.
            if (i % 3 === 0) abort.abort('not needed any more');
            else setImmediate(() => abort.abort('not needed any more'));
            return call.then(() => 'answered', () => 'aborted');
        });
        const ends = await Promise.all(calls);
        assert.ok(ends.includes('aborted'), ends.join());
        assert.equal(await read({ path: 'src/main.rs' }), '1: fn main() {}\n');
    });

    await check('closes, and the server ends by itself with exit code 0', async () => {
        const start = performance.now();
        await client.close();
        await fixture.stop();
        const took = performance.now() - start;
        assert.ok(took < 2000, `took ${Math.round(took)} ms`);
        const exits = fixture.exits();
        assert.ok(exits.length > 0, 'it was killed');
        assert.ok(exits.every((code) => code === '0'), `exit codes ${exits}`);
    });
}
