// The declarations of code mode before the real TypeScript compiler, and the eraser of types beside the compiler's own.
//
// What is made from random schemas and programs is written by the tests (`suite::code_mode::samples`), which run before.
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import vm from 'node:vm';
import { Report } from '../fixture.mjs';
import { faults, refused, shape, transpiled } from './compile.mjs';
import { instance, random, validator } from './instances.mjs';

const [binary] = process.argv.slice(2);
const samples = process.env.SAMPLES;
const report = new Report('compiler');
const check = (name, body) => report.check(name, body, 200_000);

function toolgate(...args) {
    const { status, stdout, stderr } = spawnSync(binary, args, { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return stdout;
}

function sample(name) {
    const path = `${samples}/${name}`;
    assert.ok(existsSync(path), `${path} is missing: run the tests first (cargo test suite::code_mode)`);
    return JSON.parse(readFileSync(path, 'utf8'));
}

const none = (found) => assert.equal(found.length, 0, `${found.length} faults, such as\n${found.slice(0, 5).map((fault) => JSON.stringify(fault)).join('\n')}`);

const sdk = toolgate('tools', '--format', 'typescript');
const tools = JSON.parse(toolgate('tools', '--structured'));
const dice = random(1);

await check('the declarations of the built-in tools are TypeScript', () => none(faults({ 'sdk.d.ts': sdk })));

await check('they take 200 arguments and outputs of each tool that its schemas take', () => {
    const lines = [];
    for (const { name, inputSchema, outputSchema } of tools) {
        for (const [schema, line] of [
            [inputSchema, (value) => `void tools[${JSON.stringify(name)}](${value});`],
            [outputSchema, (value) => `{ const output: Awaited<ReturnType<(typeof tools)[${JSON.stringify(name)}]>> = ${value}; void output; }`],
        ]) {
            const fits = validator(schema);
            for (let at = 0; at < 200; at++) {
                const value = instance(schema, dice);
                assert.ok(fits(value), `${name}: ${JSON.stringify(value)}`);
                lines.push(line(JSON.stringify(value)));
            }
        }
    }
    none(faults({ 'sdk.d.ts': sdk, 'program.ts': lines.join('\n') }));
});

await check('they refuse what the schemas of the built-in tools refuse', () => {
    const wrong = [
        'tools.read_file({});',
        'tools.read_file();',
        'tools.read_file({ path: 1 });',
        'tools.read_file({ path: "a", start_line: "1" });',
        'tools.read_file({ path: "a", lines: 1 });',
        'tools.write_file({ path: "a" });',
        'tools.patch_file({ path: "a", old_str: "b" });',
        'tools.todo_write({ todos: [{ text: "a", status: "later" }] });',
        'tools.todo_write({ todos: "a" });',
        'tools.no_such_tool({});',
        'tools.run_code({ code: "", description: "" });',
        'const a: number = (await tools.read_file({ path: "a" })).content;',
        '(await tools.read_file({ path: "a" })).next.start_line;',
        '(await tools.list_dir()).entries[0]!.type === "folder";',
        'try {} catch (error) { if (error instanceof ToolCallError) { error.code === "no_such_code"; } }',
    ];
    const found = faults({ 'sdk.d.ts': sdk, 'program.ts': wrong.join('\n') });
    const missed = wrong.filter((_, line) => !found.some((fault) => fault.file === 'program.ts' && fault.line === line));
    assert.deepEqual(missed, []);
});

await check('a program as models write it is one to the compiler', () => {
    const program = `
        const { entries } = await tools.list_dir({ path: 'src', depth: 2 });
        const long: string[] = [];
        await Promise.all(entries.filter((entry) => entry.type === 'file').map(async ({ path, size }) => {
            if ((size ?? 0) < 100_000) {
                try {
                    const { content, total_lines } = await tools.read_file({ path });
                    if ((total_lines ?? 0) > 400) long.push(path + ': ' + content.length);
                } catch (error) {
                    if (!(error instanceof ToolCallError) || error.code !== 'binary_file') throw error;
                    console.warn(error.tool, error.message, error.details['size']);
                }
            }
        }));
        console.log(await tools.describe('read_file'));
        void long.sort();`;
    none(faults({ 'sdk.d.ts': sdk, 'program.ts': program }));
});

await check('types of random schemas are TypeScript', () => {
    const types = sample('types.json');
    assert.ok(types.length >= 3000, `${types.length} samples`);
    // A namespace each, so that no name stands in another's way.
    none(faults({ 'types.ts': types.map(({ declaration }, at) => `namespace N${at} { ${declaration} }`).join('\n') }));
});

await check('they take what their schemas take', () => {
    const lines = [];
    let values = 0;
    for (const { schema, declaration } of sample('types.json')) {
        const fits = validator(schema);
        const tries = fits ? Array.from({ length: 6 }, () => instance(schema, dice)).filter((value) => fits(value)) : [];
        // Not every end of a line in a string is one to JSON.
        const texts = new Set(tries.map((value) => JSON.stringify(value).replaceAll('\u2028', '\\u2028')));
        // In an object literal this name is no member but the prototype.
        const written = [...texts].filter((text) => !text.includes('__proto__'));
        values += written.length;
        const uses = written.map((text, at) => `export const v${at}: Sample = ${text};`).join(' ');
        lines.push(`namespace N${lines.length} { ${declaration.replaceAll(/^ *\/\*\*.*\*\/$/gm, '').replaceAll('\n', ' ')} ${uses} }`);
    }
    assert.ok(values >= 3000, `${values} values`);
    none(faults({ 'values.ts': lines.join('\n') }).map((fault) => ({ ...fault, text: lines[fault.line]?.slice(0, 2000) })));
});

await check('erased programs are what the compiler makes of them', () => {
    const wrong = [];
    let compared = 0;
    for (const { program, script } of sample('erased.json').filter((one) => one.script)) {
        try {
            new vm.Script(script);
        } catch (error) {
            wrong.push({ program, script, error: String(error) });
            continue;
        }
        const body = script.slice('(async()=>{"use strict";'.length, -'\n})()'.length);
        compared++;
        const [ours, theirs] = [shape(`async () => {\n${body}\n}`), shape(transpiled(`async () => {\n${program}\n}`))];
        if (ours !== theirs) wrong.push({ program, script, ours, theirs });
    }
    assert.ok(compared >= 2000, `${compared} programs`);
    none(wrong);
});

await check('what is refused is what is code, or no TypeScript at all', () => {
    const ours = sample('erased.json').filter((one) => one.fault);
    assert.ok(ours.length >= 30, `${ours.length} programs`);
    const unsaid = ours.filter((one) => !one.code);
    const theirs = refused(unsaid.map((one) => one.program));
    none(unsaid.filter((_, at) => !theirs[at]));
});

process.exit(report.failed ? 1 : 0);
