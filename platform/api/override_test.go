package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// global publishes a global tool that echoes, switched on for all if it is a built-in.
func (b *bundle) global(t *testing.T, slug string, builtin bool) tool.Tool {
	t.Helper()
	head := tool.Tool{
		Slug: slug, Status: tool.Published, Active: true, Version: "1.0.0",
		Definition: tool.Definition{Name: slug, Implementation: tool.Internal},
	}
	if builtin {
		head.BuiltinKey = slug
	}
	store := b.Platform.Registry()
	head, err := store.CreateTool(t.Context(), head)
	require.NoError(t, err)
	snapshot := tool.Snapshot{Definition: head.Definition}
	digest, err := snapshot.Digest()
	require.NoError(t, err)
	head, _, err = store.AddVersion(t.Context(), head, tool.Version{
		ToolID: head.ID, Number: "1.0.0", Digest: digest, Published: true, Snapshot: snapshot,
	})
	require.NoError(t, err)
	return head
}

// What a tenant decides about a tool shows in every answer about it: the decision itself,
// the list of what may be called, and the explanation.
func TestOverrides(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("own"))
	b.global(t, "builtIn", true)
	b.global(t, "shared", false)
	callable := func(key ...string) (slugs []string) {
		var page v1.Page[v1.Tool]
		b.do(t, http.MethodGet, "/v1/tools?callable=production", "", key...).into(t, &page)
		for _, item := range page.Items {
			slugs = append(slugs, item.Slug)
		}
		return slugs
	}
	stranger := b.Key(t, b.Tenant(t), "*")
	require.Equal(t, []string{"builtIn", "own"}, callable(), "a global tool is off until it is switched on")

	var got v1.ToolOverrides
	put := func(slug, body string) v1.ToolOverrides {
		t.Helper()
		answer := b.do(t, http.MethodPut, "/v1/tools/"+slug+"/override", body)
		require.Equal(t, http.StatusOK, answer.status, string(answer.body))
		got = v1.ToolOverrides{}
		answer.into(t, &got)
		return got
	}
	require.True(t, put("shared", `{"enabled":true}`).Enabled)
	require.False(t, put("builtIn", `{"enabled":false,"reason":"not before the audit"}`).Enabled)
	require.Equal(t, "not before the audit", got.Tenant.Reason)
	require.True(t, *got.Platform.Enabled)
	require.False(t, put("own", `{"enabled":false}`).Enabled)
	require.Equal(t, []string{"shared"}, callable())
	require.Equal(t, []string{"builtIn"}, callable(stranger), "one tenant's decision is not another's")

	var why v1.Explanation
	b.do(t, http.MethodGet, "/v1/tools/builtIn/explain", "").into(t, &why)
	require.Contains(t, why.Detail, "switched off")
	require.Contains(t, fmt.Sprint(why.Steps), "not before the audit")
	refused := b.do(t, http.MethodPost, "/v1/tools/builtIn/call", "{}").problem(t)
	require.Equal(t, http.StatusConflict, refused.Status)
	require.Contains(t, refused.Detail, "switched off")

	require.True(t, put("shared", `{"enabled":true,"requires_approval":true}`).RequiresApproval)
	b.do(t, http.MethodGet, "/v1/tools/shared/explain", "").into(t, &why)
	require.Contains(t, fmt.Sprint(why.Steps), "the tenant, key:")

	var places []string
	path := "/v1/overrides?limit=1"
	for {
		var page v1.Page[v1.Override]
		b.do(t, http.MethodGet, path, "").into(t, &page)
		for _, o := range page.Items {
			places = append(places, o.Tool+" "+o.By)
		}
		if page.Next == "" {
			break
		}
		path = "/v1/overrides?limit=1&cursor=" + page.Next
	}
	require.Equal(t, []string{"builtIn tenant", "builtIn platform", "own tenant", "shared tenant"}, places)

	b.do(t, http.MethodDelete, "/v1/tools/builtIn/override", "").into(t, &got)
	require.True(t, got.Enabled)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodDelete, "/v1/tools/builtIn/override", "").status)
	got = v1.ToolOverrides{}
	b.do(t, http.MethodGet, "/v1/tools/builtIn/override", "").into(t, &got)
	require.Nil(t, got.Tenant)
}

