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
	"github.com/toolcrib/toolcrib/platform/cli/commands"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/platform/dev"
	"github.com/toolcrib/toolcrib/platform/dev/devcmd"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/models/scripted"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// site is the whole platform, which the tests of this package share.
type site struct {
	dev     *dev.Dev
	counted atomic.Int64 // Calls of the tool count.
	held    atomic.Int64 // Calls of the tool hold under way.
	talker  talker
}

var shared site

func TestMain(m *testing.M) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":%q,"name":"seven"}`, filepath.Base(r.URL.Path))
	}))
	defer upstream.Close()
	err := shared.start(context.Background(), strings.TrimPrefix(upstream.URL, "http://"))
	if shared.dev != nil {
		defer func() { _ = shared.dev.Stop(context.Background()) }()
	}
	if err != nil {
		panic(err)
	}
	m.Run()
}

// start runs the platform and applies the definitions of these tests.
func (s *site) start(ctx context.Context, upstream string) error {
	functions, err := s.functions()
	if err != nil {
		return err
	}
	s.dev, err = dev.Start(ctx, dev.Config{
		Stack: embedded.Config{Throwaway: true, Headless: true},
		Worker: worker.Config{
			Functions: functions,
			Models:    map[string]agent.Model{"scripted": scripted.New("testdata/transcripts"), "talker": &shared.talker},
			Allow:     map[tool.TenantID]worker.Allowance{"": {Hosts: []string{upstream}}},
		},
	})
	if err != nil {
		return err
	}
	raw, err := os.ReadFile("testdata/definitions.yaml")
	if err != nil {
		return err
	}
	definitions := filepath.Join(s.dev.Stack().DataDir(), "definitions.yaml")
	raw = bytes.ReplaceAll(raw, []byte("UPSTREAM"), []byte(upstream))
	if err := os.WriteFile(definitions, raw, 0o600); err != nil {
		return err
	}
	if code, _, stderr := toolcrib(ctx, "apply", "-f", definitions); code != cli.ExitOK {
		return errors.New(stderr)
	}
	return nil
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

// toolcrib runs a command against the site, which it finds by the data folder.
func toolcrib(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	return toolcribAs(ctx, "", args...)
}

func toolcribAs(ctx context.Context, key string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	env := cli.Env{In: strings.NewReader(""), Out: &out, Err: &errs, Environ: []string{
		cli.DataVariable + "=" + shared.dev.Stack().DataDir(), cli.KeyVariable + "=" + key,
	}}
	code = cli.Run(ctx, env, args, commands.New, operator.New, devcmd.New)
	return code, out.String(), errs.String()
}

// ok runs a command and requires that it succeeds.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := toolcrib(t.Context(), args...)
	require.Equal(t, cli.ExitOK, code, "%s\n%s\n%s", args, out, errs)
	return out
}
