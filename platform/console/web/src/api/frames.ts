import { parse } from "./json";
import { sent } from "./sse";

// The events of a stream of topics, as the server sends them.

export interface Change {
  run_id: string;
  invocation_id?: string;
  types: string[];
  at: string;
}

export interface Frame {
  event: "hello" | "subscribed" | "changes" | "event" | "message" | "resync" | "closed" | "end";
  topic: string;
  cursor: string;
  connection?: string; // Of hello.
  changes?: Change[];
  // event is in what a run says; see ToolEvent.
  said?: unknown;
  message?: unknown;
  status?: string; // Of end.
  detail?: string; // Of closed.
}

// follow reads the events of an answer until it breaks off.
export async function* follow(answer: Response): AsyncGenerator<Frame> {
  for await (const { event: name, data } of sent(answer)) {
    const { event, ...more } = parse(data) as unknown as Record<string, unknown>;
    yield { cursor: "", topic: "", ...more, ...(event !== undefined && { said: event }), event: name } as unknown as Frame;
  }
}
