package e2e_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
)

// operate runs a command of operators with payload keys in its environment, and reads what it prints.
func (s *site) operate(keys []string, out any, args ...string) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	env := cli.Env{
		Environ: []string{
			"TEMPORAL_ADDRESS=" + server.Address(), cli.QueueVariable + "=" + s.queue,
			payload.KeysVariable + "=" + strings.Join(keys, ","),
		},
		In: strings.NewReader(""), Out: &stdout, Err: &stderr, Dir: s.t.TempDir(),
	}
	cli.Run(s.t.Context(), env, append(args, "--json"), operator.New)
	require.NoError(s.t, json.Unmarshal(stdout.Bytes(), out), "%s%s", stdout.String(), stderr.String())
}

// requireKeyUse waits until operators see that one open workflow needs the key with an id: in the status
// of the keys, where it has a state, and in a finding of the doctor.
func (s *site) requireKeyUse(keys []string, id, state, finding string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		var uses []struct {
			Key, State, Example string
			Workflows           int
		}
		s.operate(keys, &uses, "payloads", "status")
		for _, use := range uses {
			if use.Key == id {
				require.Equal(s.t, state, use.State)
				return use.Workflows == 1 && strings.HasPrefix(use.Example, "t/")
			}
		}
		return false
	}, time.Minute, 200*time.Millisecond)
	var report struct {
		Items []struct{ Check, Status, Found, Mend string }
	}
	s.operate(keys, &report, "doctor")
	for _, f := range report.Items {
		if f.Check != "payload keys" {
			continue
		}
		require.Equal(s.t, finding, f.Status)
		require.Equal(s.t, finding == "fail", strings.Contains(f.Found, "1 open workflows need "+id), f.Found)
		require.Equal(s.t, finding == "fail", f.Mend != "")
		return
	}
	require.Fail(s.t, "the doctor has no finding on payload keys")
}
