import { Num, type Json } from "../api/json";

// The definition of a graph or a composition as the pages edit it: its JSON, changed part by part, so that what they
// do not know of, and numbers as they are written, stay.

export type Obj = { [name: string]: Json };
export type Definition = Obj;

export const kinds = [
  "tool", "agent", "branch", "map", "parallel", "loop", "human", "wait", "call_agent", "graph", "start", "end",
] as const;
export type Kind = (typeof kinds)[number];

export const isObject = (v: Json | undefined): v is Obj => typeof v === "object" && v !== null && !Array.isArray(v) && !(v instanceof Num);
const listOf = (v: Json | undefined): Json[] => (Array.isArray(v) ? v : []);
export const text = (v: Json | undefined): string => (typeof v === "string" ? v : "");

// Place is a node, and where it is.
export interface Place {
  node: Obj;
  id: string;
  kind: string;
  pointer: string; // In the definition.
  body: string; // Pointer of the list that it is in.
  index: number;
  depth: number;
  path: string; // Of ids of the nodes and branches around it, and its own.
}

// Body is a list of nodes: the graph's own, that of a map or loop, or of a branch.
export interface Body {
  pointer: string;
  owner: string; // Id of the node around it; empty of the graph's own.
  name: string; // Of a branch.
  places: Place[];
}

export const sequence = (d: Definition): boolean => d.steps !== undefined;
export const rootOf = (d: Definition): string => (sequence(d) ? "/steps" : "/nodes");

// bodies are those of a definition, outer ones first.
export function bodies(d: Definition): Body[] {
  const out: Body[] = [];
  const take = (nodes: Json[], pointer: string, owner: string, name: string, depth: number, path: string) => {
    const body: Body = { pointer, owner, name, places: [] };
    out.push(body);
    nodes.forEach((n, index) => {
      const node = isObject(n) ? n : {};
      const id = text(node.id);
      const kind = sequence(d) ? "tool" : text(node.kind);
      const at = `${pointer}/${index}`;
      const own = path ? `${path}/${id}` : id;
      body.places.push({ node, id, kind, pointer: at, body: pointer, index, depth, path: own });
      if (Array.isArray(node.nodes)) take(node.nodes, `${at}/nodes`, id, "", depth + 1, own);
      listOf(node.branches).forEach((b, i) => {
        if (isObject(b)) take(listOf(b.nodes), `${at}/branches/${i}/nodes`, id, text(b.id), depth + 1, `${own}/${text(b.id)}`);
      });
    });
  };
  take(listOf(sequence(d) ? d.steps : d.nodes), rootOf(d), "", "", 0, "");
  return out;
}

// walk returns all nodes in the order of the definition, those of bodies below theirs.
export function walk(d: Definition): Place[] {
  const byPlace = new Map<string, Body[]>(); // Those directly below a node.
  const [root, ...others] = bodies(d);
  for (const b of others) {
    const at = b.pointer.replace(/(\/branches\/\d+)?\/nodes$/, "");
    byPlace.set(at, [...(byPlace.get(at) ?? []), b]);
  }
  const out: Place[] = [];
  const add = (b: Body) => {
    for (const p of b.places) {
      out.push(p);
      byPlace.get(p.pointer)?.forEach(add);
    }
  };
  if (root) add(root);
  return out;
}

// staticPath leaves the numbers of items and iterations out of the path of a record.
export const staticPath = (path: string): string => path.split("/").filter((s) => !/^\d+$/.test(s)).join("/");

export interface Edge {
  from: string; // Pointers.
  to: string;
  how: "next" | "case" | "default" | "error";
  label: string;
}

// edges are those between the nodes of one body.
export function edges(b: Body): Edge[] {
  const byId = new Map(b.places.map((p) => [p.id, p]));
  const out: Edge[] = [];
  const add = (from: Place, to: string, how: Edge["how"], label = "") => {
    const found = byId.get(to);
    if (found && found !== from) out.push({ from: from.pointer, to: found.pointer, how, label });
  };
  for (const p of b.places) {
    if (p.kind === "branch") {
      for (const c of listOf(p.node.cases)) if (isObject(c)) add(p, text(c.next), "case", text(c.when));
      add(p, text(p.node.default), "default", "else");
    } else if (p.kind !== "end") {
      const next = text(p.node.next) || b.places[p.index + 1]?.id || "";
      add(p, next, "next");
    }
    const failed = text(p.node.on_error);
    if (failed && !["fail", "continue", "stop"].includes(failed)) add(p, failed, "error", "on error");
  }
  return out;
}

