// Command bench measures Toolcrib's figures: see package bench.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"runtime/pprof"
	"strings"
	"syscall"

	"github.com/toolcrib/toolcrib/platform/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // A second ctrl-c ends it at once.
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) (err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(progress)
	only := flags.String(
		"only", "", "measure these `benchmarks` alone, separated by commas: "+strings.Join(bench.Names(), ", "),
	)
	quick := flags.Bool("quick", false, "measure little: enough to see that it works, too little to compare")
	rounds := flags.Int("rounds", 0, "how many `rounds` the contestants take turns for (default 5, or 1 when quick)")
	page := flags.String("report", "bench.md", "the `file` that the report in Markdown goes to")
	binary := flags.String(
		"toolcrib", "", "the toolcrib `binary` whose start is measured (default: none, and no such figures)",
	)
	node := flags.String("node", "node", "the Node `program` that peers run on; they are left out where there is none")
	profile := flags.String("cpuprofile", "", "the `file` that a CPU profile of this process goes to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	cfg := bench.Config{
		Size: bench.Full(), Toolcrib: *binary, Out: out, Progress: progress,
		Logger: slog.New(slog.NewTextHandler(progress, &slog.HandlerOptions{Level: slog.LevelError})),
	}
	if found, err := exec.LookPath(*node); err == nil {
		cfg.Node = found
	}
	if *quick {
		cfg.Size = bench.Quick()
	}
	if *rounds > 0 {
		cfg.Size.Rounds = *rounds
	}
	if *only != "" {
		cfg.Only = strings.Split(*only, ",")
	}
	file, err := os.Create(*page)
	if err != nil {
		return fmt.Errorf("making the report: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	cfg.Report = file
	if *profile != "" {
		stop, err := startProfile(*profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	if _, err := bench.Run(ctx, cfg); err != nil {
		return err
	}
	_, err = fmt.Fprintf(progress, "the report is in %s\n", *page)
	return err
}

func startProfile(name string) (stop func(), err error) {
	file, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("making the profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(fmt.Errorf("profiling: %w", err), file.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}, nil
}
