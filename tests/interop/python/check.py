"""The Python SDK 2.x: probing, with the handshake, and pinned to the stateless era."""

import asyncio
import base64
import json
import re
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import anyio
from mcp import Client, MCPError, StdioServerParameters

MODERN = "2026-07-28"
MODES = [("auto", MODERN), ("legacy", "2025-11-25"), (MODERN, MODERN)]
TOOLS = {"list_dir", "patch_file", "read_file", "todo_write", "undo_change", "write_file"}
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
OBSERVE = Path(__file__).resolve().parent.parent / "observe"


class Fixture:
    """A workspace with known files, and beside it (never inside) what the server leaves behind."""

    def __init__(self):
        self.base = Path(tempfile.mkdtemp(prefix="toolgate-interop-"))
        self.root = self.base / "workspace"
        self.log = self.base / "server"
        self.put("hello.js", "console.log('hi');\n")
        self.put("lines.txt", "".join(f"line {i}\n" for i in range(1, 10)))
        self.put("unicode.txt", "Grüße, 世界 👋🏽\nnaïve café\n")
        self.put("crlf.txt", "one\r\ntwo\r\nthree\r\n")
        self.put("twice.txt", "same\nother\nsame\n")
        self.put("empty.txt", "")
        self.put("pixel.png", base64.b64decode(PIXEL))
        self.put("src/main.rs", "fn main() {}\n")
        for i in range(50):
            self.put(f"many/{i}.txt", f"file {i}\n")

    def put(self, path, content):
        whole = self.root / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_bytes(content if isinstance(content, bytes) else content.encode())

    def get(self, path):
        return (self.root / path).read_bytes().decode()

    def command(self, binary):
        args = [str(OBSERVE), str(self.log), binary, "serve", str(self.root)]
        return StdioServerParameters(command="/bin/sh", args=args)

    def serve(self, binary):
        """Starts a server over HTTP and returns its URL."""
        stderr = self.log.with_name("server.stderr").open("wb")
        self.server = subprocess.Popen(
            [binary, "serve", str(self.root), "--http", "127.0.0.1:0"],
            env={**os.environ, "XDG_STATE_HOME": f"{self.log}.state"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )
        until = time.monotonic() + 20
        while time.monotonic() < until and self.server.poll() is None:
            if found := re.search(r"serves MCP at (\S+/mcp)$", self.beside("stderr")):
                return found[1]
            time.sleep(0.01)
        raise AssertionError(f"it does not serve: {self.beside('stderr')}")

    def stop(self):
        """Asks the server over HTTP to end, and notes how it has."""
        self.server.terminate()
        self.log.with_name("server.exits").write_text(f"{self.server.wait(10)}\n")

    def beside(self, suffix):
        """What `observe` wrote: `exits` or `stderr`."""
        file = self.log.with_name(f"server.{suffix}")
        return file.read_text().strip() if file.exists() else ""


class Report:
    """Prints one line a check, and remembers whether any failed."""

    def __init__(self, label):
        self.label = label
        self.failed = 0

    async def check(self, name, body):
        async def limited():
            with anyio.fail_after(20):
                await body()

        await self.unlimited(name, limited)

    async def unlimited(self, name, body):
        """A check without a cancel scope of its own, for what opens or closes the client's."""
        try:
            await body()
            print(f"ok - {self.label}: {name}", flush=True)
        except Exception as error:  # every failure is a line of the report
            self.failed += 1
            print(f"not ok - {self.label}: {name}")
            print("\n".join(f"    {line}" for line in f"{type(error).__name__}: {error}".splitlines()), flush=True)


def expect(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(part) for part in what))


def equal(actual, expected):
    expect(actual == expected, f"expected {expected!r}\n     got {actual!r}")


def observation(result):
    """The call worked, and its first content block is the observation."""
    expect(not result.is_error, "failed:", result)
    expect(result.content and result.content[0].type == "text", "content:", result)
    return result.content[0].text


