// The folder that every client works in, and the printing of checks. Uses nothing but node.
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const TOOLS = ['list_dir', 'patch_file', 'read_file', 'todo_write', 'undo_change', 'write_file'];

/** The smallest PNG: one transparent pixel. */
export const PIXEL =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** A workspace with known files, and beside it (never inside) what the server leaves behind. */
export class Fixture {
    constructor() {
        this.base = mkdtempSync(join(tmpdir(), 'toolgate-interop-'));
        this.root = join(this.base, 'workspace');
        this.log = join(this.base, 'server');
        mkdirSync(join(this.root, 'src'), { recursive: true });
        this.put('hello.js', "console.log('hi');\n");
        this.put('lines.txt', Array.from({ length: 9 }, (_, i) => `line ${i + 1}\n`).join(''));
        this.put('unicode.txt', 'Grüße, 世界 👋🏽\nnaïve café\n');
        this.put('crlf.txt', 'one\r\ntwo\r\nthree\r\n');
        this.put('twice.txt', 'same\nother\nsame\n');
        this.put('empty.txt', '');
        this.put('pixel.png', Buffer.from(PIXEL, 'base64'));
        this.put('src/main.rs', 'fn main() {}\n');
        for (let i = 0; i < 50; i++) this.put(`many/${i}.txt`, `file ${i}\n`);
    }

    put(path, content) {
        const whole = join(this.root, path);
        mkdirSync(join(whole, '..'), { recursive: true });
        writeFileSync(whole, content);
    }

    get(path) {
        return readFileSync(join(this.root, path), 'utf8');
    }

    has(path) {
        return existsSync(join(this.root, path));
    }

    /** The command line that serves the workspace. */
    command(binary, ...more) {
        const observe = fileURLToPath(new URL('observe', import.meta.url));
        chmodSync(observe, 0o755);
        return { command: observe, args: [this.log, binary, 'serve', this.root, ...more] };
    }

    /** Starts a server over HTTP and returns its URL. */
    serve(binary) {
        const args = ['serve', this.root, '--http', '127.0.0.1:0'];
        const env = { ...process.env, XDG_STATE_HOME: `${this.log}.state` };
        this.server = spawn(binary, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
        this.ended = new Promise((resolve) => {
            this.server.on('exit', (code) => {
                appendFileSync(`${this.log}.exits`, `${code}\n`);
                resolve();
            });
        });
        return new Promise((resolve, reject) => {
            let said = '';
            this.server.on('error', reject).on('exit', () => reject(new Error(`it does not serve: ${said}`)));
            this.server.stderr.setEncoding('utf8').on('data', (text) => {
                said += text;
                appendFileSync(`${this.log}.stderr`, text);
                const found = /serves MCP at (\S+\/mcp)\n/.exec(said);
                if (found) resolve(found[1]);
            });
        });
    }

    /** Asks the server over HTTP to end, and waits until it has. */
    async stop() {
        this.server?.kill('SIGTERM');
        await this.ended;
    }

    /** How every server process ended so far. */
    exits() {
        return existsSync(`${this.log}.exits`) ? readFileSync(`${this.log}.exits`, 'utf8').trim().split('\n') : [];
    }

    stderr() {
        return existsSync(`${this.log}.stderr`) ? readFileSync(`${this.log}.stderr`, 'utf8') : '';
    }

    remove() {
        this.server?.kill('SIGKILL');
        rmSync(this.base, { recursive: true, force: true });
    }
}

/** Prints one line a check, and remembers whether any failed. */
export class Report {
    failed = 0;

    constructor(label) {
        this.label = label;
    }

    async check(name, body, limit = 20_000) {
        let timer;
        const late = new Promise((_, reject) => {
            timer = setTimeout(() => reject(new Error(`no answer within ${limit / 1000} s`)), limit);
        });
        try {
            await Promise.race([body(), late]);
            console.log(`ok - ${this.label}: ${name}`);
        } catch (error) {
            this.failed += 1;
            console.log(`not ok - ${this.label}: ${name}`);
            console.log(String(error?.message ?? error).replace(/^/gm, '    '));
        } finally {
            clearTimeout(timer);
        }
    }

    /** Shows what the server said, if something failed. */
    close(fixture) {
        const stderr = fixture.stderr().trim();
        if (this.failed > 0 && stderr) console.log(`# stderr of the server:\n${stderr.replace(/^/gm, '#   ')}`);
    }
}

/** A tool list is usable: these tools, each with what hosts show and what models fill in. */
export function assertTools(tools) {
    const names = tools.map((tool) => tool.name);
    assert.deepEqual(
        TOOLS.filter((name) => !names.includes(name)),
        [],
        `missing tools; there are ${names.join(', ')}`,
    );
    assert.equal(new Set(names).size, names.length, 'a tool is listed twice');
    for (const tool of tools) {
        assert.ok(tool.title, `${tool.name} has no title`);
        assert.ok(tool.description, `${tool.name} has no description`);
        assert.equal(typeof tool.annotations?.readOnlyHint, 'boolean', `${tool.name}: annotations.readOnlyHint`);
        assert.equal(tool.inputSchema?.type, 'object', `${tool.name}: inputSchema.type`);
        assert.equal(typeof tool.inputSchema.properties, 'object', `${tool.name}: inputSchema.properties`);
        const text = JSON.stringify(tool.inputSchema);
        for (const trouble of ['"$schema"', '"$ref"', '"$defs"', '"format":"uint', '"null"']) {
            assert.ok(!text.includes(trouble), `${tool.name}: clients choke on ${trouble} in a schema: ${text}`);
        }
    }
    const readOnly = (name) => tools.find((tool) => tool.name === name).annotations.readOnlyHint;
    assert.deepEqual(TOOLS.filter(readOnly), ['list_dir', 'read_file', 'todo_write'], 'which tools are read-only');
}

/** The call worked, and its first content block is the observation. */
export function observation(result) {
    assert.notEqual(result.isError, true, `failed: ${JSON.stringify(result)}`);
    assert.equal(result.content?.[0]?.type, 'text', `content: ${JSON.stringify(result)}`);
    return result.content[0].text;
}

/** The call failed with `code`, said completely both in the text and in the structured content. */
export function assertFailure(result, tool, code) {
    assert.equal(result.isError, true, `did not fail: ${JSON.stringify(result)}`);
    const { details, ...error } = result.structuredContent ?? {};
    const message = result.content?.[0]?.text;
    assert.deepEqual(error, { status: 'error', tool, error: code, message }, JSON.stringify(result));
    assert.ok(message.length > 0, 'no message');
    assert.equal(typeof details, 'object', 'details');
    return { message, details };
}
