package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/dev/programs"
	"github.com/toolcrib/toolcrib/platform/doctor"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// server is an API that answers as a test wants.
type server struct {
	expiring []string
	mayNot   error
	url      string
	health   v1.Health
	err      error
	key      error
	hangs    chan struct{} // Until it is closed nothing answers, whatever the context says.
}

func (s server) Server() string { return s.url }

func (s server) Ready(context.Context) (v1.Health, error) {
	if s.hangs != nil {
		<-s.hangs
	}
	return s.health, s.err
}

func (s server) CheckKey(context.Context) error { return s.key }

func (s server) ExpiringKeys(context.Context, time.Time) ([]string, error) {
	return s.expiring, s.mayNot
}

// Keys that end soon and are used are a warning; a key that may not see them is none.
func TestExpiringKeys(t *testing.T) {
	t.Parallel()
	cfg := idle(t)
	cfg.HasKey = true
	cfg.API = server{url: "http://127.0.0.1:1", health: v1.Health{Status: "ok"}, expiring: []string{"a", "b", "c", "d"}}
	found := find(t, doctor.Run(t.Context(), cfg), "expiring keys")
	require.Equal(t, doctor.Warn, found.Status)
	require.Equal(t, "a, b, c and 1 more expire within 14 days, and are used", found.Found)
	for _, quiet := range []server{{health: v1.Health{Status: "ok"}}, {
		health: v1.Health{Status: "ok"}, expiring: []string{"a"}, mayNot: errors.New("denied"),
	}} {
		cfg.API = quiet
		for _, f := range doctor.Run(t.Context(), cfg) {
			require.NotEqual(t, "expiring keys", f.Check)
		}
	}
}

// find returns what was found of a check.
func find(t *testing.T, findings []doctor.Finding, check string) doctor.Finding {
	t.Helper()
	for _, f := range findings {
		if f.Check == check {
			return f
		}
	}
	require.Fail(t, "nothing was found", "%s in %v", check, findings)
	return doctor.Finding{}
}

// idle is a machine on which nothing was ever set up, and nothing is in the way.
func idle(t *testing.T) doctor.Config {
	t.Helper()
	return doctor.Config{
		Programs:  programs.Machine(),
		Temporal:  client.Options{HostPort: "127.0.0.1:1", Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))},
		TaskQueue: "tools", API: server{url: "http://127.0.0.1:1", err: errors.New("refused")},
		DataDir: filepath.Join(t.TempDir(), ".toolcrib"),
		Models:  []doctor.Variable{{Name: "ANTHROPIC_API_KEY"}, {Name: "OPENAI_API_KEY", Set: true}},
	}
}

// Where nothing runs and nothing was asked for, nothing is broken: it is said
// what starts it all.
func TestFreshMachine(t *testing.T) {
	t.Parallel()
	found := doctor.Run(t.Context(), idle(t))
	require.False(t, doctor.Failed(found), found)
	for check, mend := range map[string]string{"temporal": "toolcrib dev", "api": "toolcrib dev"} {
		f := find(t, found, check)
		require.Equal(t, doctor.Warn, f.Status)
		require.Equal(t, mend, f.Mend)
		require.Contains(t, f.Found, "127.0.0.1:1")
	}
	require.Equal(t, doctor.Finding{Check: "models", Status: doctor.OK, Found: "OPENAI_API_KEY set"},
		find(t, found, "models"))
	require.Contains(t, find(t, found, "data folder").Found, "GB left")
}

// A configured server that does not answer is reported as broken.
func TestNamedServersThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	cfg := idle(t)
	cfg.TemporalNamed, cfg.APINamed = true, true
	found := doctor.Run(t.Context(), cfg)
	require.True(t, doctor.Failed(found))
	require.Contains(t, find(t, found, "temporal").Mend, "TEMPORAL_ADDRESS")
	require.Contains(t, find(t, found, "api").Mend, "toolcrib serve")
}

