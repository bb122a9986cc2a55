package e2e_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/mcptest"
	"github.com/toolcrib/toolcrib/tool"
)

// The program connects, calls, and where the session is gone connects anew and sends the same call again, as
// the documentation tells clients to.
const typeScriptClient = `
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, key] = process.argv.slice(2);
const connect = async () => {
  const client = new Client({ name: "typescript", version: "1" });
  client.onerror = () => {};
  await client.connect(new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: "Bearer " + key } },
    reconnectionOptions: { maxReconnectionDelay: 100, initialReconnectionDelay: 50, reconnectionDelayGrowFactor: 1, maxRetries: 0 },
  }));
  return client;
};
let client = await connect();
const { tools } = await client.listTools();
console.log("tools " + tools.map((t) => t.name).join(" "));
const call = { name: "look", arguments: { name: "keys" }, _meta: { "toolcrib/call-id": "order-1" } };
for (let tries = 0; ; tries++) {
  try {
    const result = await client.callTool(call, undefined, { timeout: 5000 });
    console.log("result " + JSON.stringify(result.structuredContent));
    break;
  } catch (err) {
    console.log("again");
    if (tries > 100) throw err;
    await new Promise((r) => setTimeout(r, 100));
    client = await connect().catch(() => client);
  }
}
process.exit(0);
`

// The TypeScript SDK's client goes through a restart of the server in the middle of a call, which is made once.
func TestMCPTypeScriptClientThroughARestart(t *testing.T) {
	t.Parallel()

	node, folder := mcptest.Install(t)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(folder, "node_modules"), filepath.Join(dir, "node_modules")))
	g := newGate()
	c := newMCPDesk(t, g.functions(t))
	c.publish("look", lookTool(), tool.Policy{})
	front := newRestarting(c)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "client.mjs"), []byte(typeScriptClient), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, filepath.Join(dir, "client.mjs"), front.URL+"/mcp", c.key)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Equal(t, "tools look", lines.Text())
	<-g.begun
	front.stop()
	require.True(t, lines.Scan())
	require.Equal(t, "again", lines.Text(), "its connection broke")
	front.start()
	close(g.goOn)
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	require.NoError(t, cmd.Wait())
	require.Equal(t, `result {"name":"found keys"}`, last)
	require.Equal(t, 1, g.times())
}
