package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// overMCP measures the tools of a tenant with many as MCP clients list and call them, beside the API.
func overMCP(ctx context.Context, l *lab) ([]Figure, error) {
	s, err := l.newSite(ctx, "bench-mcp")
	if err != nil {
		return nil, err
	}
	d := &mcpDoor{site: s, tools: l.size.Listed}
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	lists, err := d.lists(ctx)
	if err != nil {
		return nil, err
	}
	call, err := d.calls(ctx)
	return append(lists, call), err
}

// mcpDoor is an API with its MCP server, before a tenant with many tools.
type mcpDoor struct {
	*site
	tools   int
	url     string
	key     string
	gate    *egress.Gate
	callee  string
	message int
}

func (d *mcpDoor) open(ctx context.Context) error {
	_, _, err := publishTool(ctx, d.Store, d.principal.Tenant, "patternTool", patternTool(), patternPolicy())
	if err != nil {
		return err
	}
	d.lab.progress("filling a registry with %d tools of one tenant", d.tools)
	c := &crowd{database: d.database, lab: d.lab, largest: d.principal.Tenant}
	if err := c.multiply(ctx, fmt.Sprintf(`select gen_random_uuid() as id, gen_random_uuid() as version_id,
		'%s'::uuid as tenant_id, 'tool' || n as slug from generate_series(1, %d) n`, d.principal.Tenant, d.tools)); err != nil {
		return err
	}
	if err := d.publish(ctx, d.principal, advanceFunction); err != nil {
		return err
	}
	d.callee = toolName(advanceFunction, lanes[0])
	if _, d.key, err = d.CreateKey(ctx, store.Key{
		Tenant: d.principal.Tenant, Name: "bench", Permissions: []string{"*"},
	}); err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	handler, err := serve.Handler(ctx, serve.HandlerConfig{
		Store: d.Store, Temporal: d.temporal, Namespace: d.lab.temporal.Namespace(), TaskQueue: d.queue, Runs: d.starts,
		Logger: d.lab.cfg.Logger,
	})
	if err != nil {
		return fmt.Errorf("making the API: %w", err)
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(ln) }() // It ends when the lab closes.
	d.lab.later(func(context.Context) error { return server.Close() })
	d.url = "http://" + ln.Addr().String()
	policy := egress.Policy{AllowHosts: []string{ln.Addr().String()}}
	if d.gate, err = egress.New(egress.Config{
		Policy:  func(tool.TenantID) egress.Policy { return policy },
		Timeout: time.Minute, MaxBytes: 16 << 20, MaxRedirects: -1, UserAgent: "toolcrib-bench",
	}); err != nil {
		return fmt.Errorf("making the way to the API: %w", err)
	}
	d.lab.later(func(context.Context) error { d.gate.Close(); return nil })
	return nil
}

