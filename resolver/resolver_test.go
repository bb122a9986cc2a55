package resolver_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// bench is a resolver over a store with two tenants.
type bench struct {
	store       *registrytest.Store
	resolver    *resolver.Resolver
	acme, other tool.TenantID
}

func setup(t *testing.T) bench {
	t.Helper()

	store := registrytest.NewStore()
	types := []tool.Implementation{tool.Internal, tool.HTTP, tool.Function, tool.MCP, tool.Custom}
	r := resolver.New(store, resolver.Options{Types: types})
	return bench{store, r, store.AddTenant("acme"), store.AddTenant("other")}
}

func (b bench) request(ref string) resolver.Request {
	parsed, err := tool.ParseRef(ref)
	if err != nil {
		panic(err)
	}
	return resolver.Request{
		Principal: tool.Principal{Tenant: b.acme, Subject: "user:ada"}, Ref: parsed, Mode: tool.Production,
	}
}

// add stores a tool that is published and active unless edit says otherwise,
// with one version per number; a number that ends in "?" is not published.
func (b bench) add(
	t *testing.T, tenant tool.TenantID, slug string, edit func(*tool.Tool), numbers ...string,
) tool.Tool {
	t.Helper()

	store := b.store.Platform()
	head := tool.Tool{
		Tenant: tenant, Slug: slug, Status: tool.Published, Active: true, Version: "1.0.0",
		Definition: tool.Definition{Name: slug, Implementation: tool.Internal},
		Policy:     tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto},
	}
	if edit != nil {
		edit(&head)
	}
	head, err := store.CreateTool(t.Context(), head)
	require.NoError(t, err)
	if head.Global() {
		b.override(t, tool.Override{ToolID: head.ID, Enabled: &[]bool{true}[0]})
	}
	for _, number := range numbers {
		published := number[len(number)-1] != '?'
		if !published {
			number = number[:len(number)-1]
		}
		snapshot := tool.Snapshot{Definition: head.Definition}
		snapshot.Description = "version " + number
		digest, err := snapshot.Digest()
		require.NoError(t, err)
		head, _, err = store.AddVersion(t.Context(), head, tool.Version{
			Number: number, Digest: digest, Published: published, Snapshot: snapshot,
		})
		require.NoError(t, err)
	}
	return head
}

func (b bench) override(t *testing.T, o tool.Override) {
	t.Helper()

	_, err := b.store.Platform().SetOverride(t.Context(), o)
	require.NoError(t, err)
}

