package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/doctor"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// The command reports each check with how to fix it, exits with 1 if something
// is broken, and shows no secret.
func TestDoctor(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.vars[cli.DatabaseVariable] = "postgres://ada:hunter2@127.0.0.1:1/tools"
	s.vars["TEMPORAL_ADDRESS"] = "127.0.0.1:1"
	s.vars["OPENAI_API_KEY"] = "sk-hunter2"
	got := s.run(t, "doctor")
	require.Equal(t, cli.ExitFailure, got.code, got.err)
	require.Contains(t, got.out, "fail  database              no server accepts connections at 127.0.0.1:1")
	require.Contains(t, got.out, "fail  temporal              no answer at 127.0.0.1:1")
	require.Contains(t, got.out, "temporal: not answering", "the server's own word of what it lacks")
	require.Contains(t, got.out, "ok    api key")
	require.Contains(t, got.out, "OPENAI_API_KEY set")
	require.Contains(t, got.out, "→ ")
	require.NotContains(t, got.out+got.err, "hunter2")
	require.NotContains(t, got.out+got.err, s.vars[cli.KeyVariable])

	got = s.run(t, "doctor", "--json")
	require.Equal(t, cli.ExitFailure, got.code)
	var page struct {
		Items []doctor.Finding `json:"items"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &page), got.out)
	require.Greater(t, len(page.Items), 8)
	require.NotContains(t, got.out, "hunter2")
}

// Where nothing was ever set up, nothing is broken.
func TestDoctorOnAFreshMachine(t *testing.T) {
	t.Parallel()
	s := &shell{dir: t.TempDir(), vars: map[string]string{"TEMPORAL_CONFIG_FILE": "/dev/null"}}
	got := s.run(t, "doctor", "--server", "http://127.0.0.1:8080")
	if strings.Contains(got.out, "fail  workers") {
		t.Skip("a Temporal runs on the usual port of this machine")
	}
	require.Equal(t, cli.ExitOK, got.code, got.out+got.err)
}

// A server or worker whose database it cannot use says why and what to do, and
// ends.
func TestDatabasesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	app, err := store.CreateAppLogin(t.Context(), d.URL, "used_"+storetest.NewID(t)[24:])
	require.NoError(t, err)
	old := storetest.NewDatabase(t)
	_, err = old.Conn(t).Exec(t.Context(), "delete from toolcrib_migrations where version > 1")
	require.NoError(t, err)
	outdated, err := store.CreateAppLogin(t.Context(), old.URL, "used_"+storetest.NewID(t)[24:])
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		url  string
		code int
		says []string
	}{
		"wrong password": {
			strings.Replace(app, "://used_", "://used_nobody_", 1), cli.ExitDenied,
			[]string{"refuses the password of", "correct it in the URL"},
		},
		"no database": {
			strings.Replace(app, "?", "_none?", 1), cli.ExitNotFound, []string{"does not exist at", "CREATE DATABASE"},
		},
		"nobody there": {"postgres://ada@127.0.0.1:1/x", cli.ExitUnavailable, []string{"127.0.0.1:1", "start the server"}},
		"old schema":   {outdated, cli.ExitConflict, []string{"schema version 1", "toolcrib migrate"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shell{vars: map[string]string{cli.DatabaseVariable: tt.url}}
			for _, command := range []string{"serve", "worker"} {
				got := s.run(t, command)
				require.Equal(t, tt.code, got.code, "%s: %s", command, got.err)
				for _, says := range tt.says {
					require.Contains(t, got.err, says)
				}
			}
		})
	}
}

// A database that a newer release migrated is not migrated by an older one.
func TestMigrateOfANewerSchema(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	_, err := d.Conn(t).Exec(
		t.Context(), "insert into toolcrib_migrations (version, name, checksum) values (999, 'future', 'x')",
	)
	require.NoError(t, err)
	s := &shell{vars: map[string]string{cli.DatabaseVariable: d.URL}}
	got := s.run(t, "migrate")
	require.Equal(t, cli.ExitConflict, got.code)
	require.Contains(t, got.err, "use a newer binary")
}

// Without Temporal nothing is served, and the address that does not answer is
// named.
func TestTemporalThatIsDown(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	app, err := store.CreateAppLogin(t.Context(), d.URL, "down_"+storetest.NewID(t)[24:])
	require.NoError(t, err)
	s := &shell{vars: map[string]string{cli.DatabaseVariable: app, "TEMPORAL_ADDRESS": "127.0.0.1:1"}}
	for _, command := range []string{"serve", "worker"} {
		got := s.run(t, command)
		require.Equal(t, cli.ExitUnavailable, got.code, got.err)
		require.Contains(t, got.err, "Temporal at 127.0.0.1:1 does not respond; set TEMPORAL_ADDRESS")
	}
}
