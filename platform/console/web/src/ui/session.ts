import { call } from "../api/client";
import { config } from "../config";

// All tabs of a browser sign out together.
const channel = new BroadcastChannel(`toolcrib:${config.prefix}:session`);

export const onBye = (fn: () => void): void => {
  channel.onmessage = () => fn();
};

export async function bye(): Promise<void> {
  await call(undefined, "/v1/session", { method: "DELETE" });
  channel.postMessage("bye");
}