def failure(result, tool, code):
    """The call failed with `code`, said completely both in the text and in the structured content."""
    expect(result.is_error, "did not fail:", result)
    error = dict(result.structured_content or {})
    details = error.pop("details", None)
    message = result.content[0].text
    equal(error, {"status": "error", "tool": tool, "error": code, "message": message})
    expect(message and isinstance(details, dict), "message and details:", result)
    return message, details


class Checks:
    """What a client must be able to do, in either era. Every coroutine named `check_…` is run, in this order."""

    def __init__(self, client, fixture):
        self.client = client
        self.fixture = fixture

    async def call(self, name, **args):
        return await self.client.call_tool(name, args)

    async def read(self, **args):
        return observation(await self.call("read_file", **args))

    async def check_answers_a_ping(self):
        await self.client.send_ping()

    async def check_lists_the_tools(self):
        tools = {tool.name: tool for tool in (await self.client.list_tools()).tools}
        expect(TOOLS <= tools.keys(), "missing tools:", TOOLS - tools.keys())
        for name, tool in tools.items():
            expect(tool.title, name, "has no title")
            expect(tool.description, name, "has no description")
            expect(tool.annotations and isinstance(tool.annotations.read_only_hint, bool), name, tool.annotations)
            equal(tool.input_schema.get("type"), "object")
        equal({name for name in TOOLS if tools[name].annotations.read_only_hint}, {"list_dir", "read_file", "todo_write"})

    async def check_lists_a_folder(self):
        text = observation(await self.call("list_dir", path="."))
        for name in ("hello.js", "src", "many"):
            expect(name in text, "no", name, "in:", text)

    async def check_reads_a_file(self):
        equal(await self.read(path="hello.js"), "1: console.log('hi');\n")

    async def check_reads_a_range_of_lines(self):
        equal(await self.read(path="lines.txt", start_line=3, end_line=4), "3: line 3\n4: line 4\n")

    async def check_reads_text_in_all_scripts(self):
        equal(await self.read(path="unicode.txt"), "1: Grüße, 世界 👋🏽\n2: naïve café\n")

    async def check_reads_an_empty_file(self):
        text = await self.read(path="empty.txt")
        expect(not text.startswith("1: "), repr(text))

    async def check_gets_an_image_as_an_image(self):
        content = (await self.call("read_file", path="pixel.png")).content
        images = [(block.mime_type, block.data) for block in content if block.type == "image"]
        equal(images, [("image/png", PIXEL)])

    async def check_gets_50_answers_to_50_concurrent_reads(self):
        texts = await asyncio.gather(*(self.read(path=f"many/{i}.txt") for i in range(50)))
        equal(texts, [f"1: file {i}\n" for i in range(50)])

    async def check_writes_a_new_file(self):
        content = 'Zeile 1 ✓\n\ttab "quoted" \\n\nno newline at the end'
        text = observation(await self.call("write_file", path="new.txt", content=content))
        equal(text.splitlines()[0], "File written: new.txt")
        equal(self.fixture.get("new.txt"), content)

    async def check_creates_folders_when_asked_to(self):
        args = {"path": "a/b/c.txt", "content": "deep\n"}
        expect((await self.call("write_file", **args)).is_error, "worked without create_dirs")
        expect(not (self.fixture.root / "a").exists(), "a folder was left behind")
        observation(await self.call("write_file", **args, create_dirs=True))
        equal(self.fixture.get("a/b/c.txt"), "deep\n")

    async def check_patches_a_file(self):
        args = {"path": "hello.js", "old_str": "'hi'", "new_str": "'👋'"}
        observation(await self.call("patch_file", **args, dry_run=True))
        equal(self.fixture.get("hello.js"), "console.log('hi');\n")
        equal(observation(await self.call("patch_file", **args)).splitlines()[0], "File patched: hello.js")
        equal(self.fixture.get("hello.js"), "console.log('👋');\n")

    async def check_patches_several_lines_of_a_crlf_file_and_keeps_its_line_endings(self):
        observation(await self.call("patch_file", path="crlf.txt", old_str="one\ntwo", new_str="1\n2\n2b"))
        equal(self.fixture.get("crlf.txt"), "1\r\n2\r\n2b\r\nthree\r\n")

    async def check_is_told_that_a_file_is_not_there(self):
        message, _ = failure(await self.call("read_file", path="nowhere.txt"), "read_file", "file_not_found")
        expect("nowhere.txt" in message, message)

    async def check_is_told_that_the_text_to_replace_is_not_there(self):
        result = await self.call("patch_file", path="lines.txt", old_str="absent", new_str="x")
        failure(result, "patch_file", "old_str_not_found")

    async def check_is_told_where_an_ambiguous_match_is_and_nothing_changes(self):
        result = await self.call("patch_file", path="twice.txt", old_str="same", new_str="x")
        message, details = failure(result, "patch_file", "ambiguous_match")
        for text in (message, json.dumps(details)):
            expect(re.search("1.*3", text, re.DOTALL), "does not name both lines:", text)
        equal(self.fixture.get("twice.txt"), "same\nother\nsame\n")

    async def check_cannot_leave_the_workspace(self):
        for path in ("../server.exits", "/etc/passwd", "src/../../x"):
            failure(await self.call("read_file", path=path), "read_file", "outside_workspace")

    async def check_is_told_about_bad_arguments_by_name(self):
        for args, field in [
            ({}, "path"),
            ({"path": "hello.js", "start_line": "three"}, "start_line"),
            ({"path": "hello.js", "colour": "red"}, "colour"),
        ]:
            message, _ = failure(await self.call("read_file", **args), "read_file", "invalid_arguments")
            expect(field in message, "no", field, "in:", message)

    async def check_gets_a_json_rpc_error_for_an_unknown_tool(self):
        try:
            result = await self.call("no_such_tool")
        except MCPError as error:
            equal(error.error.code, -32602)
        else:
            expect(False, "was answered:", result)

    async def check_goes_on_after_abandoned_calls(self):
        async def abandon(seconds):
            with anyio.move_on_after(seconds):
                await self.call("list_dir", path=".", depth=3)

        await asyncio.gather(*(abandon(i / 10_000) for i in range(20)))
        equal(await self.read(path="src/main.rs"), "1: fn main() {}\n")


