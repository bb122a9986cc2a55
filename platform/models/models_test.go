package models_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models"
	"github.com/toolcrib/toolcrib/platform/models/modeltest"
	"github.com/toolcrib/toolcrib/tool"
)

func open(t *testing.T, dir string, environ ...string) map[string]agent.Model {
	t.Helper()
	set, err := models.Open(models.Config{Environ: slices.Concat([]string{""}, environ), SecretsDir: dir})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, set.Close()) })
	return set.Models(nil)
}

func ask(t *testing.T, m agent.Model, tenant tool.TenantID) error {
	t.Helper()
	_, err := m.Generate(t.Context(), &agent.ModelRequest{Model: "m", Turn: 1, Tenant: tenant})
	return err
}

// chat serves both APIs, and returns the keys that came.
func chat(t *testing.T) (url string, keys func() []string) {
	t.Helper()
	server := modeltest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body := `{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}`
		if r.URL.Path == "/v1/messages" {
			body = `{"content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}`
		}
		_, _ = w.Write([]byte(body))
	})
	return server.URL, func() []string {
		var out []string
		for _, r := range server.Requests() {
			out = append(out, r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
		}
		return out
	}
}

// A provider that is not configured says which variable to set.
func TestNotConfigured(t *testing.T) {
	t.Parallel()

	offered := open(t, "")
	for name, variable := range map[string]string{"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"} {
		err := ask(t, offered[name], "tenant-1")
		require.Equal(t, tool.Denied, tool.KindOf(err))
		require.ErrorContains(t, err, "set "+variable)
		require.ErrorContains(t, err, "model-"+name)
	}
	require.Len(t, offered, 2)
}

func TestProviders(t *testing.T) {
	t.Parallel()

	url, keys := chat(t)
	offered := open(t, "",
		"OPENAI_BASE_URL="+url, "OPENAI_API_KEY=of-openai", "ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY=of-anthropic",
		"TOOLCRIB_MODEL_LOCAL_BASE_URL="+url, "TOOLCRIB_MODEL_MY_GATEWAY_BASE_URL="+url,
		"TOOLCRIB_MODEL_MY_GATEWAY_API=anthropic",
		"TOOLCRIB_MODEL_MY_GATEWAY_API_KEY=of-gateway", "TOOLCRIB_MODEL_UNUSED_BASE_URL=",
	)
	for _, name := range []string{"openai", "anthropic", "local", "my-gateway"} {
		require.NoError(t, ask(t, offered[name], "tenant-1"), name)
	}
	require.Equal(t, []string{"Bearer of-openai", "of-anthropic", "", "of-gateway"}, keys())
	require.Len(t, offered, 4)
}

// A tenant's own key, in the directory of credentials or the environment,
// comes before the operator's, and a rotated one is used at once.
func TestTenantsKeys(t *testing.T) {
	t.Parallel()

	url, keys := chat(t)
	dir := t.TempDir()
	own := filepath.Join(dir, "a", "model-openai")
	require.NoError(t, os.MkdirAll(filepath.Dir(own), 0o700))
	require.NoError(t, os.WriteFile(own, []byte("own-of-a\n"), 0o600))
	m := open(t, dir, "OPENAI_BASE_URL="+url, "OPENAI_API_KEY=operators",
		"TOOLCRIB_SECRET_B__MODEL_OPENAI=own-of-b")["openai"]
	require.NoError(t, ask(t, m, "a"))
	require.NoError(t, ask(t, m, "b"))
	require.NoError(t, ask(t, m, "c"))
	require.NoError(t, os.WriteFile(own, []byte("rotated-of-a\n"), 0o600))
	require.NoError(t, ask(t, m, "a"))
	require.Equal(t, []string{"Bearer own-of-a", "Bearer own-of-b", "Bearer operators", "Bearer rotated-of-a"}, keys())
}

// Which of OpenAI's APIs a provider speaks, its variable says, and of an agent
// its model options.
func TestResponsesBesideChatCompletions(t *testing.T) {
	t.Parallel()

	server := modeltest.Serve(t, modeltest.Answer(modeltest.Message{Status: http.StatusOK, Body: `{
		"status":"completed","output":[],"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]
	}`, Header: http.Header{"Content-Type": {"application/json"}}}))
	offered := open(t, "", "OPENAI_BASE_URL="+server.URL, "TOOLCRIB_MODEL_OTHER_BASE_URL="+server.URL,
		"TOOLCRIB_MODEL_OTHER_API=responses")
	swapped := open(t, "", "OPENAI_BASE_URL="+server.URL, "TOOLCRIB_MODEL_OPENAI_API=responses")
	for i, tt := range []struct {
		model         agent.Model
		options, path string
	}{
		{offered["openai"], ``, "/chat/completions"},
		{offered["openai"], `{"api":"responses"}`, "/responses"},
		{offered["other"], `{}`, "/responses"},
		{offered["other"], `{"api":"chat_completions"}`, "/chat/completions"},
		{swapped["openai"], `{"temperature":1}`, "/responses"},
	} {
		_, err := tt.model.Generate(t.Context(), &agent.ModelRequest{Model: "m", Options: json.RawMessage(tt.options)})
		require.NoError(t, err)
		require.Equal(t, tt.path, server.Requests()[i].Path, tt.options)
	}
	_, err := offered["openai"].Generate(t.Context(), &agent.ModelRequest{Options: json.RawMessage(`{"api":"completions"}`)})
	require.Equal(t, "/model_options/api", tool.AsError(err).Path)
	require.ErrorContains(t, err, "one of chat_completions, responses")
}

