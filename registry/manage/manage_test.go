package manage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/confirm"
	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/manage"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// approvals are those of calls, by their ids.
type approvals map[string]wait.Approval

func (a approvals) FindApproval(_ context.Context, tenant tool.TenantID, id string) (wait.Approval, error) {
	found, ok := a[id]
	if !ok || found.Tenant != tenant {
		return found, &tool.Error{Kind: tool.NotFound, Msg: "no such request"}
	}
	return found, nil
}

// desk is a manager of the tools of a tenant.
type desk struct {
	t        *testing.T
	store    *registrytest.Store
	registry *registry.Registry
	manager  *manage.Manager
	given    approvals
	ada      tool.Principal
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	store := registrytest.NewStore()
	reg := registry.New(store, registry.Options{
		Resolver: resolver.New(store, resolver.Options{}),
		Types:    registrytest.Types(executors.Type{Traits: tool.Traits{Implementation: tool.HTTP}}),
	})
	d := &desk{t: t, store: store, registry: reg, given: approvals{}}
	d.manager = manage.New(reg, d.given)
	d.ada = tool.Principal{
		Tenant: store.AddTenant("acme"), Subject: "user:ada", Permissions: []string{access.ToolsRead, access.ToolsWrite},
	}
	return d
}

// call makes a call without an approval.
func (d *desk) call(p tool.Principal, arguments string) (manage.Answer, error) {
	return d.manager.Manage(d.t.Context(), &tool.Call{
		CallIdentity: tool.CallIdentity{InvocationID: "call", RunID: "run", Principal: p},
		Arguments:    json.RawMessage(arguments),
	})
}

// approved makes a call that a person approved.
func (d *desk) approved(p tool.Principal, arguments string) (manage.Answer, error) {
	d.given["call"] = wait.Approval{
		Tenant: p.Tenant, Status: wait.Approved, Agent: "toolsmith",
		Decisions: []wait.Decision{{Subject: "key:bob", Approve: true}},
	}
	defer delete(d.given, "call")
	return d.call(p, arguments)
}

func (d *desk) must(arguments string, args ...any) manage.Answer {
	d.t.Helper()
	out, err := d.approved(d.ada, fmt.Sprintf(arguments, args...))
	require.NoError(d.t, err)
	return out
}

const newEcho = `{"action":"create","slug":"echoText","description":"Echoes a text.","implementation_type":"internal",
  "input_schema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}%s}`

func TestManageToolsNamesTheFieldThatIsMissing(t *testing.T) {
	t.Parallel()

	tests := []struct{ arguments, text string }{
		{`{}`, "manageTools requires 'action': one of list, get, create"},
		{`{"action":"make"}`, `manageTools has no action "make"`},
		{`{"action":"create"}`, "manageTools.create requires 'slug'"},
		{`{"action":"create","slug":"a"}`, "manageTools.create requires 'description'"},
		{`{"action":"create","slug":null}`, "manageTools.create requires 'slug'"},
		{`{"action":"get"}`, "manageTools.get requires 'slug'"},
		{`{"action":"update","slug":"a"}`, "manageTools.update requires 'revision': the one that manageTools.get answers"},
		{`{"action":"update","slug":"a","revision":1}`, "manageTools.update requires a field to change"},
		{`{"action":"delete","slug":"a","revision":1,"name":"b"}`, "manageTools.delete takes no 'name'"},
		{`{"action":"list","serch":"a"}`, "manageTools.list takes no 'serch': did you mean 'search'?"},
		{`{"action":"get","slug":7}`, "'slug' is not of the type"},
		{`[]`, "manageTools requires an object"},
	}
	for _, tt := range tests {
		_, err := manage.Parse(json.RawMessage(tt.arguments))
		require.Equal(t, tool.Invalid, tool.KindOf(err), tt.arguments)
		require.Contains(t, tool.AsError(err).Msg, tt.text)
	}
}

