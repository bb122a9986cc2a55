package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// outcome is what an entry point answered: an endpoint with a problem or without, a command
// with an exit code.
type outcome struct {
	problem *v1.Problem // Of an endpoint that refused.
	exit    int         // Of a command.
	text    string      // All that was written.
	unseen  bool        // An executor was not shown the call.
}

// refusal is how a rule refuses at every entry point.
type refusal struct {
	class      string   // Name of the class of problem. Empty where it does not refuse.
	says       []string // Parts of the message.
	permission string   // The permission that is lacking, if one is.
	usage      bool     // A command refuses its arguments.
	hint       string   // What a command adds to the message.
}

// How keys are refused that are not there, or not valid.
var (
	noKey  = unauthenticated("an API key is required", "Say who you are with --key")
	badKey = unauthenticated("the API key is not valid", "The key comes from "+cli.KeyVariable+". It may be mistyped")
)

// unauthenticated refuses a key or token; commands add a hint.
func unauthenticated(says, hint string) refusal {
	return refusal{class: v1.Unauthenticated, says: []string{says}, hint: hint}
}

// post sends a request with a key, or without one where that is empty.
func (s *shell) post(t *testing.T, path, body, key string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(
		t.Context(), http.MethodPost, s.vars[cli.ServerVariable]+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(raw)
}

// endpoint is the outcome of an endpoint.
func (s *shell) endpoint(t *testing.T, path, body, key string) outcome {
	t.Helper()
	status, answer := s.post(t, path, body, key)
	out := outcome{text: answer}
	if status >= http.StatusBadRequest {
		require.NoError(t, json.Unmarshal([]byte(answer), &out.problem), answer)
		require.Equal(t, status, out.problem.Status)
	}
	return out
}

// command is the outcome of a command that is run with a key, or without one where that is
// empty.
func (s *shell) command(t *testing.T, key string, args ...string) outcome {
	t.Helper()
	alone := *s
	alone.vars = map[string]string{cli.ServerVariable: s.vars[cli.ServerVariable]}
	if key != "" {
		alone.vars[cli.KeyVariable] = key
	}
	got := alone.run(t, args...)
	return outcome{exit: got.code, text: got.out + got.err}
}

// requireRefused checks kind, HTTP status or exit code, and message of a refusal: it says what is
// wrong, says what to do, and has none of the secrets.
func (o outcome) requireRefused(t *testing.T, want refusal, secrets ...string) {
	t.Helper()
	if want.usage && o.problem == nil {
		require.Equal(t, cli.ExitUsage, o.exit, o.text)
		return
	}
	class, known := v1.FindProblemClass(want.class)
	require.True(t, known, want.class)
	message := o.text
	if o.problem != nil {
		require.Equal(t, class.Status, o.problem.Status, o.text)
		require.Equal(t, class.Code, o.problem.Code, o.text)
		require.Equal(t, class.Type, o.problem.Type, o.text)
		require.NotEmpty(t, o.problem.TraceID, o.text)
		message = o.problem.Detail
	} else {
		require.Equal(t, cli.KindCode(class.Code), o.exit, o.text)
	}
	for _, part := range want.says {
		require.Contains(t, message, part)
	}
	switch {
	case want.permission == "":
	case o.problem != nil:
		require.Equal(t, []string{want.permission}, o.problem.Permissions)
	default:
		require.Contains(t, o.text, "toolcrib key create NAME --permission "+want.permission)
	}
	if o.problem == nil {
		require.Contains(t, o.text, want.hint)
	}
	for _, secret := range secrets {
		require.NotContains(t, o.text, secret)
	}
}

// callers is a tenant with keys of all kinds.
type callers struct {
	*shell
	other  tool.TenantID     // Of the key "stranger".
	keys   map[string]string // Texts, by name.
	owners map[string]string // Subjects, by the text of the key.
}

// setupCallers makes the keys of which every rule on keys is. That named clerk has the permissions.
func setupCallers(t *testing.T, permissions ...string) *callers {
	t.Helper()
	c := &callers{shell: setup(t), keys: map[string]string{"none": ""}, owners: map[string]string{}}
	c.other = c.Tenant(t)
	past := time.Now().Add(-time.Minute)
	c.add(t, "all", store.Key{Permissions: []string{"*"}})
	c.add(t, "clerk", store.Key{Permissions: permissions})
	c.add(t, "narrow", store.Key{Permissions: []string{"*"}, Scopes: []string{"runs.read", "approvals.read"}})
	c.add(t, "stranger", store.Key{Permissions: []string{"*"}, Tenant: c.other})
	c.add(t, "expired", store.Key{Permissions: []string{"*"}, ExpiresAt: &past})
	revoked := c.add(t, "revoked", store.Key{Permissions: []string{"*"}})
	_, err := c.Store.RevokeKey(t.Context(), c.tenant, strings.TrimPrefix(revoked, "key:"))
	require.NoError(t, err)
	end := len(c.keys["all"]) - 20 // The secret of another key.
	c.keys["mistyped"] = c.keys["all"][:end] + c.keys["clerk"][end:]
	return c
}

// add makes a key, and returns the subject of who has it.
func (c *callers) add(t *testing.T, name string, k store.Key) string {
	t.Helper()
	k.Name = name
	if k.Tenant == "" {
		k.Tenant = c.tenant
	}
	made, text, err := c.Store.CreateKey(t.Context(), k)
	require.NoError(t, err)
	c.keys[name], c.owners[text] = text, made.Principal().Subject
	return made.Principal().Subject
}

// publish makes a tool, and returns its version.
func (s *shell) publish(t *testing.T, slug, definition string) tool.VersionIdentity {
	t.Helper()
	s.ok(t, "apply", "-f", s.write(t, slug+".json", definition))
	head, err := s.Store.FindTool(t.Context(), s.tenant, tool.Ref{Slug: slug})
	require.NoError(t, err)
	versions, err := s.Store.ListVersions(t.Context(), s.tenant, head.ID)
	require.NoError(t, err)
	return tool.VersionIdentity{
		ToolID: head.ID, Slug: slug, Version: "1.0.0", Digest: versions[0].Digest,
		Implementation: head.Implementation,
	}
}
