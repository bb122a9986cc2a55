// A shop that shows a tool in a frame of its page. It needs Node.js 20, and these variables:
//
//   TOOLCRIB_URL  where Toolcrib is, such as http://127.0.0.1:8080
//   TOOLCRIB_KEY  an API key with embeds.mint, and what the tool asks of callers
//   TOOL          the slug of the tool
//
//   node examples/embed/server.mjs
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";

const { TOOLCRIB_URL, TOOLCRIB_KEY, TOOL } = process.env;
const port = Number(process.env.PORT ?? 3000);
const origin = `http://localhost:${port}`;

// Who is before the page. A real shop knows that by its own session, and takes it from nowhere else.
const callerOf = (_request) => "customer-7";

const makeToken = async (caller) => {
  const answer = await fetch(`${TOOLCRIB_URL}/v1/embed-tokens`, {
    method: "POST",
    headers: { Authorization: `Bearer ${TOOLCRIB_KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify({ tool: TOOL, origin, caller }),
  });
  const made = await answer.json();
  if (!answer.ok) throw new Error(made.detail);
  return { token: made.token, url: new URL(made.url, TOOLCRIB_URL).href };
};

createServer(async (request, response) => {
  try {
    if (request.method === "GET" && request.url === "/") {
      response.setHeader("Content-Type", "text/html");
      response.end(await readFile(new URL("page.html", import.meta.url)));
    } else if (request.method === "POST" && request.url === "/embed-token" && request.headers.origin === origin) {
      const made = await makeToken(callerOf(request));
      response.setHeader("Content-Type", "application/json");
      response.setHeader("Cache-Control", "no-store");
      response.end(JSON.stringify(made));
    } else {
      response.writeHead(404).end();
    }
  } catch (error) {
    console.error(error.message);
    response.writeHead(502).end();
  }
}).listen(port, "localhost", () => console.log(`the shop is at ${origin}`));
