package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
)

// outcome is what an entry point answered: an endpoint with a problem or without, a command
// with an exit code.
type outcome struct {
	problem *v1.Problem // Of an endpoint that refused.
	exit    int         // Of a command.
	text    string      // All that was written.
}

// refusal is how a rule refuses at every entry point.
type refusal struct {
	class      string   // Name of the class of problem. Empty where it does not refuse.
	says       []string // Parts of the message.
	permission string   // The permission that is lacking, if one is.
	usage      bool     // A command refuses its arguments.
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
	if want.class == v1.Unauthenticated && o.problem == nil {
		require.Regexp(t, `--key|comes from `+cli.KeyVariable, o.text)
	}
	for _, secret := range secrets {
		require.NotContains(t, o.text, secret)
	}
}
