// What a program finds besides the language: `tools`, `ToolCallError` and `console`. Everything that is used later is taken
// here, before the program can put something else in its place.
(invoke, describe, print, unknown, names) => {
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

  const known = create(null);
  for (const name of names) {
    known[name] = { [name]: (...given) => invoke(name, given, new Trace().stack) }[name];
  }
  if (known.describe === undefined) {
    known.describe = (name) => describe(name);
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
  for (const level of ["log", "info", "debug", "warn", "error", "trace", "dir", "table"]) {
    console[level] = { [level]: (...values) => print(level, values) }[level];
  }

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
