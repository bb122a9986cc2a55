import { call } from "../api/client";
import { config } from "../config";
import { client } from "../query";

// All tabs of a browser sign in and out together: they share its cookie.
type Word = { kind: "bye" } | { kind: "hello"; tenant: string };
const channel = new BroadcastChannel(`toolcrib:${config.prefix}:session`);

// forget drops what this tab has of every tenant.
export function forget(): void {
  client.clear();
  sessionStorage.clear();
}

export const onWord = (bye: () => void, hello: (tenant: string) => void): void => {
  channel.onmessage = (m: MessageEvent<Word>) => (m.data.kind === "bye" ? bye() : hello(m.data.tenant));
};

export async function bye(): Promise<void> {
  await call(undefined, "/v1/session", { method: "DELETE" });
  forget();
  channel.postMessage({ kind: "bye" } satisfies Word);
}

// hello says that the browser has another session with a tenant, which may be of another key.
export function hello(tenant: string): void {
  forget();
  channel.postMessage({ kind: "hello", tenant } satisfies Word);
}