def readable(method):
    return method.removeprefix("check_").replace("_", " ")


async def session(binary, mode, version, over):
    """Runs all checks over one connection."""
    report = Report(f"python sdk 2, {mode}, {over}")
    fixture = Fixture()
    client = Client(fixture.serve(binary) if over == "http" else fixture.command(binary), mode=mode)
    connected = False

    async def connects():
        nonlocal connected
        await client.__aenter__()
        connected = True
        equal(client.protocol_version, version)

    async def closes():
        start = time.monotonic()
        await client.__aexit__(None, None, None)
        if over == "http":
            fixture.stop()
        took = time.monotonic() - start
        expect(took < 2, f"took {took:.1f} s")
        exits = fixture.beside("exits").split()
        expect(exits, "it was killed")
        expect(set(exits) == {"0"}, "exit codes", exits)

    await report.unlimited(f"connects with {version}", connects)
    if connected:
        checks = Checks(client, fixture)
        names = [name for name in vars(Checks) if name.startswith("check_")]
        if version == MODERN:
            names.remove("check_answers_a_ping")  # the stateless era has none
        for method in names:
            await report.check(readable(method), getattr(checks, method))
        await report.unlimited("closes, and the server ends by itself with exit code 0", closes)
    if report.failed and (stderr := fixture.beside("stderr")):
        print("# stderr of the server:", *stderr.splitlines(), sep="\n#   ")
    shutil.rmtree(fixture.base, ignore_errors=True)
    return report.failed


async def main(binary):
    failed = 0
    for over in ("stdio", "http"):
        for mode, version in MODES:
            failed += await session(binary, mode, version, over)
    return 1 if failed else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # the SDK calls `ping` deprecated
    sys.exit(asyncio.run(main(sys.argv[1])))
