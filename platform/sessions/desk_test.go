package sessions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/publiccall"
	"github.com/toolcrib/toolcrib/platform/sessions"
	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
)

func notFound(what string) error { return &tool.Error{Kind: tool.NotFound, Msg: what + " not found"} }

// desk is a record with one session, a tool, and calls that answer with their arguments.
type desk struct {
	toolsession.Store

	tool    tool.Tool
	version tool.Version
	refuses error
	session toolsession.Session
	hash    []byte
	opens   bool
	stored  []toolsession.Submission
	calls   []runs.NewCall
	end     agent.CallEnd
	failure error

	recorded bool // Calls that fail were recorded before that.
}

const schema = `{"type":"object","additionalProperties":false,"required":["choice"],"properties":{
	"choice":{"type":"string","title":"Your choice","enum":["soup","salad"]},
	"seats":{"type":"integer","title":"Seats","minimum":1},
	"note":{"type":"string","title":"Note <b>","maxLength":40},
	"day":{"type":"string"},
	"model":{"type":"string","x-toolcrib-field":{"hidden":true}},
	"verbose":{"type":"boolean","x-toolcrib-field":{"advanced":true}}}}`

func newDesk(t *testing.T) *desk {
	t.Helper()
	tenant := tool.TenantID(uuid.NewString())
	d := &desk{opens: true, end: agent.CallEnd{Status: agent.RunCompleted}}
	d.tool = tool.Tool{ID: uuid.NewString(), Slug: "voteLunch", Tenant: tenant}
	d.tool.RequiredPermission = "lunch.vote"
	d.version.Number, d.version.Digest = "1.2.0", "d"
	d.version.Snapshot.Name = "Lunch"
	d.version.Snapshot.InputSchema = json.RawMessage(schema)
	d.version.Snapshot.Interaction.Collaborative = true
	d.version.Snapshot.Interaction.Aggregate = "group:input.choice"
	return d
}

func (d *desk) service(t *testing.T) *sessions.Service {
	t.Helper()
	calls, err := publiccall.New(publiccall.Config{Tools: d, Runs: d})
	require.NoError(t, err)
	s, err := sessions.New(sessions.Config{Sessions: d, Record: d, Calls: calls})
	require.NoError(t, err)
	return s
}

func (d *desk) owner() tool.Principal {
	return tool.Principal{Tenant: d.tool.Tenant, Subject: "key:a", Permissions: []string{"lunch.vote"}}
}

// link makes a session with a link, and returns the pages and its path.
func (d *desk) link(t *testing.T) (pages http.Handler, path string) {
	t.Helper()
	s := d.service(t)
	made, err := s.Create(t.Context(), sessions.Request{
		Principal: d.owner(), Tool: tool.Ref{Slug: "voteLunch"}, Title: "Lunch <i>", Config: json.RawMessage(`{"day":"friday"}`),
	})
	require.NoError(t, err)
	linked, err := s.Link(t.Context(), d.owner(), made.ID, 0)
	require.NoError(t, err)
	return sessions.NewPages(s, d), linked.Path()
}

func (d *desk) Version(_ context.Context, _ tool.TenantID, id, digest string) (*tool.Version, error) {
	if id != d.tool.ID || digest != d.version.Digest {
		return nil, &tool.Error{Kind: tool.NotFound, Msg: "version not found"}
	}
	return &d.version, nil
}

func (d *desk) Resolve(_ context.Context, req resolver.Request) (*resolver.Resolved, error) {
	switch {
	case d.refuses != nil:
		return nil, d.refuses
	case !policy.Permits(req.Principal, d.tool.Policy):
		return nil, &tool.Error{Kind: tool.Denied, Msg: "the caller may not call the tool"}
	case req.Ref.Slug != "voteLunch" && req.Ref.ID != d.tool.ID, !req.Outside, req.Principal.Tenant != d.tool.Tenant:
		return nil, notFound("tool")
	}
	return &resolver.Resolved{Tool: d.tool, Version: &d.version}, nil
}

func (d *desk) FindTenant(context.Context, tool.TenantID) (store.Tenant, error) {
	return store.Tenant{Name: "Acme & Co", Slug: "acme-slug"}, nil
}

func (d *desk) CreateToolSession(_ context.Context, s toolsession.Session) (toolsession.Session, error) {
	s.Status = toolsession.Active
	d.session = s
	return s, nil
}

func (d *desk) FindToolSession(_ context.Context, tenant tool.TenantID, id string) (toolsession.Session, error) {
	if d.session.ID != id || d.session.Tenant != tenant {
		return toolsession.Session{}, notFound("session")
	}
	return d.session, nil
}

func (d *desk) LinkToolSession(
	_ context.Context, _ tool.TenantID, _, _ string, hash []byte, _ time.Duration,
) (toolsession.Session, error) {
	d.hash = hash
	return d.session, nil
}

func (d *desk) OpenToolSession(
	ctx context.Context, tenant tool.TenantID, id string, hash []byte,
) (toolsession.Session, error) {
	if !d.opens || !bytes.Equal(hash, d.hash) {
		return toolsession.Session{}, notFound("session")
	}
	return d.FindToolSession(ctx, tenant, id)
}

func (d *desk) AddSubmission(_ context.Context, b toolsession.Submission) (toolsession.Submission, bool, error) {
	for _, before := range d.stored {
		if before.Nonce == b.Nonce {
			return before, true, nil
		}
	}
	b.Status, b.CreatedAt = toolsession.Running, time.Now()
	d.stored = append(d.stored, b)
	return b, false, nil
}

func (d *desk) SettleSubmission(_ context.Context, b toolsession.Submission) (toolsession.Submission, error) {
	for i := range d.stored {
		if d.stored[i].ID == b.ID {
			d.stored[i] = b
		}
	}
	return b, nil
}

func (d *desk) FindSubmission(_ context.Context, _ tool.TenantID, session, id string) (toolsession.Submission, error) {
	for _, b := range d.stored {
		if b.ID == id && b.SessionID == session {
			return b, nil
		}
	}
	return toolsession.Submission{}, notFound("submission")
}

func (d *desk) ListSubmissions(context.Context, toolsession.SubmissionQuery) ([]toolsession.Submission, error) {
	return d.stored, nil
}

func (d *desk) Call(_ context.Context, n runs.NewCall) (runs.Call, error) {
	if d.failure != nil && !d.recorded {
		return runs.Call{}, d.failure
	}
	d.calls = append(d.calls, n)
	if d.failure != nil {
		return runs.Call{}, d.failure
	}
	if d.end.Status.Final() && d.end.Result == nil && d.end.CallMsg == "" {
		d.end.Result = tool.JSONResult(n.Node.Arguments)
	}
	return runs.Call{RunID: n.Request.ID}, nil
}

func (d *desk) Wait(context.Context, runs.Call, time.Duration, runs.Wakes) (*tool.Result, bool, error) {
	return d.end.Result, d.end.Result != nil, nil
}

func (d *desk) FindCallEnd(_ context.Context, _ tool.TenantID, runID string) (agent.CallEnd, error) {
	if !slices.ContainsFunc(d.calls, func(n runs.NewCall) bool { return n.Request.ID == runID }) {
		return agent.CallEnd{}, notFound("run")
	}
	return d.end, nil
}

// ask sends a request without any credentials.
func ask(t *testing.T, h http.Handler, method, path string, form url.Values) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	require.NoError(t, err)
	return w.Result(), string(body)
}
