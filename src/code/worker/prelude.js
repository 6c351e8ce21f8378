// What a program finds besides the language: `tools`, `ToolCallError` and `console`. Everything that is used later is taken
// here, before the program can put something else in its place.
(invoke, describe, awaited, print, unknown, names) => {
  "use strict";
  const { freeze, create, defineProperty } = Object;
  const Trace = Error;

  class ToolCallError extends Error {
    constructor(fault) {
      super(fault.message);
      this.code = fault.code;
      this.tool = fault.tool;
      this.details = fault.details;
    }
  }
  defineProperty(ToolCallError.prototype, "name", { value: "ToolCallError", writable: true, configurable: true });

  // The promise of a call. It says when somebody wants to know what comes of it: whatever awaits it, or hands it on to
  // something that does, asks for `then`.
  const { then } = Promise.prototype;
  const { apply } = Reflect;
  class Call extends Promise {
    #id = 0;
    static get [Symbol.species]() {
      return Promise;
    }
    static of(begin) {
      let resolve, reject;
      const call = new Call((done, failed) => {
        resolve = done;
        reject = failed;
      });
      call.#id = begin(resolve, reject);
      return call;
    }
    then(done, failed) {
      awaited(this.#id);
      return apply(then, this, [done, failed]);
    }
  }
  freeze(Call);
  freeze(Call.prototype);

  const known = create(null);
  const stack = () => new Trace().stack;
  for (const name of names) {
    known[name] = { [name]: (...given) => Call.of((done, failed) => invoke(name, given, stack(), done, failed)) }[name];
  }
  if (known.describe === undefined) {
    known.describe = (name) => Call.of((done, failed) => describe(name, stack(), done, failed));
  }
  freeze(known);
  const quiet = ["then", "toJSON", "constructor", "toString", "valueOf", "prototype", "__proto__"];
  const tools = new Proxy(known, {
    get: (target, name) => {
      if (typeof name !== "string" || name in target) return target[name];
      for (let at = 0; at < quiet.length; at++) if (quiet[at] === name) return undefined;
      throw new TypeError(unknown(name));
    },
  });

  const console = create(null);
  const levels = ["log", "info", "debug", "warn", "error", "trace", "dir", "dirxml", "table", "group", "groupCollapsed"];
  for (const level of levels) {
    console[level] = { [level]: (...values) => print(level, values) }[level];
  }
  console.assert = (holds, ...values) => {
    if (!holds) print("assert", values);
  };
  const counts = create(null);
  console.count = (label = "default") => print("count", [`${label}: ${(counts[label] = (counts[label] ?? 0) + 1)}`]);
  console.countReset = (label = "default") => void delete counts[label];
  const { now } = Date;
  const since = create(null);
  const passed = (label = "default") => print("time", [`${label}: ${now() - (since[label] ?? now())} ms`]);
  console.time = (label = "default") => void (since[label] = now());
  console.timeLog = passed;
  console.timeEnd = passed;
  console.groupEnd = console.clear = () => undefined;

  for (const [name, value] of [["tools", tools], ["ToolCallError", ToolCallError], ["console", freeze(console)]]) {
    defineProperty(globalThis, name, { value, writable: false, configurable: false, enumerable: false });
  }
  // Threads, shared memory and clocks are nothing that a program here has a use for.
  for (const name of ["SharedArrayBuffer", "Atomics", "performance"]) delete globalThis[name];

  return (fault, stack) => {
    const error = new ToolCallError(fault);
    defineProperty(error, "stack", { value: stack, writable: true, configurable: true });
    return error;
  };
}