func TestOverridesAreChecked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("own"))
	for body, words := range map[string]string{
		`{}`:                          "decides nothing",
		`{"requires_approval":false}`: "decides nothing",
		`{"enabled":"yes"}`:           "boolean",
		`{"enable":true}`:             "enable",
	} {
		got := b.do(t, http.MethodPut, "/v1/tools/own/override", body)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, body+string(got.body))
		require.Contains(t, string(got.body), words)
	}
	require.Equal(t, http.StatusNotFound,
		b.do(t, http.MethodPut, "/v1/tools/none/override", `{"enabled":true}`).status)
	require.Equal(t, http.StatusUnprocessableEntity, b.do(t, http.MethodGet, "/v1/overrides?cursor=eA", "").status)
	reader := b.Key(t, b.tenant, "tools.read")
	require.Equal(t, http.StatusForbidden,
		b.do(t, http.MethodPut, "/v1/tools/own/override", `{"enabled":true}`, reader).status)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/v1/tools/own/override", "", reader).status)
}

func ifMatch(tag string) map[string]string { return map[string]string{"If-Match": tag} }

// What an override changes shows in every answer about the tool, edits are guarded by If-Match, and each is kept.
func TestOverrideContent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("own"))
	b.global(t, "shared", false)
	path := "/v1/tools/shared/override"
	none := b.do(t, http.MethodGet, path, "").header.Get("Etag")
	body := `{"enabled":true,"description":"Ours.","limits":{"timeout_s":5},"reason":"clearer"}`
	set := b.send(t, http.MethodPut, path, body, ifMatch(none))
	require.Equal(t, http.StatusOK, set.status, string(set.body))
	var got v1.ToolOverrides
	set.into(t, &got)
	require.Equal(t, "Ours.", got.Description)
	require.InDelta(t, 5, got.Limits.TimeoutSeconds, 0)
	tag := set.header.Get("Etag")
	require.NotEqual(t, none, tag)
	require.Equal(t, http.StatusPreconditionFailed, b.send(t, http.MethodPut, path, body, ifMatch(none)).status)
	reading := map[string]string{"If-None-Match": tag}
	require.Equal(t, http.StatusNotModified, b.send(t, http.MethodGet, path, "", reading).status)
	require.Equal(t, http.StatusConflict,
		b.do(t, http.MethodPut, path, `{"enabled":false,"revision":7}`).status)

	var page v1.Page[v1.Tool]
	b.do(t, http.MethodGet, "/v1/tools?search=ours.", "").into(t, &page)
	require.Len(t, page.Items, 1, "it is found by the description that it has here")
	require.Equal(t, "Ours.", page.Items[0].Effective.Description)
	require.NotEqual(t, "Ours.", page.Items[0].Description, "the draft is what it was")
	require.True(t, page.Items[0].Effective.Enabled)
	require.Contains(t, page.Items[0].Effective.Why, "switched on by the tenant, key:")
	require.Contains(t, page.Items[0].Effective.Why, "clearer")
	b.do(t, http.MethodGet, "/v1/tools?callable=production&search=ours.", "").into(t, &page)
	require.Equal(t, "Ours.", page.Items[0].Description)
	var one v1.Tool
	b.do(t, http.MethodGet, "/v1/tools/own", "").into(t, &one)
	require.Contains(t, one.Effective.Why, "on: a tenant's own tool is")
	var why v1.Explanation
	b.do(t, http.MethodGet, "/v1/tools/shared/explain", "").into(t, &why)
	require.Contains(t, fmt.Sprint(why.Steps), "changed the description, timeout_s to at most 5 (revision 1): clearer")

	for bad, words := range map[string]string{
		`{"limits":{"timeout_s":500}}`:    "only narrows",
		`{"limits":{"max_attempts":900}}`: "max_attempts",
		`{"limits":{"inline_bytes":2}}`:   "inline_bytes",
		`{"defaults":{"none":1}}`:         "no argument",
	} {
		refused := b.do(t, http.MethodPut, path, bad)
		require.Equal(t, http.StatusUnprocessableEntity, refused.status, bad+string(refused.body))
		require.Contains(t, string(refused.body), words)
	}
	require.Equal(t, http.StatusPreconditionFailed, b.send(t, http.MethodDelete, path, "", ifMatch(none)).status)
	require.Equal(t, http.StatusOK, b.send(t, http.MethodDelete, path, "", ifMatch(tag)).status)
	var versions v1.Page[v1.OverrideVersion]
	b.do(t, http.MethodGet, path+"/versions?limit=1", "").into(t, &versions)
	require.True(t, versions.Items[0].Removed)
	b.do(t, http.MethodGet, path+"/versions?limit=1&cursor="+versions.Next, "").into(t, &versions)
	require.Equal(t, "Ours.", versions.Items[0].Description)
	require.Equal(t, "shared", versions.Items[0].Tool)
}
