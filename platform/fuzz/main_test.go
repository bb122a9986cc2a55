// Package fuzz_test holds a running API to its own description: it reads
// /openapi.json, makes valid, nearly valid and hostile requests for every
// operation from the schemas, and judges every answer by what is documented.
//
//	make fuzz                             # a minute
//	FUZZ_TIME=5m make fuzz
//	scripts/with-postgres go -C platform test ./fuzz -seed 7 -time 30s
//
// Without flags, as a part of make test, it makes so many requests of one fixed
// seed, however long they take; given a time it plays a new seed each time. A
// seed decides what is asked for, in which order; ids and times are the
// server's, so that a replay walks the same way among other names. A failure
// names its seed and step, and prints the request as a curl command, with as
// much taken away from it as did not matter.
package fuzz_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
)

var (
	seedFlag = flag.Uint64("seed", 0, "play this seed; by default 1, or a new one if there is a time")
	timeFlag = flag.Duration("time", 0, "for how long to go on after the first requests")
)

// temporalServer is shared by the tests of this package.
var temporalServer *embedded.Temporal

func TestMain(m *testing.M) {
	os.Exit(run(m)) //nolint:forbidigo // This is main.
}

func run(m *testing.M) int {
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var err error
	temporalServer, err = embedded.StartTemporal(ctx, embedded.TemporalConfig{
		Port: embedded.AnyPort, Headless: true, Logger: quiet(),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting Temporal:", err)
		return 1
	}
	defer func() { _ = temporalServer.Stop(context.Background()) }()
	return m.Run()
}

func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}