// leads is where a node leads, in words.
export function leads(p: Place, b: Body): string {
  if (p.kind === "end") return "ends here";
  if (p.kind === "branch") {
    return [...listOf(p.node.cases).filter(isObject).map((c) => `${text(c.next)} if ${text(c.when)}`), `else ${text(p.node.default)}`].join("; ");
  }
  const failed = text(p.node.on_error);
  const next = text(p.node.next) || b.places[p.index + 1]?.id || "the end";
  return next + (failed && failed !== "fail" && failed !== "stop" ? (failed === "continue" ? ", even if it fails" : `; ${failed} if it fails`) : "");
}

// what a node works on, in a line.
export function detail(p: Place): string {
  const n = p.node;
  const binding = (v: Json | undefined): string => (isObject(v) && typeof v.$from === "string" ? v.$from : v === undefined ? "" : "a value");
  switch (p.kind) {
    case "tool": case "call_agent": case "graph": return text(n.tool);
    case "agent": return text(n.agent);
    case "map": return `for each of ${binding(n.over)}`;
    case "loop": return `while ${text(n.while)}`;
    case "parallel": return `${listOf(n.branches).length} side by side`;
    case "branch": return `${listOf(n.cases).length + 1} ways`;
    case "wait": return n.signal !== undefined ? `for ${text(n.signal)}` : n.until !== undefined ? "until a time" : `${typeof n.seconds === "object" ? "some" : String(n.seconds ?? "")} seconds`;
    case "human": return "asks a person";
    default: return text(n.title);
  }
}

// Changes. Each returns another definition, and leaves the old one as it was.

const tokens = (pointer: string): string[] => pointer.split("/").slice(1);

export function get(d: Json, pointer: string): Json | undefined {
  let at: Json | undefined = d;
  for (const t of tokens(pointer)) at = Array.isArray(at) ? at[Number(t)] : isObject(at) ? at[t] : undefined;
  return at;
}

// put sets the value at a pointer; a member set to undefined is removed.
export function put(d: Json, pointer: string, value: Json | undefined): Json {
  const [first, ...rest] = tokens(pointer);
  if (first === undefined) return value ?? null;
  const below = rest.length ? "/" + rest.join("/") : "";
  if (Array.isArray(d)) return d.map((x, i) => (String(i) === first ? put(x, below, value) : x));
  const from = isObject(d) ? d : {};
  if (!below && value === undefined) return Object.fromEntries(Object.entries(from).filter(([n]) => n !== first));
  return { ...from, [first]: below ? put(from[first] ?? {}, below, value) : value! };
}

export const freshId = (d: Definition, kind: string): string => {
  const used = new Set(walk(d).map((p) => p.id));
  for (let i = 1; ; i++) if (!used.has(`${kind}${i}`)) return `${kind}${i}`;
};

// template is a node of a kind with what it needs, as far as that can be known.
export function template(d: Definition, kind: string): Obj {
  const id = freshId(d, kind === "call_agent" ? "call" : kind);
  if (sequence(d)) return { id: freshId(d, "step"), tool: "" };
  const first = freshId(d, "begin");
  const inner = (n: number): Obj => ({ id: n > 1 ? `${first}_${n}` : first, kind: "start" });
  switch (kind) {
    case "tool": case "call_agent": case "graph": return { id, kind, tool: "", arguments: {} };
    case "agent": return { id, kind, agent: "", message: { $from: "/input/message" } };
    case "branch": return { id, kind, cases: [{ when: "true", next: "" }], default: "" };
    case "parallel": return { id, kind, branches: [{ id: "one", nodes: [inner(1)] }, { id: "two", nodes: [inner(2)] }] };
    case "map": return { id, kind, over: { $from: "/input/items" }, nodes: [inner(1)] };
    case "loop": return { id, kind, while: "iteration < 3", max: 3, nodes: [inner(1)] };
    case "human": return { id, kind, form: { questions: [{ key: "answer", text: "What is it?" }] } };
    case "wait": return { id, kind, seconds: 60 };
    default: return { id, kind };
  }
}

