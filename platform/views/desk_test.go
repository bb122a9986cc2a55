package views_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/platform/views"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/view"
	"github.com/toolcrib/toolcrib/wait"
)

func notFound(what string) error { return &tool.Error{Kind: tool.NotFound, Msg: what + " not found"} }

// desk is a record with one view, one call and one request for input.
type desk struct {
	on      bool
	view    view.View
	hash    []byte
	opens   bool // Whether the record opens the view.
	run     agent.Run
	end     agent.CallEnd
	version tool.Version
	gone    bool // Whether the version is not found.
	call    wait.Call
	taken   []runs.Submission
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	tenant := tool.TenantID(uuid.NewString())
	d := &desk{on: true, opens: true}
	d.run = agent.Run{
		ID: uuid.NewString(), Tenant: tenant, Kind: agent.RunKindToolCall,
		Principal: tool.Principal{Tenant: tenant, Subject: "key:a", Permissions: []string{access.RunsRead}},
	}
	d.end = agent.CallEnd{
		Status: agent.RunCompleted, InvocationID: uuid.NewString(),
		Result: &tool.Result{Content: []tool.Content{tool.Text("It left the warehouse.")}},
	}
	d.version.Number, d.version.Digest = "1.2.0", "d"
	d.call = wait.Call{
		ID: uuid.NewString(), Status: wait.CallPending, Key: []byte("key"),
		Arguments: json.RawMessage(`{"title":"Seat","questions":[{"id":"seat","label":"Which seat?"}]}`),
		ExpiresAt: time.Now().Add(time.Hour),
	}
	d.call.Principal.Tenant, d.call.Implementation = tenant, tool.Input
	return d
}

func (d *desk) service(t *testing.T) *views.Service {
	t.Helper()
	s, err := views.NewService(views.Config{Views: d, Record: d, Tools: d, Runs: d})
	require.NoError(t, err)
	return s
}

func (d *desk) PublishingEnabled(context.Context, tool.TenantID) (bool, error) { return d.on, nil }

func (d *desk) CreateView(_ context.Context, v view.View, hash []byte, keep time.Duration) (view.View, error) {
	if err := v.Check(); err != nil {
		return v, err
	}
	if !d.on {
		return v, &tool.Error{Kind: tool.Denied, Msg: "off"}
	}
	v.ExpiresAt = time.Now().Add(keep)
	d.view, d.hash = v, hash
	return v, nil
}

func (d *desk) FindView(_ context.Context, tenant tool.TenantID, id string) (view.View, error) {
	if d.view.ID != id || d.view.Tenant != tenant {
		return view.View{}, notFound("view")
	}
	return d.view, nil
}

func (d *desk) ListViews(context.Context, tool.TenantID, string, int) ([]view.View, error) {
	return nil, nil
}

func (d *desk) OpenView(ctx context.Context, tenant tool.TenantID, id string, hash []byte) (view.View, error) {
	if !d.opens || !bytes.Equal(hash, d.hash) {
		return view.View{}, notFound("view")
	}
	return d.FindView(ctx, tenant, id)
}

func (d *desk) RevokeView(context.Context, tool.TenantID, string, string) (view.View, error) {
	return d.view, nil
}

func (d *desk) RotateView(
	_ context.Context, _ tool.TenantID, _, _ string, hash []byte, _ time.Duration,
) (view.View, error) {
	d.hash = hash
	return d.view, nil
}

func (d *desk) FindRun(_ context.Context, tenant tool.TenantID, id string) (agent.Run, error) {
	if d.run.ID != id || d.run.Tenant != tenant {
		return agent.Run{}, notFound("run")
	}
	return d.run, nil
}

func (d *desk) FindCallEnd(ctx context.Context, tenant tool.TenantID, id string) (agent.CallEnd, error) {
	if _, err := d.FindRun(ctx, tenant, id); err != nil {
		return agent.CallEnd{}, err
	}
	return d.end, nil
}

func (d *desk) FindInvocation(context.Context, tool.TenantID, string) (tool.Invocation, error) {
	return tool.Invocation{VersionIdentity: tool.VersionIdentity{
		ToolID: uuid.NewString(), Slug: "getOrder", Version: "1.2.0", Digest: "d",
	}}, nil
}

func (d *desk) FindCall(_ context.Context, tenant tool.TenantID, id string) (wait.Call, error) {
	if d.call.ID != id || d.call.Principal.Tenant != tenant {
		return wait.Call{}, notFound("call")
	}
	return d.call, nil
}

func (d *desk) Resolve(_ context.Context, req resolver.Request) (*resolver.Resolved, error) {
	if req.Ref.Slug != "getOrder" || !req.Outside {
		return nil, notFound("tool")
	}
	return &resolver.Resolved{Tool: tool.Tool{ID: uuid.NewString(), Slug: "getOrder"}, Version: &d.version}, nil
}

func (d *desk) Version(context.Context, tool.TenantID, string, string) (*tool.Version, error) {
	if d.gone {
		return nil, notFound("version")
	}
	return &d.version, nil
}

// SubmitResult checks an answer by the form, as package runs does, and keeps it.
func (d *desk) SubmitResult(_ context.Context, sub runs.Submission) (runs.Submitted, error) {
	spec, err := input.Read(d.call.Arguments)
	if err != nil {
		return runs.Submitted{}, err
	}
	answer, err := spec.ReadResult(d.call.ID, sub.Result, nil)
	if err != nil {
		return runs.Submitted{}, err
	}
	packet, err := answer.Result(d.call.ID, nil)
	if err != nil {
		return runs.Submitted{}, err
	}
	d.taken = append(d.taken, sub)
	d.call.Status, d.call.Result = wait.CallResolved, &tool.Result{Structured: packet}
	return runs.Submitted{Call: d.call}, nil
}
