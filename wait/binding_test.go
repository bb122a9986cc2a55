package wait_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/wait"
)

func TestTargetOf(t *testing.T) {
	t.Parallel()

	config := json.RawMessage(`{"url":"https://api.example.com:8443/orders/{id}","auth":{"credentials_ref":"shop"}}`)
	want := wait.Target{Content: "c", Credential: "shop", Host: "api.example.com:8443"}
	require.Equal(t, want, wait.TargetOf("c", config))
	require.Equal(t, wait.Target{Content: "c"}, wait.TargetOf("c", nil))
}

// Whatever a call would do differently, it has another binding.
func TestBind(t *testing.T) {
	t.Parallel()

	target := wait.Target{Content: "c", Credential: "shop", Host: "api.example.com"}
	same := target.Bind("arguments")
	require.Equal(t, same, target.Bind("arguments"))
	for name, other := range map[string]string{
		"content":    wait.Target{Content: "d", Credential: "shop", Host: "api.example.com"}.Bind("arguments"),
		"credential": wait.Target{Content: "c", Credential: "other", Host: "api.example.com"}.Bind("arguments"),
		"host":       wait.Target{Content: "c", Credential: "shop", Host: "api.example.org"}.Bind("arguments"),
		"arguments":  target.Bind("others"),
	} {
		require.NotEqual(t, same, other, name)
	}
}
