// JSON that keeps numbers as they are written: an int64 or a 1.10 survives being read, shown and sent back.

// Num is a number whose text a JavaScript number would not give back.
export class Num {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}

export type Json = null | boolean | number | string | Num | Json[] | { [name: string]: Json };

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const plain = /[^"\\\u0000-\u001f]*/y;
const escapes: Record<string, string> = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const deepest = 2000;

export function parse(text: string): Json {
  let at = 0;
  const fail = (): never => {
    throw new SyntaxError(`not JSON at character ${at}`);
  };
  const space = () => {
    while (at < text.length && " \t\n\r".includes(text[at]!)) at++;
  };
  const string = (): string => {
    let out = "";
    at++;
    for (;;) {
      plain.lastIndex = at;
      const run = plain.exec(text)![0];
      out += run;
      at += run.length;
      const c = text[at++];
      if (c === '"') return out;
      if (c !== "\\") return fail();
      const e = text[at++] ?? "";
      if (e === "u") {
        const hex = text.slice(at, at + 4);
        if (!/^[0-9a-fA-F]{4}$/.test(hex)) fail();
        out += String.fromCharCode(parseInt(hex, 16));
        at += 4;
      } else out += escapes[e] ?? fail();
    }
  };
  const word = <T>(w: string, v: T): T => {
    if (!text.startsWith(w, at)) fail();
    at += w.length;
    return v;
  };
  const value = (depth: number): Json => {
    if (depth > deepest) fail();
    space();
    switch (text[at]) {
      case "{": {
        // A member named __proto__ is a member.
        const out: { [name: string]: Json } = Object.create(null);
        at++;
        space();
        if (text[at] === "}") return at++, out;
        for (;;) {
          space();
          if (text[at] !== '"') fail();
          const name = string();
          space();
          if (text[at++] !== ":") fail();
          out[name] = value(depth + 1);
          space();
          const c = text[at++];
          if (c === "}") return out;
          if (c !== ",") fail();
        }
      }
      case "[": {
        const out: Json[] = [];
        at++;
        space();
        if (text[at] === "]") return at++, out;
        for (;;) {
          out.push(value(depth + 1));
          space();
          const c = text[at++];
          if (c === "]") return out;
          if (c !== ",") fail();
        }
      }
      case '"':
        return string();
      case "t":
        return word("true", true);
      case "f":
        return word("false", false);
      case "n":
        return word("null", null);
    }
    number.lastIndex = at;
    const found = number.exec(text)?.[0] ?? fail();
    at += found.length;
    return String(Number(found)) === found ? Number(found) : new Num(found);
  };
  const out = value(0);
  space();
  return at === text.length ? out : fail();
}

// print is JSON.stringify for what parse returns, and for what is to be sent.
export function print(v: unknown, indent = 0, depth = 0): string {
  if (v instanceof Num) return v.text;
  if (v === null || typeof v !== "object") return JSON.stringify(v) ?? "null";
  const [line, end] = indent ? ["\n" + " ".repeat(indent * (depth + 1)), "\n" + " ".repeat(indent * depth)] : ["", ""];
  const between = "," + line;
  if (Array.isArray(v)) {
    return v.length ? `[${line}${v.map((x) => print(x, indent, depth + 1)).join(between)}${end}]` : "[]";
  }
  const members = Object.entries(v).filter(([, x]) => x !== undefined);
  const colon = indent ? ": " : ":";
  return members.length
    ? `{${line}${members.map(([n, x]) => JSON.stringify(n) + colon + print(x, indent, depth + 1)).join(between)}${end}}`
    : "{}";
}