// ask sends a message to the MCP server, which stands alone, and returns its result.
func (d *mcpDoor) ask(
	ctx context.Context, address, method, name string, params map[string]any,
) (json.RawMessage, error) {
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "bench", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}
	d.message++
	raw, err := d.post(ctx, address, map[string]string{
		"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method,
		"Mcp-Name": name,
	}, map[string]any{"jsonrpc": "2.0", "id": d.message, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, data, ok := bytes.Cut(raw, []byte("data: ")); ok {
		raw, _, _ = bytes.Cut(data, []byte("\n"))
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil || answer.Result == nil {
		return nil, fmt.Errorf("%s was answered with %.200s", method, raw)
	}
	return answer.Result, nil
}

func (d *mcpDoor) post(ctx context.Context, address string, header map[string]string, body any) ([]byte, error) {
	sent, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("writing a request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+address, bytes.NewReader(sent))
	if err != nil {
		return nil, fmt.Errorf("making a request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+d.key)
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := d.gate.Client(egress.Access{Class: tool.EgressWrite}).Do(req)
	if err != nil {
		return nil, fmt.Errorf("sending a request: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s was answered with status %d: %.200s", address, resp.StatusCode, raw)
	}
	return raw, err
}

// listed is a page of tools.
type listed struct {
	Tools []json.RawMessage `json:"tools"`
	Next  string            `json:"nextCursor"` //nolint:tagliatelle // The protocol's name.
}

// walk lists all tools, and returns how long each page took.
func (d *mcpDoor) walk(ctx context.Context, address string) (pages []time.Duration, tools int, err error) {
	params := map[string]any{}
	for {
		began := time.Now()
		raw, err := d.ask(ctx, address, "tools/list", "", params)
		if err != nil {
			return nil, 0, err
		}
		pages = append(pages, time.Since(began))
		var page listed
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, 0, fmt.Errorf("reading a list of tools: %w", err)
		}
		tools += len(page.Tools)
		if page.Next == "" {
			return pages, tools, nil
		}
		params = map[string]any{"cursor": page.Next}
	}
}

// lists measures tools/list: its pages, all of them, and the three tools that find the others.
func (d *mcpDoor) lists(ctx context.Context) ([]Figure, error) {
	d.lab.progress("tools/list")
	began := time.Now()
	first, tools, err := d.walk(ctx, "/mcp?catalog=all")
	if err != nil {
		return nil, err
	}
	cold := time.Since(began)
	if tools < d.tools {
		return nil, fmt.Errorf("a client was shown %d of %d tools", tools, d.tools)
	}
	var pages, wholes, thins []time.Duration
	for range max(d.lab.size.Rounds*2, 2) {
		each, _, err := d.walk(ctx, "/mcp?catalog=all")
		if err != nil {
			return nil, err
		}
		whole := time.Duration(0)
		for _, took := range each {
			whole += took
		}
		pages, wholes = append(pages, each...), append(wholes, whole)
		for range 10 {
			thin, three, err := d.walk(ctx, "/mcp")
			if err == nil && three != 3 {
				err = fmt.Errorf("a client with many tools is shown %d", three)
			}
			if err != nil {
				return nil, err
			}
			thins = append(thins, thin...)
		}
	}
	limit := bound{of: "p50", value: p50Of, most: true, limit: 100, unit: "ms"}
	figure := func(name string, times []time.Duration, note string) Figure {
		slices.Sort(times)
		return Figure{
			Name: fmt.Sprintf("%s_%d", name, d.tools), Unit: "ms", Ours: ms(percentile(times, 0.5)),
			P50: ms(percentile(times, 0.5)), P99: ms(percentile(times, 0.99)), N: len(times), Note: note,
		}
	}
	return []Figure{
		figure("mcp_list_page", pages, fmt.Sprintf("a page of %d; the first of a key took %.0f ms", tools/len(first)+1,
			ms(first[0]))).aimed(limit),
		figure("mcp_list_whole", wholes, fmt.Sprintf("all %d pages, one after the other; the first time, with nothing in "+
			"memory, %.0f ms", len(first), ms(cold))),
		figure("mcp_list_thin", thins, "the three tools that find the others").aimed(limit),
	}, nil
}

// calls measures one call through the MCP server beside the same call through the API.
func (d *mcpDoor) calls(ctx context.Context) (Figure, error) {
	d.lab.progress("tools/call")
	arguments := map[string]any{"number": 1, "text": stepText}
	ways := []func() error{
		func() error {
			raw, err := d.ask(ctx, "/mcp", "tools/call", d.callee, map[string]any{"name": d.callee, "arguments": arguments})
			if err == nil && !strings.Contains(string(raw), "structuredContent") {
				err = fmt.Errorf("a call was answered with %.300s", raw)
			}
			return err
		},
		func() error {
			raw, err := d.post(ctx, "/v1/tools/"+d.callee+"/call", nil, map[string]any{"arguments": arguments})
			if err == nil && !strings.Contains(string(raw), `"completed"`) {
				err = errors.New("a call did not end")
			}
			return err
		},
	}
	times := make([][]time.Duration, len(ways))
	var ratios []float64
	for round := range d.lab.size.Rounds + 1 {
		medians := make([]float64, len(ways))
		for at := range ways {
			way := (at + round) % len(ways)
			took := make([]time.Duration, 0, d.lab.size.Probes)
			for range d.lab.size.Probes {
				began := time.Now()
				if err := ways[way](); err != nil {
					return Figure{}, err
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			medians[way] = ms(percentile(took, 0.5))
			if round > 0 { // The first warms up.
				times[way] = append(times[way], took...)
			}
		}
		if round > 0 {
			ratios = append(ratios, medians[0]/medians[1])
		}
	}
	slices.Sort(ratios)
	f := timesFigure("mcp_call", sortedTimes(times[0]), sortedTimes(times[1]),
		"one call after the other; the floor is the same call through the API")
	f.Ratio = percentile(ratios, 0.5)
	return f.aimed(atMost(1.5)), nil
}

func sortedTimes(times []time.Duration) []time.Duration {
	slices.Sort(times)
	return times
}

func patternTool() tool.Definition {
	return tool.Definition{
		Name:           "Find an order",
		Description:    strings.Repeat("Finds the orders of a customer. ", 8),
		Implementation: tool.HTTP,
		InputSchema: []byte(
			`{"type":"object","properties":{"customer":{"type":"string"},"since":{"type":"string"},"limit":{"type":"integer"}}}`,
		),
		Config:    []byte(`{"method":"GET","url":"https://api.example.com/orders"}`),
		Execution: tool.Execution{Pure: true, TimeoutSeconds: 5},
	}
}

func patternPolicy() tool.Policy {
	return tool.Policy{EgressClass: tool.EgressReadOnly, PermissionPolicy: tool.PermissionAuto}
}