func TestResolveRules(t *testing.T) {
	t.Parallel()

	published := []string{"1.0.0", "1.2.0", "1.4.0", "1.4.3", "2.0.0-rc.1", "1.9.0?"}
	tests := []struct {
		name    string
		edit    func(*tool.Tool)
		request func(*resolver.Request)
		ref     string
		want    string // The version; empty when refused.
		kind    tool.Kind
		msg     string
	}{
		{name: "the highest published release", ref: "findOrder", want: "1.4.3"},
		{name: "a caret range", ref: "findOrder@^1.2", want: "1.4.3"},
		{name: "a tilde range", ref: "findOrder@~1.2.0", want: "1.2.0"},
		{name: "an exact version", ref: "findOrder@1.0.0", want: "1.0.0"},
		{name: "a prerelease by name", ref: "findOrder@2.0.0-rc.1", want: "2.0.0-rc.1"},
		{
			name: "no prerelease by range", ref: "findOrder@^2", kind: tool.NotFound,
			msg: `tool "findOrder" has no published version that meets ^2 (there are 2.0.0-rc.1, 1.4.3, 1.4.0, 1.2.0, 1.0.0)`,
		},
		{name: "no unpublished version in production", ref: "findOrder@1.9.0", kind: tool.NotFound},
		{name: "an unpublished version in debug mode", ref: "findOrder@1.9.0", request: debug, want: "1.9.0"},
		{name: "the head in debug mode", ref: "findOrder", request: debug, want: "1.0.0-draft"},
		{
			name: "the head of a draft in debug mode", ref: "findOrder", edit: status(tool.Draft), request: debug,
			want: "1.0.0-draft",
		},
		{
			name: "no draft in production", ref: "findOrder", edit: status(tool.Draft), kind: tool.Conflict,
			msg: `tool "findOrder" is a draft: publish it first, or use debug mode`,
		},
		{
			name: "a malformed constraint", ref: "findOrder@newest", kind: tool.Invalid,
			msg: `version constraint "newest": expected an exact version such as 1.2.0, a range such as ^1.2 or ~1.4.0, or none`,
		},
		{
			name: "a mode of tomorrow", ref: "findOrder", request: func(r *resolver.Request) { r.Mode = "dream" },
			kind: tool.Invalid,
		},
		{
			name: "no mode means production", ref: "findOrder", request: func(r *resolver.Request) { r.Mode = "" },
			want: "1.4.3",
		},
		{
			name: "no tenant", ref: "findOrder", request: func(r *resolver.Request) { r.Principal.Tenant = "" },
			kind: tool.Denied,
		},
		{
			name: "inactive", ref: "findOrder", edit: func(t *tool.Tool) { t.Active = false }, kind: tool.Conflict,
			msg: `tool "findOrder" is inactive`,
		},
		{
			name: "inactive in debug mode", ref: "findOrder", edit: func(t *tool.Tool) { t.Active = false }, request: debug,
			kind: tool.Conflict,
		},
		{
			name: "quarantined", ref: "findOrder", edit: func(t *tool.Tool) { t.Quarantine = "its server changed it" },
			request: debug, kind: tool.Conflict, msg: `tool "findOrder" is quarantined: its server changed it`,
		},
		{
			name: "disabled", ref: "findOrder", edit: status(tool.Disabled), kind: tool.Conflict,
			msg: `tool "findOrder" is disabled`,
		},
		{name: "disabled in debug mode", ref: "findOrder", edit: status(tool.Disabled), request: debug, kind: tool.Conflict},
		{name: "deprecated, newly bound", ref: "findOrder", edit: status(tool.Deprecated), kind: tool.Conflict},
		{
			name: "deprecated, bound before", ref: "findOrder", edit: status(tool.Deprecated),
			request: func(r *resolver.Request) { r.AllowDeprecated = true }, want: "1.4.3",
		},
		{name: "deprecated, pinned", ref: "findOrder@1.2.0", edit: status(tool.Deprecated), want: "1.2.0"},
		{
			name: "deprecated, pinned anew", ref: "findOrder@1.2.0", edit: status(tool.Deprecated),
			request: func(r *resolver.Request) { r.New = true }, kind: tool.Conflict,
		},
		{name: "a permission that is missing", ref: "findOrder", edit: requires("orders.read"), kind: tool.Denied},
		{
			name: "a permission that is held", ref: "findOrder", edit: requires("orders.read"),
			request: func(r *resolver.Request) { r.Principal.Permissions = []string{"orders.read"} }, want: "1.4.3",
		},
		{
			name: "an unknown implementation type", ref: "findOrder",
			edit: func(t *tool.Tool) { t.Implementation = "telepathy" }, kind: tool.Invalid,
			msg: `tool "findOrder" has the unknown implementation type "telepathy"`,
		},
		{
			name: "an implementation type from the configuration", ref: "findOrder",
			edit: func(t *tool.Tool) { t.Implementation, t.Config = "", json.RawMessage(`{"type":"http"}`) }, want: "1.4.3",
		},
		{name: "no such tool", ref: "findInvoice", kind: tool.NotFound, msg: `tool "findInvoice" not found`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.add(t, b.acme, "findOrder", tt.edit, published...)
			req := b.request(tt.ref)
			if tt.request != nil {
				tt.request(&req)
			}
			got, err := b.resolver.Resolve(t.Context(), req)
			why, explainErr := b.resolver.Explain(t.Context(), req)
			require.NoError(t, explainErr)
			require.NotEmpty(t, why.Steps)
			if tt.want == "" {
				require.Equal(t, tt.kind, tool.KindOf(err), "%v", err)
				if tt.msg != "" {
					require.Equal(t, tt.msg, tool.AsError(err).Msg)
				}
				require.Equal(t, tt.kind, why.Kind)
				require.Equal(t, tool.AsError(err).Msg, why.Msg)
				require.False(t, why.Steps[len(why.Steps)-1].Passed)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got.Version.Number)
			digest, err := got.Version.Snapshot.Digest()
			require.NoError(t, err)
			require.Equal(t, got.Version.Digest, digest)
			require.Equal(t, tt.want, why.Version)
			require.Equal(t, got.Version.Digest, why.Digest)
			require.Equal(t, got.Tool.Status == tool.Deprecated, len(got.Warnings) > 0)
		})
	}
}