// The host's own models come first where a name is in both.
func TestOthersComeFirst(t *testing.T) {
	t.Parallel()

	set, err := models.Open(models.Config{Environ: []string{""}})
	require.NoError(t, err)
	defer func() { require.NoError(t, set.Close()) }()
	all := set.Models(map[string]agent.Model{"openai": nil, "scripted": nil})
	require.Nil(t, all["openai"])
	require.Contains(t, all, "scripted")
	require.Contains(t, all, "anthropic")
}

// The time of an answer and the silence of a stream are bounded by variables,
// for the providers that are always there too.
func TestTimeoutsOfTheEnvironment(t *testing.T) {
	t.Parallel()

	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // So that a client that leaves is noticed.
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush() // The idle limit counts from the header on.
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(over) })
	set := []string{
		"OPENAI_BASE_URL=" + server.URL, "OPENAI_API_KEY=k", "TOOLCRIB_MODEL_MY_GATEWAY_BASE_URL=" + server.URL,
	}
	for suffix, says := range map[string]string{"_TIMEOUT": "did not answer in time", "_IDLE_TIMEOUT": "stream was idle"} {
		all := open(t, "", append(slices.Clone(set), "TOOLCRIB_MODEL_OPENAI"+suffix+"=50ms",
			"TOOLCRIB_MODEL_MY_GATEWAY"+suffix+"=50ms")...)
		for _, name := range []string{"openai", "my-gateway"} {
			_, err := all[name].Generate(t.Context(), &agent.ModelRequest{
				Model: "m", Turn: 1, Stream: func(agent.Delta) {},
				Messages: []agent.Message{{Role: agent.RoleUser, Content: []tool.Content{tool.Text("hi")}}},
			})
			require.Equal(t, tool.Timeout, tool.KindOf(err), "%s %s: %v", name, suffix, err)
			require.ErrorContains(t, err, says)
		}
	}
}

// A variable that is wrong is named when the worker starts; its value is not.
func TestRefusesWrongVariables(t *testing.T) {
	t.Parallel()

	const at = "TOOLCRIB_MODEL_X_BASE_URL=http://127.0.0.1:1"
	for want, environ := range map[string][]string{
		"TOOLCRIB_MODEL_X_BASE_ULR":         {"TOOLCRIB_MODEL_X_BASE_ULR=hidden"},
		"TOOLCRIB_MODEL_BASE_URL":           {"TOOLCRIB_MODEL_BASE_URL=hidden"},
		"TOOLCRIB_MODEL_X_BASE_URL must be": {"TOOLCRIB_MODEL_X_API_KEY=hidden"},
		"is taken":                          {"TOOLCRIB_MODEL_SCRIPTED_BASE_URL=hidden"},
		"none of openai, responses and":     {at, "TOOLCRIB_MODEL_X_API=hidden"},
		"neither openai nor responses":      {"TOOLCRIB_MODEL_OPENAI_API=anthropic"},
		`provider "openai"`:                 {"OPENAI_BASE_URL=hidden"},

		"TOOLCRIB_MODEL_X_TIMEOUT: it is not a duration":           {at, "TOOLCRIB_MODEL_X_TIMEOUT=hidden"},
		"TOOLCRIB_MODEL_OPENAI_IDLE_TIMEOUT: it is not a duration": {"TOOLCRIB_MODEL_OPENAI_IDLE_TIMEOUT=-1s"},
		"at most 10m0s": {at, "TOOLCRIB_MODEL_X_IDLE_TIMEOUT=11m"},
		"TOOLCRIB_MODEL_X_REQUESTS_PER_MINUTE: it is not a whole number": {at, "TOOLCRIB_MODEL_X_REQUESTS_PER_MINUTE=0"},
		"TOOLCRIB_MODEL_OPENAI_TOKENS_PER_MINUTE: it is":                 {"TOOLCRIB_MODEL_OPENAI_TOKENS_PER_MINUTE=hidden"},

		"TOOLCRIB_MODEL_Y_BASE_URL must be": {"TOOLCRIB_MODEL_Y_TIMEOUT=1s"},
	} {
		_, err := models.Open(models.Config{Environ: environ})
		require.Equal(t, tool.Invalid, tool.KindOf(err), want)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hidden")
	}
	_, err := models.Open(models.Config{Environ: []string{at}, SecretsDir: filepath.Join(t.TempDir(), "nowhere")})
	require.Error(t, err)
}
