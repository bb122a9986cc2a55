package sandbox

// driver makes the console, calls the program with the input, and waits for a
// promise that it returns. What it needs it takes before the program can spoil
// it. Each call of the console prints a line.
//
// The errors by which the engine says that a limit was reached have a prototype
// of their own: programs see another InternalError, whose instances are not of
// it, so that no error made by a program counts as one of the engine's. Whether
// memory was refused, the host knows for itself.
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