func debug(r *resolver.Request) { r.Mode = tool.Debug }

func status(s tool.Status) func(*tool.Tool) { return func(t *tool.Tool) { t.Status = s } }

func requires(p string) func(*tool.Tool) { return func(t *tool.Tool) { t.RequiredPermission = p } }

// Another tenant's tool is refused in the very words for one that does not
// exist, by slug and by id.
func TestResolveIsolatesTenants(t *testing.T) {
	t.Parallel()

	b := setup(t)
	theirs := b.add(t, b.other, "findOrder", nil, "1.0.0")
	global := b.add(t, "", "screenRisk", func(t *tool.Tool) { t.TenantSlugs = []string{"other"} }, "1.0.0")
	for _, ref := range []string{theirs.Slug, theirs.ID, global.Slug, global.ID} {
		_, err := b.resolver.Resolve(t.Context(), b.request(ref))
		require.Equal(t, tool.NotFound, tool.KindOf(err))
		require.Equal(t, `tool "`+ref+`" not found`, tool.AsError(err).Msg)
	}
	_, err := b.resolver.Version(t.Context(), b.acme, theirs.ID, mustDigest(t, b, theirs))
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	_, err = b.resolver.Version(t.Context(), b.other, theirs.ID, mustDigest(t, b, theirs))
	require.NoError(t, err)
	_, err = b.resolver.Version(t.Context(), b.acme, theirs.ID, mustDigest(t, b, theirs))
	require.Equal(t, tool.NotFound, tool.KindOf(err), "what is kept for one tenant is not handed to another")
}

func mustDigest(t *testing.T, b bench, head tool.Tool) string {
	t.Helper()

	versions, err := b.store.ListVersions(t.Context(), head.Tenant, head.ID)
	require.NoError(t, err)
	return versions[0].Digest
}

func TestResolveShadowing(t *testing.T) {
	t.Parallel()

	b := setup(t)
	global := b.add(t, "", "findOrder", nil, "3.0.0")
	own := b.add(t, b.acme, "findOrder", nil, "1.0.0")

	got, err := b.resolver.Resolve(t.Context(), b.request("findOrder"))
	require.NoError(t, err)
	require.True(t, got.Shadows)
	require.Equal(t, own.ID, got.Tool.ID)

	why, err := b.resolver.Explain(t.Context(), b.request("findOrder"))
	require.NoError(t, err)
	require.True(t, why.Shadows)
	require.Contains(t, why.Steps, resolver.Step{
		Rule: resolver.RuleShadowing, Passed: true, Saw: "the tenant's own tool hides global tool " + global.ID,
	})

	got, err = b.resolver.Resolve(t.Context(), b.request(global.ID))
	require.NoError(t, err)
	require.Equal(t, "3.0.0", got.Version.Number, "an id means the very tool")
}

func TestResolveSuspendedTenant(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.add(t, b.acme, "findOrder", nil, "1.0.0")
	b.store.SetActive(b.acme, false)
	_, err := b.resolver.Resolve(t.Context(), b.request("findOrder"))
	require.Equal(t, tool.Denied, tool.KindOf(err))
	_, _, err = b.resolver.List(t.Context(), b.request("x").Principal, tool.Production, resolver.Filter{}, resolver.Page{})
	require.Equal(t, tool.Denied, tool.KindOf(err))
}

