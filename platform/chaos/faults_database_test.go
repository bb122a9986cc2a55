package chaos_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/platform/faulttest/pgproxy"
)

// networkFaults happen to the connections to PostgreSQL.
func networkFaults() []fault {
	return []fault{
		{"connections reset", func(s *site, _ context.Context, _ *rand.Rand) (func() error, error) {
			s.postgres.ResetAll()
			return nil, nil
		}},
		{"connections refused", func(s *site, _ context.Context, _ *rand.Rand) (func() error, error) {
			s.postgres.Refuse(true)
			s.postgres.ResetAll()
			return func() error { s.postgres.Refuse(false); return nil }, nil
		}},
		{"database blackholed", func(s *site, _ context.Context, _ *rand.Rand) (func() error, error) {
			s.postgres.Blackhole(true)
			return func() error { s.postgres.Blackhole(false); return nil }, nil
		}},
	}
}

// hotStatements are the statements of a call's way and of a run's, which are hit
// most often; the others are drawn from all queries.
var hotStatements = []string{
	"CreateRun", "StartRun", "SaveTurn", "AdmitCall", "MarkSent", "UnmarkSent", "SettleCall", "FinishRun", "OpenTurn",
}

var statementName = regexp.MustCompile(`(?m)^-- name: (\w+) :`)

// statementNames returns the names of all queries of the store.
func statementNames() ([]string, error) {
	files, err := fs.Glob(os.DirFS(queryFolder), "*.sql")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(queryFolder, file))
		if err != nil {
			return nil, err
		}
		for _, m := range statementName.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names, nil
}

var queryFolder = filepath.Join("..", "..", "store", "queries")

// statementFaults lose one statement, before it runs or its answer.
func statementFaults() []fault {
	var out []fault
	for _, effect := range pgproxy.Effects() {
		begin := func(s *site, _ context.Context, dice *rand.Rand) (func() error, error) {
			names, err := statementNames()
			if err != nil {
				return nil, err
			}
			for range 4 {
				names = append(names, hotStatements...)
			}
			var injected []*pgproxy.Injection
			for range 8 {
				name := names[dice.IntN(len(names))]
				injected = append(injected, s.postgres.Inject(pgproxy.Fault{Statement: "-- name: " + name + " ", Effect: effect}))
			}
			return func() error {
				for _, i := range injected {
					i.Cancel()
				}
				return nil
			}, nil
		}
		out = append(out, fault{"statement " + string(effect), begin})
	}
	return out
}

// lockable are the tables that a lock may be taken on.
var lockable = []string{
	"runs", "effects", "tool_invocations", "run_events", "messages", "tool_registry", "idempotency_keys", "agents",
}

// databaseFaults happen to the server itself.
func databaseFaults() []fault {
	state := func(set, unset string) func(*site, context.Context, *rand.Rand) (func() error, error) {
		return func(s *site, ctx context.Context, _ *rand.Rand) (func() error, error) {
			ctx = context.WithoutCancel(ctx)
			return func() error { return s.cluster.exec(ctx, s.t, "update chaos.state set "+unset) },
				s.cluster.exec(ctx, s.t, "update chaos.state set "+set)
		}
	}
	return []fault{
		{"database crashed", func(s *site, ctx context.Context, _ *rand.Rand) (func() error, error) {
			return nil, s.cluster.crash(context.WithoutCancel(ctx))
		}},
		{"backends terminated", func(s *site, ctx context.Context, _ *rand.Rand) (func() error, error) {
			return nil, s.cluster.exec(
				ctx, s.t, `select pg_terminate_backend(pid) from pg_stat_activity where usename in ('app', 'maintenance')`,
			)
		}},
		{"database read-only", func(s *site, ctx context.Context, _ *rand.Rand) (func() error, error) {
			ctx = context.WithoutCancel(ctx)
			return func() error {
				return s.cluster.exec(ctx, s.t, "alter system reset default_transaction_read_only", "select pg_reload_conf()")
			}, s.cluster.exec(ctx, s.t, "alter system set default_transaction_read_only = on", "select pg_reload_conf()")
		}},
		{"disk full", state("full_disk = true", "full_disk = false")},
		{"clock an hour ahead", state("clock = '1 hour'", "clock = '0'")},
		{"clock an hour behind", state("clock = '-1 hour'", "clock = '0'")},
		{"table locked", (*site).lockTable},
	}
}

// lockTable holds an exclusive lock on a table.
func (s *site) lockTable(ctx context.Context, dice *rand.Rand) (func() error, error) {
	ctx = context.WithoutCancel(ctx)
	conn := s.cluster.connect(ctx, s.t)
	table := lockable[dice.IntN(len(lockable))]
	lock := func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, fmt.Sprintf("set local lock_timeout = '3s'; lock table %s in access exclusive mode", table))
		return err
	}
	tx, err := conn.Begin(ctx)
	if err == nil {
		err = lock(tx)
	}
	if err != nil {
		_ = conn.Close(ctx)
		return nil, fmt.Errorf("locking %s: %w", table, err)
	}
	began := time.Now()
	return func() error {
		// A crash in between ends the transaction too.
		_ = tx.Rollback(ctx)
		_ = conn.Close(ctx)
		s.t.Logf("%s was locked for %s", table, time.Since(began).Round(time.Millisecond))
		return nil
	}, nil
}
