package embeds_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/embeds"
	"github.com/toolcrib/toolcrib/platform/publiccall"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolembed"
	"github.com/toolcrib/toolcrib/wire"
)

func notFound(what string) error { return &tool.Error{Kind: tool.NotFound, Msg: what + " not found"} }

// desk is a record with one tool, the origins of its tenant, tokens, and calls that answer with their arguments.
type desk struct {
	mu      sync.Mutex
	origins []string
	tool    tool.Tool
	version tool.Version
	refuses error
	grants  map[string]toolembed.Grant // By id.
	hashes  map[string][]byte
	shut    bool // Tokens open nothing.

	calls   []runs.NewCall
	failure error
	end     agent.CallEnd
	status  tool.InvocationStatus // Of calls that have not ended.
}

const schema = `{"type":"object","additionalProperties":false,"required":["order"],"properties":{
	"order":{"type":"integer","title":"Order <b>","minimum":1},
	"why":{"type":"string","title":"Reason","enum":["late","broken"]},
	"note":{"type":"string","title":"Note","maxLength":40},
	"ship":{"type":"object","title":"Ship","properties":{"city":{"type":"string"},
		"route":{"type":"string","x-toolcrib-field":{"hidden":true}}}},
	"model":{"type":"string","title":"Model of operators","x-toolcrib-field":{"hidden":true}},
	"verbose":{"type":"boolean","title":"Additional","x-toolcrib-field":{"advanced":true}}}}`

func newDesk() *desk {
	d := &desk{
		origins: []string{"https://shop.example.com"}, grants: map[string]toolembed.Grant{}, hashes: map[string][]byte{},
		end: agent.CallEnd{Status: agent.RunCompleted},
	}
	d.tool = tool.Tool{ID: uuid.NewString(), Slug: "trackOrder", Tenant: tool.TenantID(uuid.NewString())}
	d.tool.RequiredPermission, d.tool.EgressClass = "orders.read", tool.EgressReadOnly
	d.version.Number, d.version.Digest = "1.2.0", "d"
	d.version.Snapshot.Name = "Track <i>"
	d.version.Snapshot.InputSchema = json.RawMessage(schema)
	return d
}

func (d *desk) service(t *testing.T) *embeds.Service {
	t.Helper()
	calls, err := publiccall.New(publiccall.Config{Tools: d, Runs: d})
	require.NoError(t, err)
	s, err := embeds.New(embeds.Config{Embeds: d, Record: d, Calls: calls})
	require.NoError(t, err)
	return s
}

// backend is the principal of the host's backend.
func (d *desk) backend() tool.Principal {
	return tool.Principal{
		Tenant: d.tool.Tenant, Subject: "key:" + "01975c2e-7d1a-7c3e-9f00-0000000000d1", Permissions: []string{"*"},
	}
}

// token makes a token for a caller.
func (d *desk) token(t *testing.T, s *embeds.Service, caller string) string {
	t.Helper()
	made, err := s.Make(t.Context(), embeds.Request{
		Principal: d.backend(), Tool: tool.Ref{Slug: "trackOrder"}, Origin: d.origins[0], Caller: caller,
	})
	require.NoError(t, err)
	return made.Token
}

func (d *desk) Version(_ context.Context, _ tool.TenantID, id, digest string) (*tool.Version, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id != d.tool.ID || digest != d.version.Digest {
		return nil, notFound("version")
	}
	version := d.version
	return &version, nil
}

func (d *desk) Resolve(_ context.Context, req resolver.Request) (*resolver.Resolved, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.refuses != nil:
		return nil, d.refuses
	case req.Ref.Slug != d.tool.Slug && req.Ref.ID != d.tool.ID, !req.Outside, req.Principal.Tenant != d.tool.Tenant,
		req.Mode != tool.Production:
		return nil, notFound("tool")
	}
	version := d.version
	return &resolver.Resolved{Tool: d.tool, Version: &version}, nil
}

func (d *desk) AddEmbedOrigin(context.Context, toolembed.Origin) (toolembed.Origin, error) {
	return toolembed.Origin{}, notFound("this")
}

func (d *desk) RemoveEmbedOrigin(context.Context, tool.TenantID, string) (toolembed.Origin, error) {
	return toolembed.Origin{}, notFound("this")
}

func (d *desk) ListEmbedOrigins(context.Context, tool.TenantID) ([]toolembed.Origin, error) {
	return nil, nil
}

func (d *desk) FramingOrigins(_ context.Context, slug string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slug != "acme" {
		return nil, nil
	}
	return d.origins, nil
}

func (d *desk) CreateEmbedToken(_ context.Context, g toolembed.Grant, hash []byte) (toolembed.Grant, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g.TenantSlug, g.TenantName = "acme", "Acme & Co"
	d.grants[g.ID], d.hashes[g.ID] = g, hash
	return g, nil
}

func (d *desk) OpenEmbedToken(
	_ context.Context, tenant tool.TenantID, id string, hash []byte, origin string,
) (toolembed.Grant, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g, ok := d.grants[id]
	if !ok || d.shut || g.Tenant != tenant || !bytes.Equal(hash, d.hashes[id]) || g.Origin != origin {
		return toolembed.Grant{}, notFound("token")
	}
	return g, nil
}

func (d *desk) Call(_ context.Context, n runs.NewCall) (runs.Call, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failure != nil {
		return runs.Call{}, d.failure
	}
	d.calls = append(d.calls, n)
	return runs.Call{RunID: runOf(n.Node.ID)}, nil
}

// runOf is the id of the run of a named call.
func runOf(call string) string { return uuid.NewSHA1(uuid.Nil, []byte(call)).String() }

// Wait waits for nothing: the record has how a call ended.
func (d *desk) Wait(context.Context, runs.Call, time.Duration, runs.Wakes) (*tool.Result, bool, error) {
	return nil, false, nil
}

func (d *desk) FindRunOfWorkflow(_ context.Context, tenant tool.TenantID, workflow string) (agent.Run, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.calls {
		if wire.CallWorkflowID(tenant, d.calls[i].Node.ID) == workflow {
			return agent.Run{ID: runOf(d.calls[i].Node.ID), Tenant: tenant, Status: d.end.Status}, nil
		}
	}
	return agent.Run{}, notFound("run")
}

func (d *desk) FindCallEnd(context.Context, tool.TenantID, string) (agent.CallEnd, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	end := d.end
	if end.Status == agent.RunCompleted && end.Result == nil {
		end.Result = tool.JSONResult(d.calls[len(d.calls)-1].Node.Arguments)
	}
	return end, nil
}

func (d *desk) ListInvocations(
	context.Context, tool.TenantID, store.InvocationQuery,
) ([]tool.Invocation, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return []tool.Invocation{{Status: d.status}}, nil
}

// made returns the calls until now.
func (d *desk) made() []runs.NewCall {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]runs.NewCall{}, d.calls...)
}

// change changes the record while pages ask.
func (d *desk) change(do func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	do()
}

// answer is what the server said.
type answer struct {
	status int
	header http.Header
	body   string
}

// post asks as the page in the frame does.
func post(t *testing.T, h http.Handler, path, token, body string, change ...func(*http.Request)) answer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set(embeds.OriginHeader, "https://shop.example.com")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return answer{w.Code, w.Header(), w.Body.String()}
}

func get(t *testing.T, h http.Handler, method, path string) answer {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	return answer{w.Code, w.Header(), w.Body.String()}
}