// The condition asks for each complete change and for nothing else.
func TestManageToolsAsks(t *testing.T) {
	t.Parallel()

	condition, err := confirm.Compile(tool.Confirmation{When: manage.Asks()})
	require.NoError(t, err)
	for arguments, asks := range map[string]bool{
		`{"action":"list"}`:                                  false,
		`{"action":"get","slug":"a"}`:                        false,
		`{"action":"create","slug":"a"}`:                     false, // It is refused at once.
		`{"action":"delete","slug":"a"}`:                     false,
		`{"action":"delete","slug":"a","revision":1}`:        true,
		`{"action":"update","slug":"a","revision":1}`:        true,
		`{"action":"publish","slug":"a","revision":1,"x":1}`: true,
		fmt.Sprintf(newEcho, ""):                             true,
	} {
		require.Equal(t, asks, condition.Asks(t.Context(), json.RawMessage(arguments), tool.Principal{}) != "", arguments)
	}
}

func TestManageToolsLifecycle(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	made := d.must(newEcho, "")
	require.Equal(t, tool.Draft, made.Tool.Status)
	listed, err := d.call(d.ada, `{"action":"list","search":"echo"}`)
	require.NoError(t, err)
	require.Len(t, listed.Tools, 1)
	got, err := d.call(d.ada, `{"action":"get","slug":"echoText"}`)
	require.NoError(t, err)
	require.Contains(t, string(got.Definition), `"description":"Echoes a text."`)
	require.Equal(t, made.Tool.Revision, got.Tool.Revision)

	changed := d.must(`{"action":"update","slug":"echoText","revision":%d,"description":"Echoes."}`, got.Tool.Revision)
	require.Equal(t, "Echoes.", changed.Tool.Description)
	kept, err := d.call(d.ada, `{"action":"get","slug":"echoText"}`)
	require.NoError(t, err)
	require.Contains(t, string(kept.Definition), `"required":["text"]`, "what a request does not name stays")

	_, err = d.approved(d.ada, fmt.Sprintf(`{"action":"publish","slug":"echoText","revision":%d}`, got.Tool.Revision))
	require.ErrorIs(t, err, definition.ErrChanged, "an approval is for the revision that it names")
	published := d.must(`{"action":"publish","slug":"echoText","revision":%d}`, changed.Tool.Revision)
	require.Equal(t, "1.0.0", published.Version)
	again := d.must(`{"action":"update","slug":"echoText","revision":%d,"publish":true,"category":"texts"}`,
		published.Tool.Revision)
	require.Equal(t, "1.0.1", again.Version)
	_, err = d.approved(d.ada, fmt.Sprintf(`{"action":"delete","slug":"echoText","revision":%d}`, again.Tool.Revision))
	require.Equal(t, tool.Conflict, tool.KindOf(err), "it is published")
	off := d.must(`{"action":"disable","slug":"echoText","revision":%d}`, again.Tool.Revision)
	require.True(t, d.must(`{"action":"delete","slug":"echoText","revision":%d}`, off.Tool.Revision).Deleted)
	_, err = d.call(d.ada, `{"action":"get","slug":"echoText"}`)
	require.Equal(t, tool.NotFound, tool.KindOf(err))
}

// No change is made that a person did not approve, whatever the policy of the built-in says.
func TestManageToolsNeedsAPerson(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	create := fmt.Sprintf(newEcho, "")
	for name, given := range map[string]*wait.Approval{
		"none":     nil,
		"pending":  {Status: wait.Pending},
		"rejected": {Status: wait.Rejected, Decisions: []wait.Decision{{Subject: "key:bob"}}},
		"a grant":  {Status: wait.Approved, Decisions: []wait.Decision{{Subject: "key:bob", Approve: true, GrantID: "g"}}},
	} {
		delete(d.given, "call")
		if given != nil {
			given.Tenant = d.ada.Tenant
			d.given["call"] = *given
		}
		_, err := d.call(d.ada, create)
		require.Equal(t, tool.Denied, tool.KindOf(err), name)
	}
	_, err := d.registry.Get(t.Context(), d.ada, tool.Ref{Slug: "echoText"})
	require.Equal(t, tool.NotFound, tool.KindOf(err))
}

