package remote_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/remote"
)

func TestReadUI(t *testing.T) {
	t.Parallel()

	for meta, want := range map[string]*remote.UI{
		``: nil, `null`: nil, `{}`: nil, `{"ui":null}`: nil, `{"ui":"text"}`: nil, `[]`: nil, `{"ui":{}}`: nil,
		`{"ui":{"resourceUri":"ui://a/b"}}`:                           {ResourceURI: "ui://a/b"},
		`{"ui/resourceUri":"ui://old"}`:                               {ResourceURI: "ui://old"},
		`{"ui/resourceUri":"ui://old","ui":{"resourceUri":"ui://a"}}`: {ResourceURI: "ui://a"},
		`{"ui":{"resourceUri":"https://a.example"}}`:                  nil,
		`{"ui":{"resourceUri":"ui://a b"}}`:                           nil,
		`{"ui":{"resourceUri":7,"visibility":["app"]}}`:               {Visibility: []string{"app"}},
		`{"ui":{"visibility":["model","app","model","x"]}}`:           {Visibility: []string{"model", "app"}},
		`{"ui":{"resourceUri":"ui://a","csp":{"connectDomains":["https://A.example/","http://b.example","*"],"resourceDomains":7}}}`: {
			ResourceURI: "ui://a", ConnectDomains: []string{"https://a.example"},
		},
	} {
		got, fault := remote.ReadUI(json.RawMessage(meta))
		require.Empty(t, fault, meta)
		require.Equal(t, want, got, meta)
		if got != nil {
			_, wrong := got.Check()
			require.Empty(t, wrong, "what is read can be stored")
		}
	}
	for _, meta := range []string{
		`{"ui":{"visibility":[]}}`, `{"ui":{"visibility":["everyone"]}}`, `{"ui":{"visibility":"app"}}`,
	} {
		_, fault := remote.ReadUI(json.RawMessage(meta))
		require.NotEmpty(t, fault, meta)
	}
	var nothing *remote.UI
	require.True(t, nothing.Serves(remote.ForApp))
	require.False(t, (&remote.UI{Visibility: []string{"app"}}).Serves(remote.ForModel))
}

// A definition without an app has the digest that it had before there were apps; with one, each change of what is
// declared changes it.
func TestDigestsHoldApps(t *testing.T) {
	t.Parallel()

	digest := func(meta string) string {
		d, err := remote.Digest(json.RawMessage(`{"name":"order","inputSchema":{"type":"object"}` + meta + `}`))
		require.NoError(t, err)
		return d
	}
	plain := digest("")
	for _, meta := range []string{`,"_meta":{}`, `,"_meta":null`, `,"_meta":{"other":1}`, `,"icons":[]`} {
		require.Equal(t, plain, digest(meta), meta)
	}
	seen := map[string]string{plain: "none"}
	for _, meta := range []string{
		`{"ui":{"resourceUri":"ui://a"}}`, `{"ui":{"resourceUri":"ui://b"}}`, `{"ui/resourceUri":"ui://a"}`,
		`{"ui":{"resourceUri":"ui://a","visibility":["app"]}}`,
		`{"ui":{"resourceUri":"ui://a","csp":{"connectDomains":["https://a.example"]}}}`,
	} {
		d := digest(`,"_meta":` + meta)
		require.Empty(t, seen[d], meta)
		seen[d] = meta
	}
	require.Equal(t, digest(`,"_meta":{"ui":{"resourceUri":"ui://a"}}`), digest(`,"_meta":{"x":1,"ui":{"resourceUri":"ui://a"}}`))
}
