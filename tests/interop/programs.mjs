// What every TypeScript client must be able to do with programs instead of calls (`--mode code`).
import { strict as assert } from 'node:assert';
import { Fixture, Report, assertFailure } from './fixture.mjs';

/** Runs all checks over one connection; `connect` is as in `session`. */
export async function programs(label, binary, connect) {
    const report = new Report(`${label}, programs`);
    const fixture = new Fixture();
    const client = await connect(fixture.command(binary, '--mode', 'code'));
    const run = (code, more) => client.call('run_code', { code, description: 'Try a program', ...more });
    const texts = ({ content, isError }) => {
        assert.notEqual(isError, true, JSON.stringify(content));
        return content.map((block) => block.text);
    };

    await report.check('is offered one tool, which says what can be called', async () => {
        const tools = await client.list();
        assert.deepEqual(tools.map((tool) => tool.name), ['run_code']);
        for (const said of ['declare const tools', 'read_file: (args: {', 'rejects with a ToolCallError']) {
            assert.ok(tools[0].description.includes(said), `no ${said} in: ${tools[0].description}`);
        }
    });
    await report.check('reads what a program printed, returned and changed', async () => {
        const [said, changed, undo] = texts(
            await run(`const { content }: { content: string } = await tools.read_file({ path: 'hello.js' });
console.log(content.length, 'characters');
await tools.write_file({ path: 'copy.js', content });
return { copied: true as boolean };`),
        );
        assert.equal(said, '19 characters\n{\n  "copied": true\n}');
        assert.match(changed, /^\[write_file copy\.js: change \w{8}\]$/);
        assert.equal(fixture.get('copy.js'), "console.log('hi');\n");
        const [, name] = /^\[Run (\w{8}): undo_change/.exec(undo) ?? [];
        texts(await run(`await tools.undo_change({ change: '${name}' })`));
        assert.equal(fixture.has('copy.js'), false);
    });
    await report.check('has 100 reads done at once', async () => {
        const code = `const reads = Array.from({ length: 100 }, (_, i) => tools.read_file({ path: \`many/\${i % 50}.txt\` }));
return (await Promise.all(reads)).map((file) => file.content).join('').length`;
        assert.equal(texts(await run(code))[0], String(2 * (10 * 7 + 40 * 8)));
    });
    for (const [what, code, kind, line] of [
        ['is no TypeScript', 'const a = 1;\nconst = 2', 'syntax', 2],
        ['has an enum', '\n\nenum Color { Red }', 'syntax', 3],
        ['throws', 'const a: number = 1;\nnull.a', 'exception', 2],
        ['throws null', 'throw null', 'exception', undefined],
        ['reads what is not there', "\nawait tools.read_file({ path: 'gone' })", 'exception', 2],
        ['awaits nothing that it calls', "tools.read_file({ path: 'hello.js' })", 'unsettled', 1],
        ['never ends', 'for (;;);', 'timeout', undefined],
        ['never ends within the engine', "'a'.repeat(2e6).lastIndexOf('a'.repeat(1e6) + 'b')", 'timeout', undefined],
        ['prints without end', "for (;;) console.log('x'.repeat(100))", 'output_limit', undefined],
        ['fills its memory', 'const all = []; for (;;) all.push({})', 'memory', null],
    ]) {
        await report.check(`is told why a program failed that ${what}`, async () => {
            const { message, details } = assertFailure(await run(code, { timeout_ms: 3000 }), 'run_code', 'code_run_failed');
            assert.equal(details.kind, kind, message);
            // Where memory runs out is not always known.
            if (line !== null) assert.equal(details.line ?? undefined, line, message);
        });
    }
    await report.check('goes on after an aborted program', async () => {
        const abort = new AbortController();
        const code = "await tools.write_file({ path: 'begun', content: '' }); for (;;) await tools.list_dir({})";
        const call = client.call('run_code', { code, description: 'Never ends' }, { signal: abort.signal });
        const ended = call.then(() => 'answered', () => 'aborted');
        while (!fixture.has('begun')) await new Promise((resolve) => setImmediate(resolve));
        abort.abort('not needed any more');
        assert.equal(await ended, 'aborted');
        assert.equal(texts(await run('return 1'))[0], '1');
    });
    await report.check('closes, and nothing is left behind', async () => {
        await client.close();
        const exits = fixture.exits();
        assert.ok(exits.length > 0 && exits.every((code) => code === '0'), `exit codes ${exits}`);
    });
    report.close(fixture);
    fixture.remove();
    return report.failed;
}
