package store_test

import (
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// wire stands between a store and PostgreSQL and counts round trips: how often
// the client speaks after the server did.
type wire struct {
	mu         sync.Mutex
	trips      int
	clientLast bool
}

// through returns url with its host replaced by a listener that counts.
func (w *wire) through(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	server := u.Host
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server)
			if err != nil {
				_ = client.Close()
				return
			}
			go w.copy(upstream, client, true)
			go w.copy(client, upstream, false)
		}
	}()
	u.Host = listener.Addr().String()
	return u.String()
}

func (w *wire) copy(to, from net.Conn, client bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			w.mu.Lock()
			if client && !w.clientLast {
				w.trips++
			}
			w.clientLast = client
			w.mu.Unlock()
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (w *wire) count(during func()) int {
	w.mu.Lock()
	w.trips = 0
	w.mu.Unlock()
	during()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trips
}

// One connection, warmed: every method of a call's way and of a turn is one
// round trip, so a pure call costs two and any other three.
func TestRoundTrips(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	var w wire
	s, err := store.Open(t.Context(), w.through(
		t, d.URL,
	), store.Options{SetRole: store.AppRole, MaxConns: 1, NotifyInterval: -1})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	f.Store = s
	ctx, tenant := t.Context(), f.Tenant

	var entry ledger.Entry
	var ticket ledger.Ticket
	admit := func(repeatable, send bool) func() {
		return func() { entry = f.Lone(t); ticket = f.Admit(t, entry, repeatable, send) }
	}
	stored := func() {
		entry = f.EntryOf(f.Run, f.Turn, "effect-"+f.Turn.Calls[0].InvocationID)
		ticket = f.Admit(t, entry, false, false)
	}
	settle := func() {
		outcome, err := s.Settle(ctx, storetest.Completed(entry, ticket.Fence))
		require.NoError(t, err)
		require.True(t, outcome.Won)
	}
	head := f.Turn.Message.ID
	steps := []struct {
		name string
		want int
		do   func()
	}{
		{"pure: Admit", 1, admit(true, true)},
		{"pure: Settle", 1, settle},
		{"write: Admit", 1, admit(false, false)},
		{"write: MarkSent", 1, func() { require.NoError(t, s.MarkSent(ctx, tenant, entry.EffectID, ticket.Fence)) }},
		{"write: Settle", 1, settle},
		{"a turn of one call: SaveTurn", 2, func() { f.Turn = f.NewTurn(t, f.Run, 1) }}, // With a FindRun.
		{"stored arguments: Admit", 1, stored},
		{
			"sent, then not: MarkSent",
			1,
			func() { require.NoError(t, s.MarkSent(ctx, tenant, entry.EffectID, ticket.Fence)) },
		},
		{
			"sent, then not: MarkUnsent", 1,
			func() { require.NoError(t, s.MarkUnsent(ctx, tenant, entry.EffectID, ticket.Fence)) },
		},
		{"stored arguments: Settle", 1, settle},
		{"done: Admit", 1, func() { require.NotNil(t, f.Admit(t, entry, false, false).Done) }},
		{"OpenTurn", 1, func() { _, err := s.OpenTurn(ctx, tenant, f.Run.ID, head, "new"); require.NoError(t, err) }},
		{"SaveTurn", 1, func() {
			_, err := s.SaveTurn(ctx, agent.Turn{
				Tenant:  tenant,
				RunID:   f.Run.ID,
				Key:     uuid.NewString(),
				Message: agent.Message{ParentID: head, Turn: 2},
				Calls: []agent.PreparedCall{
					{
						CallIdentity: tool.CallIdentity{CallID: "x"},
						Name:         "nope",
						Refused:      &agent.Refusal{Kind: tool.NotFound, Msg: "no"},
					},
				},
			})
			require.NoError(t, err)
		}},
		{"Entries", 1, func() { _, err := s.Entries(ctx, tenant, tool.Ref{Slug: f.Tool.Slug}); require.NoError(t, err) }},
		{"Version", 1, func() { _, err := s.Version(ctx, tenant, f.Tool.ID, f.Version.Digest); require.NoError(t, err) }},
		{"Policies", 1, func() { _, err := s.Policies(ctx, tenant, []string{f.Tool.ID}); require.NoError(t, err) }},
		{"Page", 1, func() { _, err := s.Page(ctx, tenant, resolver.PageQuery{Limit: 10}); require.NoError(t, err) }},
		{"ListTools", 1, func() { _, err := s.ListTools(ctx, tenant, registry.ToolQuery{}); require.NoError(t, err) }},
		{"ListEvents", 1, func() { _, err := s.ListEvents(ctx, tenant, f.Run.ID, 0, 10); require.NoError(t, err) }},
		{"AppendOutput", 1, func() { f.Say(t, f.Run, 1, 1, "Let me look.") }},
		{"ReadStream", 1, func() { _, err := s.ReadStream(ctx, tenant, f.Run.ID, 0, 10); require.NoError(t, err) }},
		{
			"ListInvocations", 1,
			func() { _, err := s.ListInvocations(ctx, tenant, store.InvocationQuery{}); require.NoError(t, err) },
		},
		{"AddVersion", 5, func() { f.NewVersion(t) }}, // begin, tenant, head, version, commit: the count counts.
		{"BeginRun", 1, func() { _, err := s.BeginRun(ctx, f.Run); require.NoError(t, err) }},
		{"FinishRun", 1, func() {
			require.NoError(t, s.FinishRun(ctx, agent.RunEnd{Tenant: tenant, RunID: f.Run.ID, Status: agent.RunCompleted}))
		}},
	}
	for range 2 { // Statements are prepared once per connection.
		for _, step := range steps {
			step.do()
		}
	}
	for _, step := range steps {
		require.Equal(t, step.want, w.count(step.do), step.name)
	}
}
