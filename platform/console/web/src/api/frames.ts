import { parse } from "./json";

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
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        let name = "";
        let data = "";
        for (const line of block.split("\n")) {
          if (line.startsWith("event:")) name = line.slice(6).trim();
          if (line.startsWith("data:")) data += line.slice(5);
        }
        if (!data) continue;
        const { event, ...more } = parse(data) as unknown as Record<string, unknown>;
        yield { cursor: "", topic: "", ...more, ...(event !== undefined && { said: event }), event: name } as unknown as Frame;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
