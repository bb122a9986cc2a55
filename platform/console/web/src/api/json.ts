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
const blank = /[ \t\n\r]*/y;
const deepest = 2000;
const words: [string, Json][] = [["true", true], ["false", false], ["null", null]];

type Members = { [name: string]: Json };
type Open = { list: Json[] } | { members: Members; name: string };

// Reader reads a text value by value, so that a long one is read in slices.
class Reader {
  private at = 0;
  private readonly open: Open[] = [];
  private out: Json | undefined;

  constructor(private readonly text: string) {}

  // read goes on until the text ends or the time is over, and reports whether it ended.
  read(until = Infinity): boolean {
    for (let n = 1; this.out === undefined; n++) {
      if (n % 500 === 0 && performance.now() > until) return false;
      this.step();
    }
    this.space();
    if (this.at !== this.text.length) this.fail();
    return true;
  }

  get value(): Json {
    return this.out!;
  }

  private fail(): never {
    throw new SyntaxError(`not JSON at character ${this.at}`);
  }

  private space(): void {
    blank.lastIndex = this.at;
    blank.test(this.text);
    this.at = blank.lastIndex;
  }

  // step reads a leaf, or the beginning of a list or of members.
  private step(): void {
    if (this.open.length > deepest) this.fail();
    this.space();
    const { text } = this;
    switch (text[this.at]) {
      case "{": {
        // A member named __proto__ is a member.
        const members: Members = Object.create(null);
        this.at++;
        this.space();
        if (text[this.at] === "}") return this.at++, this.put(members);
        this.open.push({ members, name: this.name() });
        return;
      }
      case "[":
        this.at++;
        this.space();
        if (text[this.at] === "]") return this.at++, this.put([]);
        this.open.push({ list: [] });
        return;
      case '"':
        return this.put(this.string());
    }
    for (const [word, v] of words) {
      if (text.startsWith(word, this.at)) return (this.at += word.length), this.put(v);
    }
    number.lastIndex = this.at;
    const found = number.exec(text)?.[0] ?? this.fail();
    this.at += found.length;
    this.put(String(Number(found)) === found ? Number(found) : new Num(found));
  }

  // put adds a value to what is open, and closes what ends behind it.
  private put(v: Json): void {
    for (;;) {
      const top = this.open.at(-1);
      if (!top) {
        this.out = v;
        return;
      }
      const end = "list" in top ? "]" : "}";
      if ("list" in top) top.list.push(v);
      else top.members[top.name] = v;
      this.space();
      const c = this.text[this.at++];
      if (c === ",") {
        if ("members" in top) top.name = this.name();
        return;
      }
      if (c !== end) this.fail();
      this.open.pop();
      v = "list" in top ? top.list : top.members;
    }
  }

  private name(): string {
    this.space();
    if (this.text[this.at] !== '"') this.fail();
    const name = this.string();
    this.space();
    if (this.text[this.at++] !== ":") this.fail();
    return name;
  }

  private string(): string {
    const { text } = this;
    const begin = this.at++;
    plain.lastIndex = this.at;
    plain.test(text);
    this.at = plain.lastIndex;
    if (text[this.at] === '"') return text.slice(begin + 1, this.at++);
    // With escapes, which the browser reads: strings have no numbers.
    for (let end = text.indexOf('"', this.at); end >= 0; end = text.indexOf('"', end + 1)) {
      let slashes = 0;
      while (text[end - 1 - slashes] === "\\") slashes++;
      if (slashes % 2) continue;
      this.at = end + 1;
      return JSON.parse(text.slice(begin, end + 1)) as string;
    }
    return this.fail();
  }
}

export function parse(text: string): Json {
  const r = new Reader(text);
  r.read();
  return r.value;
}

// parseInSlices is parse for what is long: the page stays usable meanwhile.
export async function parseInSlices(text: string): Promise<Json> {
  const r = new Reader(text);
  while (!r.read(performance.now() + 12)) await new Promise((next) => setTimeout(next));
  return r.value;
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

// printSome is print with indentation, up to so many characters: what follows is not shown, and not written either.
export function printSome(v: unknown, most: number): string {
  let left = most;
  const write = (x: unknown, depth: number): string => {
    if (left <= 0) return "";
    const count = (text: string) => ((left -= text.length), text);
    if (typeof x === "string") return count(JSON.stringify(x.length > left ? x.slice(0, left) : x));
    if (x === null || typeof x !== "object" || x instanceof Num) return count(print(x));
    const [line, end] = ["\n" + " ".repeat(2 * (depth + 1)), "\n" + " ".repeat(2 * depth)];
    const list = Array.isArray(x);
    const members: [string, unknown][] = list ? x.map((m, i) => [String(i), m]) : Object.entries(x).filter(([, m]) => m !== undefined);
    if (members.length === 0) return count(list ? "[]" : "{}");
    const all: string[] = [];
    for (const [name, m] of members) {
      if (left <= 0) break;
      all.push(count(line + (list ? "" : `${JSON.stringify(name)}: `)) + write(m, depth + 1));
    }
    return `${list ? "[" : "{"}${all.join(",")}${end}${list ? "]" : "}"}`;
  };
  return write(v, 0).slice(0, most);
}