func TestAPIAndKey(t *testing.T) {
	t.Parallel()
	well := v1.Health{Status: "ok"}
	for name, tt := range map[string]struct {
		api    server
		noKey  bool
		check  string
		status doctor.Status
		says   string
		mend   string
	}{
		"ready": {server{health: well}, false, "api", doctor.OK, "ready", ""},
		"not ready": {
			server{
				health: v1.Health{
					Status: "unavailable",
					Checks: map[string]v1.Check{"temporal": {State: "not answering"}, "database": {State: "ok"}},
				},
			},
			false, "api", doctor.Fail, "unavailable; temporal: not answering", "toolcrib doctor",
		},
		"key": {server{health: well}, false, "api key", doctor.OK, "taken", ""},
		"refused key": {
			server{health: well, key: &tool.Error{Kind: tool.Denied}},
			false, "api key", doctor.Fail, "refused",
			"toolcrib key create",
		},
		"no key": {server{health: well}, true, "api key", doctor.Warn, "none", "TOOLCRIB_KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := idle(t)
			cfg.API, cfg.HasKey = tt.api, !tt.noKey
			f := find(t, doctor.Run(t.Context(), cfg), tt.check)
			require.Equal(t, tt.status, f.Status)
			require.Contains(t, f.Found, tt.says)
			require.Contains(t, f.Mend, tt.mend)
		})
	}
}

func TestMissingPrograms(t *testing.T) {
	t.Parallel()
	for system, mend := range map[string]string{
		"debian": "sudo apt-get update && sudo apt-get install -y postgresql",
		"fedora": "sudo dnf install -y postgresql-server",
		"alpine": "sudo apk add postgresql", "arch": "sudo pacman -S --noconfirm postgresql",
		"darwin": "brew install postgresql@17",
	} {
		cfg := idle(t)
		cfg.Programs = programs.Search{System: []string{system}}
		f := find(t, doctor.Run(t.Context(), cfg), "PostgreSQL")
		require.Equal(t, doctor.Fail, f.Status)
		require.Equal(t, mend, f.Mend)
	}
	cfg := idle(t)
	cfg.Programs, cfg.DatabaseURL = programs.Search{}, "postgres://nobody@127.0.0.1:1/x"
	require.Equal(t, doctor.OK, find(t, doctor.Run(t.Context(), cfg), "PostgreSQL").Status,
		"who names a server needs no programs")
}

func TestDatabase(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	app, err := store.CreateAppLogin(t.Context(), d.URL, "doctor_"+strings.ReplaceAll(storetest.NewID(t)[24:], "-", ""))
	require.NoError(t, err)
	look := func(database string) []doctor.Finding {
		cfg := idle(t)
		cfg.DatabaseURL = database
		cfg.Programs.System = []string{"debian"}
		return doctor.Run(t.Context(), cfg)
	}
	found := look(app)
	for _, check := range []string{"database", "database role", "database schema", "clock"} {
		require.Equal(t, doctor.OK, find(t, found, check).Status, check)
	}

	owner := find(t, look(d.URL), "database role")
	require.Equal(t, doctor.Fail, owner.Status)
	require.Contains(t, owner.Mend, "in role toolcrib_app")

	schema := find(t, look(storetest.NewEmpty(t)), "database schema")
	require.Equal(
		t,
		doctor.Finding{
			Check: "database schema", Status: doctor.Fail, Found: "never made, or not for this role to see",
			Mend: "toolcrib migrate",
		},
		schema,
	)
	_, err = d.Conn(t).Exec(
		t.Context(), "insert into toolcrib_migrations (version, name, checksum) values (999, 'future', 'x')",
	)
	require.NoError(t, err)
	schema = find(t, look(app), "database schema")
	require.Equal(t, doctor.Warn, schema.Status)
	require.Contains(t, schema.Mend, "update this binary")
	_, err = d.Conn(t).Exec(t.Context(), "delete from toolcrib_migrations where version > 1")
	require.NoError(t, err)
	schema = find(t, look(app), "database schema")
	require.Equal(t, doctor.Fail, schema.Status)
	require.Contains(t, schema.Found, "version 1 is older")
	require.Equal(t, "toolcrib migrate", schema.Mend)

	refused := find(t, look("postgres://ada:secret@127.0.0.1:1/x"), "database")
	require.Equal(t, doctor.Finding{
		Check: "database", Status: doctor.Fail, Mend: "sudo service postgresql start",
		Found: "no server accepts connections at 127.0.0.1:1: start the server, or correct the URL",
	}, refused)
}

