package sandbox

// driver creates the console, calls the program with the input, and awaits a
// promise that it returns. It saves the built-ins that it needs before the
// program can modify them. Each call of the console prints a line.
//
// The errors with which the engine reports an exceeded limit have a prototype of
// their own: programs see another InternalError, so that no error created by a
// program counts as one of the engine's. The host observes failed allocations
// itself.
const driver = `(() => {
  const print = __print, settle = __settle, input = JSON.parse(__input());
  delete globalThis.__print; delete globalThis.__settle; delete globalThis.__input;
  const stringify = JSON.stringify, String = globalThis.String, Err = Error, isError = Error.isError;
  const protoOf = Object.getPrototypeOf, describe = Object.getOwnPropertyDescriptor, call = Function.prototype.call;
  const cut = call.bind(String.prototype.slice), isIn = call.bind(Object.prototype.isPrototypeOf);
  const engine = InternalError.prototype;
  globalThis.InternalError = class InternalError extends Err {
    static [Symbol.hasInstance](v) { return isIn(InternalError.prototype, v) || isIn(engine, v); }
  };
  Object.defineProperty(globalThis.InternalError.prototype, "name", {value: "InternalError", writable: true, configurable: true});
  engine.constructor = globalThis.InternalError;
  const text = v => typeof v === "string" ? v : isError(v) ? String(v.stack || v) : (stringify(v) ?? String(v));
  const say = (...all) => { print(all.map(text).join(" ") + "\n"); };
  globalThis.console = Object.freeze({log: say, info: say, warn: say, error: say, debug: say});
  const limit = e => {
    if (e === null) return "memory";
    if (!isError(e) || protoOf(e) !== engine) return "";
    const own = describe(e, "message");
    return own && own.value === "stack overflow" ? "depth" : own && own.value === "out of memory" ? "memory" : "";
  };
  const fail = e => {
    const reached = limit(e);
    if (reached === "depth") return settle("depth", "");
    const said = isError(e) ? cut(String(e), 0, 3000) + "\n" + cut(String(e.stack ?? ""), 0, 1000) : cut(text(e), 0, 4000);
    settle(reached === "" ? "failed" : reached, said);
  };
  const done = v => {
    const raw = stringify(v === undefined ? null : v);
    if (raw === undefined) settle("bad_output", "the function returned a " + typeof v + ", which is not JSON");
    else settle("", raw);
  };
  import("program").then(module => {
    if (typeof module.default !== "function") return settle("malformed", "the module has no function as its default export");
    return Promise.resolve(module.default(input)).then(done);
  }).catch(fail);
})()`
