// Package client calls the HTTP API of a Toolcrib server.
//
//	c, err := client.New(client.Config{Server: "http://127.0.0.1:8080", Key: key})
//	…
//	run, err := c.StartRun(ctx, v1.NewRun{Agent: "support-desk", Input: json.RawMessage(`"Where is my order?"`)})
//
// An error of the server is returned as a [*tool.Error] of the same kind, with
// the [v1.Problem] as its cause. The package uses the API only, and imports
// nothing of the server behind it.
package client
