package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
)

// ready measures how long toolcrib dev takes until it answers, on a folder that
// it has used before, and what it then holds. The floor is the stack alone:
// PostgreSQL, Temporal and its UI.
func ready(ctx context.Context, l *lab) ([]Figure, error) {
	if l.cfg.Toolcrib == "" {
		l.progress("left out: no toolcrib binary is given")
		return nil, nil
	}
	ours, theirs := filepath.Join(l.dir, "dev"), filepath.Join(l.dir, "stack")
	var size int64
	records, err := l.contest(ctx, l.size.Starts,
		contestant{"toolcrib", func(ctx context.Context) (sample, error) {
			took, held, err := startDev(ctx, l.cfg.Toolcrib, ours)
			size = max(size, held)
			return sample{calls: 1, took: took, each: []time.Duration{took}}, err
		}},
		contestant{"stack", func(ctx context.Context) (sample, error) {
			took, err := startStack(ctx, theirs)
			return sample{calls: 1, took: took, each: []time.Duration{took}}, err
		}},
	)
	if err != nil {
		return nil, err
	}
	a, b := records["toolcrib"], records["stack"]
	seconds := func(s sample) float64 { return s.took.Seconds() }
	figures := []Figure{Figure{
		Name: "dev_ready", Unit: "s", Ratio: a.against(b, seconds), Ours: a.median(seconds), Floor: b.median(seconds),
		P50: ms(percentile(a.times(), 0.5)), P99: ms(percentile(a.times(), 0.99)), N: len(a),
		Note: "the floor is PostgreSQL, Temporal and its UI, in a process that runs",
	}.aimed(bound{of: "ours", value: oursOf, most: true, limit: 3, unit: "s"})}
	if size > 0 {
		figures = append(figures, Figure{
			Name: "dev_memory", Unit: "MB", Ours: float64(size) / 1e6, N: len(a) + 1,
			Note: "with PostgreSQL's processes, shared pages counted once; the most of all starts",
		}.aimed(bound{of: "ours", value: oursOf, most: true, limit: 400, unit: "MB"}))
	}
	return figures, nil
}

// startDev starts the binary on a folder, waits until it says that it is ready,
// and stops it. It returns how long that took and the memory held, which is
// zero where it can't be measured.
func startDev(ctx context.Context, binary, dir string) (took time.Duration, held int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "dev", "--json", "--data", dir, "--listen", //nolint:gosec // The binary that is measured.
		"127.0.0.1:0")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	// A database of the environment's is not for this.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, fmt.Errorf("starting toolcrib dev: %w", err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, fmt.Errorf("starting toolcrib dev: %w", err)
	}
	line, readErr := bufio.NewReader(out).ReadBytes('\n')
	took = time.Since(began)
	var at struct {
		Server string `json:"server"`
	}
	if readErr == nil {
		readErr = json.Unmarshal(line, &at)
	}
	if readErr == nil && at.Server == "" {
		readErr = fmt.Errorf("it said %s", line)
	}
	if readErr == nil {
		for _, p := range tree(cmd.Process.Pid) {
			n, err := memory(p.pid)
			if err != nil {
				continue // Its processes come and go.
			}
			held += n
		}
	}
	signalErr := cmd.Process.Signal(syscall.SIGINT)
	waitErr := cmd.Wait()
	if err := errors.Join(readErr, signalErr, waitErr); err != nil {
		return 0, 0, fmt.Errorf("running toolcrib dev: %w", err)
	}
	return took, held, nil
}

// startStack starts what toolcrib dev stands on.
func startStack(ctx context.Context, dir string) (time.Duration, error) {
	// Not embedded.Start, which would ask the environment for a database.
	began := time.Now()
	postgres, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{
		Dir: filepath.Join(dir, "postgres"), Port: embedded.AnyPort,
	})
	if err != nil {
		return 0, err
	}
	temporal, err := embedded.StartTemporal(ctx, embedded.TemporalConfig{
		Dir: filepath.Join(dir, "temporal"), Port: embedded.AnyPort, UIPort: embedded.AnyPort,
	})
	took := time.Since(began)
	if err == nil {
		err = temporal.Stop(ctx)
	}
	return took, errors.Join(err, postgres.Stop(ctx))
}