func TestTemporal(t *testing.T) {
	t.Parallel()
	stack, err := embedded.StartTemporal(t.Context(), embedded.TemporalConfig{Port: embedded.AnyPort, Headless: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stack.Stop(context.WithoutCancel(t.Context()))) })
	cfg := idle(t)
	cfg.Temporal.HostPort, cfg.TemporalNamed = stack.Address(), true

	cfg.Temporal.Namespace = "elsewhere"
	f := find(t, doctor.Run(t.Context(), cfg), "temporal namespace")
	require.Equal(t, doctor.Fail, f.Status)
	require.Contains(t, f.Found, `"elsewhere" does not exist`)
	require.Equal(t, "temporal operator namespace create --namespace elsewhere --address "+stack.Address(), f.Mend)

	cfg.Temporal.Namespace = ""
	found := doctor.Run(t.Context(), cfg)
	require.Equal(t, doctor.OK, find(t, found, "temporal").Status)
	require.Equal(t, doctor.OK, find(t, found, "search attributes").Status)
	f = find(t, found, "workers")
	require.Equal(t, doctor.Fail, f.Status)
	require.Equal(t, "toolcrib worker --task-queue tools", f.Mend)

	c, err := client.Dial(cfg.Temporal)
	require.NoError(t, err)
	defer c.Close()
	w := sdkworker.New(c, "tools", sdkworker.Options{})
	w.RegisterWorkflowWithOptions(func(workflow.Context) error { return nil }, workflow.RegisterOptions{Name: "none"})
	require.NoError(t, w.Start())
	defer w.Stop()
	require.Eventually(t, func() bool {
		return find(t, doctor.Run(t.Context(), cfg), "workers").Status == doctor.OK
	}, time.Minute, 50*time.Millisecond)
}

func TestPortsAndFolder(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	address, ok := taken.Addr().(*net.TCPAddr)
	require.True(t, ok)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))

	cfg := idle(t)
	cfg.Ports = []doctor.Port{{Number: address.Port, Service: "the API"}, {Number: 1, Service: "Temporal"}}
	cfg.DataDir = file
	cfg.Models = []doctor.Variable{{Name: "A_KEY"}, {Name: "B_KEY"}}
	found := doctor.Run(t.Context(), cfg)
	f := find(t, found, fmt.Sprintf("port %d", address.Port))
	require.Equal(t, doctor.Warn, f.Status)
	require.Contains(t, f.Found, fmt.Sprintf("taken by process %d", os.Getpid()))
	require.Contains(t, f.Mend, fmt.Sprintf("kill %d", os.Getpid()))
	require.Equal(t, doctor.OK, find(t, found, "port 1").Status)
	f = find(t, found, "data folder")
	require.Equal(t, doctor.Fail, f.Status)
	require.Contains(t, f.Found, "is not a folder")
	f = find(t, found, "models")
	require.Equal(t, doctor.Warn, f.Status)
	require.Contains(t, f.Mend, "A_KEY=… or B_KEY=…")

	// What toolcrib dev runs is known by the mark in its folder: this process, or a
	// child of the one that is marked.
	for pid, says := range map[int]string{
		os.Getpid():  "the API is there, served by process",
		os.Getppid(): fmt.Sprintf("which toolcrib dev runs, process %d", os.Getppid()),
	} {
		cfg.DataDir = t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(cfg.DataDir, "lock"), fmt.Appendf(nil, "%d\n", pid), 0o600))
		f = find(t, doctor.Run(t.Context(), cfg), fmt.Sprintf("port %d", address.Port))
		require.Equal(t, doctor.OK, f.Status)
		require.Contains(t, f.Found, says)
		require.Empty(t, f.Mend)
	}

	cfg.API = server{url: fmt.Sprintf("http://localhost:%d/", address.Port)}
	require.Equal(t, doctor.OK, find(t, doctor.Run(t.Context(), cfg), fmt.Sprintf("port %d", address.Port)).Status,
		"the server that is meant has its own port")
}

// A check that hangs, even when cancelled, is abandoned and reported; the other
// checks are reported all the same, and no report holds a secret.
func TestBoundedAndSilentAboutSecrets(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp4", "127.0.0.1:0") // Takes connections and never speaks.
	require.NoError(t, err)
	defer silent.Close()
	hangs := make(chan struct{})
	defer close(hangs)
	cfg := idle(t)
	cfg.API = server{url: "http://ada:hunter2@127.0.0.1:1", hangs: hangs}
	cfg.Temporal.HostPort = silent.Addr().String()
	cfg.DatabaseURL = (&url.URL{
		Scheme: "postgres", User: url.UserPassword("ada", "hunter2"), Host: silent.Addr().String(), Path: "/hunter2",
	}).String()
	cfg.Secrets = []string{"hunter2", ""}

	found := doctor.Run(t.Context(), cfg.Hurried(500*time.Millisecond, time.Minute))
	require.Contains(t, find(t, found, "api").Found, "no answer within 500ms")
	require.Equal(t, doctor.Fail, find(t, found, "database").Status)
	require.NotEqual(t, doctor.OK, find(t, found, "temporal").Status)
	require.Equal(t, doctor.OK, find(t, found, "data folder").Status)
	raw, err := json.Marshal(found)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "hunter2")
}
