import { parse, print, type Json } from "../api/json";
import type { Part, Result } from "../form/output";
import { isObject } from "../form/spec";

// Messages of MCP Apps, 2026-01-26: JSON-RPC between a page of a stranger and this one.

export const protocolVersion = "2026-01-26";

export type Id = string | number;

export interface Message {
  id?: Id;
  method?: string;
  params: Record<string, unknown>;
  answers: boolean; // It is a response.
}

// codes of JSON-RPC.
export const code = { refused: -32000, invalid: -32602, unknown: -32601 };

// Refusal is why a request of an app is refused.
export class Refusal extends Error {
  constructor(readonly code: number, message: string) {
    super(message);
  }
}

// read is what a message says; undefined for what is none of the protocol.
export function read(data: unknown): Message | undefined {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
  const { jsonrpc, id, method, params } = data as Record<string, unknown>;
  if (jsonrpc !== "2.0" || (id !== undefined && typeof id !== "string" && typeof id !== "number")) return undefined;
  if (typeof id === "string" && id.length > 200) return undefined;
  const of = typeof params === "object" && params !== null && !Array.isArray(params) ? (params as Record<string, unknown>) : {};
  if (typeof method === "string") return { ...(id !== undefined && { id }), method, params: of, answers: false };
  return id !== undefined && method === undefined ? { id, params: {}, answers: true } : undefined;
}

// plain is a value as other programs read JSON: numbers that they cannot hold lose digits there.
export const plain = (v: Json | undefined): unknown => (v === undefined ? undefined : JSON.parse(print(v)));

const mostArguments = 256 * 1024;

// argumentsOf are the arguments of a call that an app asks for.
export function argumentsOf(given: unknown): Json {
  let text: string | undefined;
  try {
    text = JSON.stringify(given ?? {});
  } catch {
    // It is refused.
  }
  if (text === undefined || text.length > mostArguments) throw new Refusal(code.invalid, "the arguments are no JSON of at most 256 KiB");
  const value = parse(text);
  if (!isObject(value)) throw new Refusal(code.invalid, "the arguments are no object");
  return value;
}

// toolResult is a result as the protocol has it.
export function toolResult(r: Result): Record<string, unknown> {
  return {
    content: (r.content ?? []).map(block),
    ...(isObject(r.structured) && { structuredContent: plain(r.structured) }),
    ...(r.is_error && { isError: true }),
  };
}

function block(p: Part): Record<string, unknown> {
  const mimeType = p.mime_type ?? "application/octet-stream";
  if (p.type === "json") return { type: "text", text: print(p.json ?? null) };
  if ((p.type === "image" || p.type === "audio") && p.data) return { type: p.type, data: p.data, mimeType };
  if (p.uri && p.data) return { type: "resource", resource: { uri: p.uri, mimeType, blob: p.data } };
  if (p.uri && p.text !== undefined) return { type: "resource", resource: { uri: p.uri, mimeType, text: p.text } };
  if (p.uri) return { type: "resource_link", uri: p.uri, name: p.name ?? p.uri, mimeType };
  return { type: "text", text: p.text ?? "" };
}
