// One reader of server-sent events (WHATWG HTML, §9.2), of which the server writes the fields event and data.

export interface Sent {
  event: string;
  data: string;
}

// sent yields the events of an answer that have data, until it breaks off.
export async function* sent(answer: Response): AsyncGenerator<Sent> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        const lines = block.split("\n");
        const of = (field: string) => lines.filter((l) => l.startsWith(`${field}:`)).map((l) => l.slice(field.length + 1).replace(/^ /, ""));
        const data = of("data").join("\n");
        if (data) yield { event: of("event").at(-1) ?? "message", data };
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
