// Package chaos_test runs the platform's own command, two servers and two
// workers, under a seeded sequence of faults, and then holds all records
// against each other: ledger, invocations, events, transcripts, Temporal's
// histories and what the upstream counted.
//
//	make chaos                                    # 20 minutes, a new seed
//	CHAOS_TIME=2m CHAOS_SEED=7 make chaos
//	go -C platform test ./chaos -seed 7 -time 30s
//
// Without -time each kind of fault happens once, for up to a second: that is the
// edition of make test. A seed decides which faults happen in which order and
// what the drivers ask for; how these interleave is up to the machine. PostgreSQL
// and Temporal stand behind proxies that lose, delay and reset what passes
// (package faulttest).
package chaos_test

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/commands"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/platform/dev/devcmd"
)

var (
	seedFlag = flag.Uint64("seed", 0, "play this seed; by default 1, or with -time a new one")
	timeFlag = flag.Duration("time", 0, "for how long faults happen; by default each kind happens once")
)

// commandVariable makes this test's binary the command toolcrib, which it links
// anyway: a second binary would hold Temporal's server once more.
const commandVariable = "TOOLCRIB_CHAOS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandVariable) != "" {
		os.Exit(commandMain()) //nolint:forbidigo // This is main.
	}
	os.Exit(m.Run()) //nolint:forbidigo // This is main.
}

// commandMain is the main function of the command, as cmd/toolcrib has it.
func commandMain() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return cli.Run(ctx, cli.Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Version: "dev"},
		os.Args[1:], commands.New, operator.New, devcmd.New)
}

// Bounds on what has to happen on its own. Both are generous in make test,
// where other tests use the machine at the same time.
const (
	patience  = 3 * time.Minute
	quietTime = time.Minute // How long after the last fault every record has ended.
)
