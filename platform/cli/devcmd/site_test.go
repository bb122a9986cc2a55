package devcmd_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/devcmd"
	"github.com/toolcrib/toolcrib/platform/dev"
	"github.com/toolcrib/toolcrib/platform/devstack"
	"github.com/toolcrib/toolcrib/platform/models/scripted"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// site is the whole platform, which the tests of this package share.
type site struct {
	dev         *dev.Dev
	definitions string       // A file.
	counted     atomic.Int64 // Calls of the tool count.
	held        atomic.Int64 // Calls of the tool hold under way.
}

var shared site

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":%q,"name":"seven"}`, filepath.Base(r.URL.Path))
	}))
	defer upstream.Close()
	host := strings.TrimPrefix(upstream.URL, "http://")
	functions, err := shared.functions()
	if err != nil {
		return fail(err)
	}
	shared.dev, err = dev.Start(context.Background(), dev.Config{
		Stack: devstack.Config{Throwaway: true, Headless: true},
		Worker: worker.Config{
			Functions: functions, Models: map[string]agent.Model{"scripted": scripted.New("testdata/transcripts")},
			Allow: map[tool.TenantID]worker.Allowance{"": {Hosts: []string{host}}},
		},
	})
	if err != nil {
		return fail(err)
	}
	defer func() { _ = shared.dev.Stop(context.Background()) }()
	raw, err := os.ReadFile("testdata/definitions.yaml")
	if err != nil {
		return fail(err)
	}
	shared.definitions = filepath.Join(shared.dev.Stack().DataDir(), "definitions.yaml")
	raw = bytes.ReplaceAll(raw, []byte("UPSTREAM"), []byte(host))
	if err := os.WriteFile(shared.definitions, raw, 0o600); err != nil {
		return fail(err)
	}
	if code, _, stderr := toolcrib(context.Background(), "apply", "-f", shared.definitions); code != cli.ExitOK {
		return fail(errors.New(stderr))
	}
	return m.Run()
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func (s *site) functions() (*function.Registry, error) {
	type none struct{}
	type named struct {
		Name string `json:"name"`
	}
	reg := function.NewRegistry()
	return reg, errors.Join(
		function.Define(reg, "greet", "Greets.", func(_ context.Context, in named) (string, error) {
			if in.Name == "nobody" {
				return "", errors.New("there is nobody of that name")
			}
			return "Hello " + in.Name, nil
		}, function.Pure()),
		function.Define(reg, "count", "Counts.", func(_ context.Context, _ map[string]any) (int64, error) {
			return s.counted.Add(1), nil
		}),
		function.Define(reg, "hold", "Holds.", func(ctx context.Context, _ none) (none, error) {
			s.held.Add(1)
			defer s.held.Add(-1)
			<-ctx.Done()
			return none{}, ctx.Err()
		}, function.Pure()),
	)
}

// toolcrib runs a command against the site, as its data folder tells.
func toolcrib(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	return toolcribAs(ctx, "", args...)
}

func toolcribAs(ctx context.Context, key string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	env := cli.Env{In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(name string) string {
		return map[string]string{cli.DataVariable: shared.dev.Stack().DataDir(), cli.KeyVariable: key}[name]
	}}
	code = cli.Run(ctx, env, args, devcmd.New)
	return code, out.String(), errs.String()
}

// ok runs a command and requires that it succeeds.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := toolcrib(t.Context(), args...)
	require.Equal(t, cli.ExitOK, code, "%s\n%s\n%s", args, out, errs)
	return out
}