export function insert(d: Definition, body: string, index: number, node: Obj): Definition {
  const list = listOf(get(d, body));
  return put(d, body, [...list.slice(0, index), node, ...list.slice(index)]) as Definition;
}

// remove takes a node out. What led to it by next goes on with what follows in the list.
export function remove(d: Definition, p: Place): Definition {
  const out = put(d, p.body, listOf(get(d, p.body)).filter((_, i) => i !== p.index)) as Definition;
  return everyNode(out, (n) => (n.next === p.id ? (put(n, "/next", undefined) as Obj) : n));
}

// shift moves a node up or down in its list.
export function shift(d: Definition, p: Place, by: 1 | -1): Definition {
  const list = [...listOf(get(d, p.body))];
  const to = p.index + by;
  if (to < 0 || to >= list.length) return d;
  [list[p.index], list[to]] = [list[to]!, list[p.index]!];
  return put(d, p.body, list) as Definition;
}

// moveTo puts a node to the end of another body, which must not be below it.
export function moveTo(d: Definition, p: Place, body: string): Definition {
  if (body.startsWith(p.pointer + "/") || body === p.body) return d;
  const both = insert(d, body, listOf(get(d, body)).length, p.node); // At an end, so that its old place is the same yet.
  return put(both, p.body, listOf(get(both, p.body)).filter((_, i) => i !== p.index)) as Definition;
}

function everyNode(d: Definition, change: (n: Obj) => Obj): Definition {
  const inList = (v: Json | undefined): Json[] => listOf(v).map((n) => (isObject(n) ? inNode(n) : n));
  const inNode = (n: Obj): Obj => {
    let out = change(n);
    if (Array.isArray(out.nodes)) out = { ...out, nodes: inList(out.nodes) };
    if (Array.isArray(out.branches)) out = { ...out, branches: out.branches.map((b) => (isObject(b) ? { ...b, nodes: inList(b.nodes) } : b)) };
    return out;
  };
  return sequence(d) ? { ...d, steps: inList(d.steps) } : { ...d, nodes: inList(d.nodes) };
}

const word = (id: string) => id.replace(/[-]/g, "\\-");

// rename gives a node another id, where it is named too: by what leads to it, in bindings and in conditions.
export function rename(d: Definition, from: string, to: string): Definition {
  if (from === "") return d;
  const root = sequence(d) ? "steps" : "nodes";
  const pointer = new RegExp(`^/(${root}|tool_outputs)/${word(from)}(?=/|$)`);
  const inText = new RegExp(`\\b(nodes|steps|tool_outputs)(\\.${word(from)}\\b|\\["${word(from)}"\\])`, "g");
  const names = new Set(["next", "default", "on_error"]);
  const conditions = new Set(["when", "while"]);
  const change = (v: Json, name: string): Json => {
    if (typeof v === "string") {
      if (name === "$from") return v.replace(pointer, (_, r: string) => `/${r}/${to}`);
      if (conditions.has(name)) return v.replace(inText, (_, r: string) => `${r}.${to}`);
      return names.has(name) && v === from ? to : v;
    }
    if (Array.isArray(v)) return v.map((x) => change(x, ""));
    return isObject(v) ? Object.fromEntries(Object.entries(v).map(([n, x]) => [n, change(x, n)])) : v;
  };
  const renamed = change(d, "") as Definition;
  return everyNode(renamed, (n) => (n.id === from ? { ...n, id: to } : n));
}

// ofFault finds the node that a fault of the server is at, and the field of it.
export function ofFault(all: readonly Place[], path: string): { place: Place | undefined; field: string } {
  let best: Place | undefined;
  for (const p of all) if ((path === p.pointer || path.startsWith(p.pointer + "/")) && (!best || p.pointer.length > best.pointer.length)) best = p;
  return { place: best, field: best ? path.slice(best.pointer.length) : path };
}
