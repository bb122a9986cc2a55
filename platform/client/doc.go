// Package client calls the HTTP API of a Toolcrib server.
//
//	c, err := client.New(client.Config{Server: "http://127.0.0.1:8080", Key: key})
//	…
//	run, err := c.StartRun(ctx, v1.NewRun{Agent: "support-desk", Input: json.RawMessage(`"Where is my order?"`)})
//
// What the server refuses comes back as a [*tool.Error] of the kind it had
// there, with the [v1.Problem] as its cause. It knows nothing of what is behind
// the API.
package client