// An agent makes no tool stronger than its principal may, and loosens none.
func TestManageToolsLimits(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	reader := d.ada
	reader.Permissions = []string{access.ToolsRead}
	_, err := d.approved(reader, fmt.Sprintf(newEcho, ""))
	require.Equal(t, tool.Denied, tool.KindOf(err), "the principal has to hold tools.write")

	named := `,"implementation_config":{"credentials_ref":"stripe"}`
	_, err = d.approved(d.ada, fmt.Sprintf(newEcho, named))
	require.Equal(t, tool.Denied, tool.KindOf(err))
	require.Contains(t, tool.AsError(err).Msg, access.CredentialsRead)
	trusted := d.ada
	trusted.Permissions = append([]string{access.CredentialsRead}, d.ada.Permissions...)
	made, err := d.approved(trusted, fmt.Sprintf(newEcho, named))
	require.NoError(t, err)
	made, err = d.approved(d.ada, fmt.Sprintf(`{"action":"update","slug":"echoText","revision":%d,"egress_class":"write",
		"requires_approval":true,"permission_policy":"always_ask",
		"interaction":{"confirmation":{"when":"input.text != ''"},"visibility":"internal"}}`, made.Tool.Revision))
	require.NoError(t, err, "it may hold more back, and keep the credential that the tool has")

	for field, change := range map[string]string{
		"/egress_class":             `"egress_class":"none"`,
		"/requires_approval":        `"requires_approval":false`,
		"/permission_policy":        `"permission_policy":"auto"`,
		"/interaction/confirmation": `"interaction":{"confirmation":null}`,
		"/interaction/visibility":   `"interaction":{"visibility":"external"}`,
	} {
		_, err := d.approved(trusted, fmt.Sprintf(`{"action":"update","slug":"echoText","revision":%d,%s}`,
			made.Tool.Revision, change))
		require.Equal(t, tool.Denied, tool.KindOf(err), change)
		require.Equal(t, field, tool.AsError(err).Path)
	}

	_, err = d.approved(trusted, strings.Replace(fmt.Sprintf(newEcho, `,"execution":{"trust":"trusted"}`), "echoText", "other", 1))
	require.Equal(t, tool.Denied, tool.KindOf(err))
	require.Equal(t, "/execution/trust", tool.AsError(err).Path)
	made, err = d.approved(d.ada, fmt.Sprintf(`{"action":"update","slug":"echoText","revision":%d,
		"execution":{"trust":"untrusted"},"interaction":{"audience":"user"}}`, made.Tool.Revision))
	require.NoError(t, err)
	for field, change := range map[string]string{
		"/execution/trust":      `"execution":{"trust":"trusted"}`,
		"/interaction/audience": `"interaction":{"audience":"model"}`,
	} {
		_, err := d.approved(trusted, fmt.Sprintf(`{"action":"update","slug":"echoText","revision":%d,%s}`,
			made.Tool.Revision, change))
		require.Equal(t, tool.Denied, tool.KindOf(err), change)
		require.Equal(t, field, tool.AsError(err).Path)
	}

	made, err = d.approved(d.ada, fmt.Sprintf(`{"action":"update","slug":"echoText","revision":%d,
		"required_permission":"orders.refund"}`, made.Tool.Revision))
	require.NoError(t, err)
	_, err = d.call(d.ada, `{"action":"get","slug":"echoText"}`)
	require.Equal(t, tool.NotFound, tool.KindOf(err), "a tool that the principal may not call is absent")
	_, err = d.approved(d.ada, fmt.Sprintf(`{"action":"disable","slug":"echoText","revision":%d}`, made.Tool.Revision))
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	listed, err := d.call(d.ada, `{"action":"list"}`)
	require.NoError(t, err)
	require.Empty(t, listed.Tools)
}

