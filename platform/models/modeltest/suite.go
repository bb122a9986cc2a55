package modeltest

import (
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/platform/models/remote"
)

// Provider is a provider's package under test.
type Provider struct {
	// New makes its models.
	New func(cfg remote.Config) (agent.Model, error)
	// Path is where requests are posted, below the base URL.
	Path string
	// StreamFields are what a request has more of when it streams, as JSON.
	StreamFields string
	// Key returns the key that a request came with.
	Key func(r Request) string
	// Did is what an answer says that the provider's own tool did, in the format
	// of its API; nil if answers do not say it.
	Did []json.RawMessage
}

// theKey is the operator's key in tests.
const theKey = "test-key-0123456789abcdef"

// Run runs the suite. The exchanges are in testdata of the calling package.
func Run(t *testing.T, p Provider) {
	t.Helper()
	t.Run("Answers", p.answers)
	t.Run("Statuses", p.statuses)
	t.Run("Keys", p.keys)
	t.Run("Network", p.network)
	t.Run("Streams", p.streams)
	t.Run("Garbage", p.garbage)
	t.Run("Options", p.options)
}

// AnswersBasic runs the basic cases against models that need no provider.
func AnswersBasic(t *testing.T, m agent.Model) {
	t.Helper()
	for _, c := range Basic() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()

			c.Request.Model = c.Name
			got, err := m.Generate(t.Context(), &c.Request)
			require.NoError(t, err)
			c.Want.Usage = got.Usage // No provider was called: the usage is not checked.
			requireAnswer(t, c.Want, got)
			require.Equal(t, c.Want.Text, streamedText(t, m, c.Request))
		})
	}
}

func streamedText(t *testing.T, m agent.Model, req agent.ModelRequest) string {
	t.Helper()
	var told strings.Builder
	req.Stream = func(d agent.Delta) { told.WriteString(d.Text) }
	_, err := m.Generate(t.Context(), &req)
	require.NoError(t, err)
	return told.String()
}

func requireAnswer(t *testing.T, want agent.ModelResponse, got *agent.ModelResponse) {
	t.Helper()
	require.Equal(t, want.Text, got.Text)
	require.Equal(t, want.Truncated, got.Truncated)
	require.Equal(t, want.Usage, got.Usage)
	require.Len(t, got.Content, len(want.Content))
	for i, c := range want.Content {
		if len(c.JSON) > 0 {
			require.JSONEq(t, string(c.JSON), string(got.Content[i].JSON))
			c.JSON = got.Content[i].JSON
		}
		require.Equal(t, c, got.Content[i])
	}
	require.Len(t, got.Calls, len(want.Calls))
	for i, c := range want.Calls {
		require.Equal(t, c.ID, got.Calls[i].ID)
		require.Equal(t, c.Name, got.Calls[i].Name)
		require.JSONEq(t, string(c.Arguments), string(got.Calls[i].Arguments))
	}
	if len(want.Calls) > 0 && strings.Contains(string(want.Calls[0].Arguments), "9007199254740993") {
		require.Contains(t, string(got.Calls[0].Arguments), "9007199254740993", "numbers lose nothing")
	}
}

// open makes models that reach server with the operator's key.
func (p Provider) open(t *testing.T, url string, change ...func(*remote.Config)) agent.Model {
	t.Helper()
	cfg := remote.Config{Provider: "testing", BaseURL: url, Keys: remote.Keys{
		Ref: "model-testing", Variable: "TESTING_API_KEY", Lookup: variables(map[string]string{"TESTING_API_KEY": theKey}),
	}}
	for _, fn := range change {
		fn(&cfg)
	}
	m, err := p.New(cfg)
	require.NoError(t, err)
	return m
}

func variables(set map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := set[name]
		return value, ok
	}
}

// answers: each case is asked for in one piece and as a stream, and both give
// the same answer.
func (p Provider) answers(t *testing.T) {
	t.Parallel()

	for _, c := range append(Basic(), p.remoteCases()...) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p.Check(t, c)
		})
	}
}

// Check asks for a case both ways.
func (p Provider) Check(t *testing.T, c Case) {
	t.Helper()
	e := Load(t, c.Name)
	whole := Serve(t, Answer(e.Whole))
	got, err := p.open(t, whole.URL).Generate(t.Context(), &c.Request)
	require.NoError(t, err)
	asked := whole.One(t)
	require.Equal(t, "POST "+p.Path, asked.Method+" "+asked.Path)
	e.requireRequest(t, asked.Body)
	requireAnswer(t, c.Want, got)

	stream := Serve(t, Answer(e.Stream))
	var told strings.Builder
	c.Request.Stream = func(d agent.Delta) { told.WriteString(d.Text) }
	got, err = p.open(t, stream.URL).Generate(t.Context(), &c.Request)
	require.NoError(t, err)
	requireAnswer(t, c.Want, got)
	require.Equal(t, c.Want.Text, told.String(), "what was told on the way is the answer")
	require.JSONEq(t, merged(t, asked.Body, p.StreamFields), stream.One(t).Body)
}

func merged(t *testing.T, raw, more string) string {
	t.Helper()
	var a, b map[string]any
	require.NoError(t, json.Unmarshal([]byte(raw), &a))
	require.NoError(t, json.Unmarshal([]byte(more), &b))
	maps.Copy(a, b)
	out, err := json.Marshal(a)
	require.NoError(t, err)
	return string(out)
}

// simple is the request of tests that are not about requests.
func simple() *agent.ModelRequest {
	req := request(1, said(agent.RoleUser, "Who are you?"))
	return &req
}

// ways are the two ways of asking.
func ways() map[string]func(*agent.ModelRequest) {
	return map[string]func(*agent.ModelRequest){
		"Whole":  func(*agent.ModelRequest) {},
		"Stream": func(r *agent.ModelRequest) { r.Stream = func(agent.Delta) {} },
	}
}

// vault is a tenant's secrets, which may change while they are used.
type vault struct {
	mu   sync.Mutex
	keys map[string]secret.Value
}

func (v *vault) set(tenant, key string, hosts ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.keys[tenant] = secret.NewValue(key, hosts...)
}
