package console_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/dev"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/models/scripted"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// running is the whole platform, with an engine and a worker, that the tests share which call tools.
var running struct {
	once   sync.Once
	dev    *dev.Dev
	apps   *appServer
	places *places
	err    error
	// asks is held by tests that let calls wait for a person, whom another one counts.
	asks sync.Mutex
}

// alone lets no other test that makes calls wait for a person run.
func alone(t *testing.T) {
	t.Helper()
	running.asks.Lock()
	t.Cleanup(running.asks.Unlock)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if running.dev != nil {
		_ = running.dev.Stop(context.Background())
	}
	os.Exit(code) //nolint:forbidigo // Of the tests.
}

// live is a tab that is signed in to the running platform. Its site has no fixture: tests make what they show,
// under names of their own.
func live(t *testing.T) *visitor {
	t.Helper()
	return liveAt(t, func(s *site) *site { return s })
}

// liveAt is live at the site that another one of the running platform makes.
func liveAt(t *testing.T, at func(*site) *site) *visitor {
	t.Helper()
	started := browser(t)
	running.once.Do(func() {
		running.apps, running.places = newAppServer(), newPlaces()
		running.dev, running.err = dev.Start(context.Background(), dev.Config{
			Prefix: *under, Stack: embedded.Config{Throwaway: true, Headless: true},
			Worker: worker.Config{
				Models: map[string]agent.Model{"scripted": scripted.New("testdata/transcripts")},
				Custom: map[string]tool.Executor{"quote": tool.ExecutorFunc(quoteParcels)},
				Allow: map[tool.TenantID]worker.Allowance{"": {Hosts: []string{
					running.apps.host, running.places.blog, running.places.newsroom,
				}}},
			},
		})
	})
	require.NoError(t, running.err)
	d := running.dev
	key, err := os.ReadFile(filepath.Join(d.Stack().DataDir(), dev.ConsoleKeyFile))
	require.NoError(t, err)
	v := visit(t, at(&site{url: d.URL() + *under, prefix: *under, slug: d.Tenant().Slug, key: d.Key()}), started)
	v.do(t, chromedp.Navigate(v.url+"/login"), settled(),
		typed("#key", strings.TrimSpace(string(key))+kb.Enter),
		until(atHome), settled())
	return v
}

// A person who started the platform on their own machine signs in with the key of its console.
func TestTheRunningPlatformHasAConsole(t *testing.T) {
	t.Parallel()

	v := live(t)
	v.do(t, until(`document.querySelector(".tenant").innerText.includes("`+strings.TrimSpace(running.dev.Tenant().Name)+`")`))
	v.blameless(t)
}
