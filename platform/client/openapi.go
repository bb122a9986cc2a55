package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// ImportOpenAPI makes tools of an OpenAPI document. Unless in.DryRun is false,
// it only reports what it would make.
func (c *Client) ImportOpenAPI(ctx context.Context, in v1.ImportOpenAPI) (v1.ImportedOpenAPI, error) {
	var out v1.ImportedOpenAPI
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"tools", "import", "openapi"}, body: in, out: &out})
	return out, err
}

// FollowImportOpenAPI is [Client.ImportOpenAPI], with reports of how far it has
// come. It lasts as long as the import does. A stream that breaks off fails with
// tool.Unavailable: tools may have been written, and importing again finds them.
func (c *Client) FollowImportOpenAPI(
	ctx context.Context, in v1.ImportOpenAPI, report func(v1.ImportProgress),
) (v1.ImportedOpenAPI, error) {
	var out v1.ImportedOpenAPI
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := c.openImport(ctx, in)
	if err != nil {
		return out, err
	}
	defer func() { _ = resp.Body.Close() }()
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 4<<10), maxAnswerBytes)
	var m message
	for lines.Scan() {
		watchdog.Reset(silence)
		if !m.add(lines.Bytes()) {
			continue
		}
		switch m.event {
		case v1.EventImportResult:
			return out, c.decode(answer{http.StatusOK, m.data}, &out)
		case v1.EventImportFailed:
			return out, c.problem(answer{http.StatusInternalServerError, m.data})
		case v1.EventImportProgress:
			var p v1.ImportProgress
			if err := c.decode(answer{http.StatusOK, m.data}, &p); err != nil {
				return out, err
			}
			report(p)
		}
		m = message{}
	}
	return out, &tool.Error{
		Kind: tool.Unavailable, Op: "client", Sent: true, Acted: true, Err: lines.Err(),
		Msg: "the connection broke off while the import went on: import again to see what is written",
	}
}

// openImport asks for an import as a stream.
func (c *Client) openImport(ctx context.Context, in v1.ImportOpenAPI) (*http.Response, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	target := c.url([]string{"v1", "tools", "import", "openapi", "stream"}, nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "client", Msg: "the server's URL is malformed", Err: err}
	}
	req.Header.Set("Accept", v1.StreamType)
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.gate.Client(egress.Access{Class: tool.EgressWrite}).Do(req)
	if err != nil {
		return nil, unreachable(c.base.String(), err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil {
		return nil, unreachable(c.base.String(), err)
	}
	return nil, c.problem(answer{resp.StatusCode, raw})
}