// The platform's tools are neither changed nor replaced.
func TestManageToolsLeavesThePlatformAlone(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	_, err := registry.New(d.store.Platform(), registry.Options{}).SyncBuiltins(t.Context(), []registry.BuiltinSpec{{
		Key: "echoText", Version: "1.0.0", Definition: tool.Definition{
			Description: "Ours.", Implementation: tool.Internal, InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`),
		},
	}})
	require.NoError(t, err)
	_, err = d.approved(d.ada, fmt.Sprintf(newEcho, ""))
	require.Equal(t, tool.Denied, tool.KindOf(err))
	_, err = d.approved(d.ada, `{"action":"delete","slug":"echoText","revision":1}`)
	require.Equal(t, tool.Denied, tool.KindOf(err))
}

// A change that cannot be published leaves nothing behind.
func TestManageToolsMakesNoHalfTools(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	_, err := d.approved(d.ada, fmt.Sprintf(newEcho, `,"publish":true,"output_schema":{"type":"text"}`))
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	_, err = d.approved(d.ada, fmt.Sprintf(newEcho, `,"egress":"none"`))
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	_, err = d.registry.Get(t.Context(), d.ada, tool.Ref{Slug: "echoText"})
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	require.Equal(t, "1.0.0", d.must(newEcho, `,"publish":true`).Version)
	_, err = d.approved(d.ada, fmt.Sprintf(newEcho, ""))
	require.Equal(t, tool.Conflict, tool.KindOf(err), "a create never changes a tool that exists")
}

// spy is a store that keeps who changed it.
type spy struct {
	registry.Store
	actors []audit.Actor
}

func (s *spy) CreateTool(ctx context.Context, t tool.Tool) (tool.Tool, error) {
	s.actors = append(s.actors, audit.ActorFrom(ctx))
	return s.Store.CreateTool(ctx, t) //nolint:wrapcheck // A test.
}

func TestManageToolsIsAudited(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	s := &spy{Store: d.store}
	d.manager = manage.New(registry.New(s, registry.Options{}), d.given)
	d.must(newEcho, "")
	require.Len(t, s.actors, 1)
	require.Equal(t, "user:ada", s.actors[0].Subject)
	require.Equal(t, "run", s.actors[0].RequestID)
	require.Equal(t, "by agent toolsmith in run run, call call, approved by key:bob", s.actors[0].Reason)
}

func TestManageToolsPreview(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	preview := func(arguments string, args ...any) *manage.Preview {
		out, err := d.manager.Preview(t.Context(), d.ada.Tenant, json.RawMessage(fmt.Sprintf(arguments, args...)))
		require.NoError(t, err)
		return out
	}
	require.Nil(t, preview(`{"action":"list"}`))
	made := preview(newEcho, `,"implementation_config":{"api_key":"sesame-of-the-crib"}`)
	require.Empty(t, made.Before)
	require.Contains(t, string(made.After), `"slug":"echoText"`)
	require.NotContains(t, string(made.After), "sesame", "secrets are not shown")
	_, err := d.registry.Get(t.Context(), d.ada, tool.Ref{Slug: "echoText"})
	require.Equal(t, tool.NotFound, tool.KindOf(err), "a preview changes nothing")

	revision := d.must(newEcho, "").Tool.Revision
	change := `{"action":"update","slug":"echoText","revision":%d,"description":"Echoes.","egress_class":"%s",
		"input_schema":{"type":"object","properties":{}}}`
	out := preview(change, revision, "read_only")
	require.Empty(t, out.Refusal)
	require.Contains(t, string(out.Before), "Echoes a text.")
	require.Contains(t, string(out.After), `"Echoes."`)
	var paths []string
	for _, c := range out.Changes {
		paths = append(paths, c.Path)
	}
	require.Subset(t, paths, []string{"description", "egress_class"})
	require.Contains(t, preview(change, revision+1, "none").Refusal, "changed concurrently")
	require.Contains(t, preview(`{"action":"publish","slug":"echoText","revision":%d}`, revision).Changes[0].Reason, "published")
	require.Contains(t, preview(`{"action":"disable","slug":"nothing","revision":1}`).Refusal, "no tool")
	require.Contains(t, preview(newEcho, "").Refusal, "there is a tool")
	require.Contains(t, preview(newEcho, `,"publish":7`).Refusal, "publish")
}
