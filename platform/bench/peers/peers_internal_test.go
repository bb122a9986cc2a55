package peers

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReplyIsChecked(t *testing.T) {
	t.Parallel()
	dbos := All()[1]
	require.Equal(t, "dbos", dbos.Name)
	loops := Command{Work: Loop, Count: 2, AtOnce: 2, Turns: 3}
	good := `{"took_ms":20.5,"each_ms":[10,20],"answers":[3,3],"steps":{"model":6,"tool":6,"nap":0},"records":12}`
	for name, test := range map[string]struct {
		command   Command
		from, to  string
		complaint string
	}{
		"done":                   {command: loops},
		"a wrong answer":         {loops, "[3,3]", "[3,4]", "the answer is 4 instead of 3"},
		"a missing answer":       {loops, "[3,3]", "[3]", "1 answers and 2 times"},
		"a step made twice":      {loops, `"tool":6`, `"tool":7`, "the steps that ran are"},
		"nothing stored":         {loops, `"records":12`, `"records":0`, "0 durable records instead of 12"},
		"other work":             {Command{Work: Fan, Count: 2, Width: 2}, "[3,3]", "[3,3]", "the steps that ran are"},
		"a failure of the peer":  {loops, `{"took`, `{"error":"no database","took`, "the peer failed: no database"},
		"something else written": {loops, `{"took`, `took`, "reading the reply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := parseReply([]byte(strings.Replace(good, test.from, test.to, 1)))
			var got Result
			if err == nil {
				got, err = dbos.check(test.command, r)
			}
			if test.complaint != "" {
				require.ErrorContains(t, err, test.complaint)
				return
			}
			require.NoError(t, err)
			require.Equal(t, Result{
				Took: 20500 * time.Microsecond, Each: []time.Duration{10 * time.Millisecond, 20 * time.Millisecond},
			}, got)
		})
	}
}

// Each peer has a module, and package-lock.json pins its packages without the
// address of a registry.
func TestPeersArePinned(t *testing.T) {
	t.Parallel()
	for _, p := range All() {
		_, err := sources.ReadFile(p.Name + ".js")
		require.NoError(t, err)
		versions, err := p.Versions()
		require.NoError(t, err)
		require.Contains(t, versions, p.Packages[0]+" ")
	}
	lock, err := sources.ReadFile("package-lock.json")
	require.NoError(t, err)
	require.NotContains(t, string(lock), `"resolved"`)

	_, err = Peer{Packages: []string{"left-pad"}}.versions(lock)
	require.ErrorContains(t, err, "does not pin left-pad")
}

func TestWithoutNodePeersAreUnavailable(t *testing.T) {
	t.Parallel()
	var missing *UnavailableError
	_, err := Install(t.Context(), "", t.TempDir())
	require.ErrorAs(t, err, &missing)
	require.ErrorContains(t, err, "Node 20 or later is not installed")
	_, err = Install(t.Context(), "no-such-program", t.TempDir())
	require.ErrorAs(t, err, &missing)

	require.NoError(t, checkNode("v20.20.2\n"))
	require.NoError(t, checkNode("v24.0.0"))
	for _, version := range []string{"v18.19.0\n", "", "nonsense"} {
		require.ErrorAs(t, checkNode(version), &missing, version)
	}
}