// Authority is read each time, content only once.
func TestResolveCachesContentOnly(t *testing.T) {
	t.Parallel()

	b := setup(t)
	head := b.add(t, b.acme, "findOrder", nil, "1.0.0")
	first, err := b.resolver.Resolve(t.Context(), b.request("findOrder"))
	require.NoError(t, err)
	again, err := b.resolver.Resolve(t.Context(), b.request("findOrder"))
	require.NoError(t, err)
	require.Same(t, first.Version, again.Version)

	head.Active = false
	_, err = b.store.UpdateTool(t.Context(), head)
	require.NoError(t, err)
	_, err = b.resolver.Resolve(t.Context(), b.request("findOrder"))
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	_, err = b.resolver.Version(t.Context(), b.acme, head.ID, first.Version.Digest)
	require.NoError(t, err)
}

// A run that pinned a draft gets what it pinned, or is told that it is gone;
// never another draft.
func TestVersionOfDraft(t *testing.T) {
	t.Parallel()

	b := setup(t)
	head := b.add(t, b.acme, "findOrder", status(tool.Draft))
	req := b.request("findOrder")
	req.Mode = tool.Debug
	got, err := b.resolver.Resolve(t.Context(), req)
	require.NoError(t, err)
	require.True(t, got.Draft)

	elsewhere := resolver.New(b.store, resolver.Options{})
	v, err := elsewhere.Version(t.Context(), b.acme, head.ID, got.Version.Digest)
	require.NoError(t, err)
	require.Equal(t, "1.0.0-draft", v.Number)

	head.Description = "edited"
	_, err = b.store.UpdateTool(t.Context(), head)
	require.NoError(t, err)
	_, err = b.resolver.Version(t.Context(), b.acme, head.ID, got.Version.Digest)
	require.NoError(t, err, "it was seen here before")
	_, err = resolver.New(b.store, resolver.Options{}).Version(t.Context(), b.acme, head.ID, got.Version.Digest)
	require.Equal(t, tool.Conflict, tool.KindOf(err))
}

// The same content may stand under several numbers: the number that was asked
// for is the one that comes back.
func TestResolveSameContentTwice(t *testing.T) {
	t.Parallel()

	b := setup(t)
	head := b.add(t, b.acme, "findOrder", nil, "1.0.0")
	versions, err := b.store.ListVersions(t.Context(), b.acme, head.ID)
	require.NoError(t, err)
	again := versions[0]
	again.ID, again.Number = "", "1.1.0"
	_, _, err = b.store.AddVersion(t.Context(), head, again)
	require.NoError(t, err)
	for ref, want := range map[string]string{"findOrder": "1.1.0", "findOrder@1.0.0": "1.0.0"} {
		got, err := b.resolver.Resolve(t.Context(), b.request(ref))
		require.NoError(t, err)
		require.Equal(t, want, got.Version.Number)
	}
}

// A list has the number that a call runs, also where the content was seen before as a draft, or stands under several
// numbers.
func TestVersionsHaveTheNumbersOfTheirItems(t *testing.T) {
	t.Parallel()

	b := setup(t)
	head := b.add(t, b.acme, "findOrder", status(tool.Draft))
	req := b.request("findOrder")
	req.Mode = tool.Debug
	got, err := b.resolver.Resolve(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "1.0.0-draft", got.Version.Number)
	numbers := func(mode tool.Mode) []string {
		items, _, err := b.resolver.List(t.Context(), req.Principal, mode, resolver.Filter{}, resolver.Page{})
		require.NoError(t, err)
		versions, err := b.resolver.Versions(t.Context(), b.acme, items)
		require.NoError(t, err)
		out := make([]string, 0, len(versions))
		for _, v := range versions {
			out = append(out, v.Number)
		}
		return out
	}
	require.Equal(t, []string{"1.0.0-draft"}, numbers(tool.Debug))

	for _, number := range []string{"1.0.0", "1.1.0"} {
		head.Status = tool.Published
		head, _, err = b.store.AddVersion(t.Context(), head, tool.Version{
			ToolID: head.ID, Tenant: b.acme, Slug: head.Slug, Number: number, Published: true,
			Digest: got.Version.Digest, Snapshot: got.Version.Snapshot,
		})
		require.NoError(t, err)
		require.Equal(t, []string{number}, numbers(tool.Production), "it was tested as a draft before")
	}
}
