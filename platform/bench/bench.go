package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Config says what to measure and where the figures go.
type Config struct {
	Size Size     // [Full] or [Quick].
	Only []string // Names of benchmarks; all when empty.
	// Toolcrib is the binary whose start is measured. Without one that
	// benchmark is left out.
	Toolcrib string
	// Node is the program that peers run on. Without one that benchmark is left
	// out.
	Node string

	Out      io.Writer // Takes a JSON line for each figure. Defaults to discarding.
	Report   io.Writer // Takes a report in Markdown when all is measured. Nil for none.
	Progress io.Writer // Takes progress messages. Defaults to discarding.
	Logger   *slog.Logger
}

// benchmark measures some figures that belong together.
type benchmark struct {
	name  string
	about string
	run   func(ctx context.Context, l *lab) ([]Figure, error)
}

func benchmarks() []benchmark {
	return []benchmark{
		{"inprocess", "One call in this process: resolve, validate, decide, dispatch, answer", inProcess},
		{"agentloop", "An agent loop of ten turns: a model step and a tool call each", agentLoop},
		{"chain", "Ten tool calls in a row, without a model", chain},
		{"fanout", "Thirty-two pure calls of 50 ms, eight at a time", fanOut},
		{"growth", "What a turn costs as a loop grows, and what it leaves in the history", growth},
		{"peers", "The agent loop and the fan-out on other durable engines", besidePeers},
		{"ready", "Starting toolcrib dev", ready},
		{"noisy", "A tenant beside another that has thousands of calls queued", noisy},
		{"neighbours", "Tenants beside a key that sends a hundred times what it may", neighbours},
		{"overload", "Five times as many calls over HTTP as can be answered", overload},
		{"waiting", "Runs that wait for an approval or for a result from outside", waiting},
		{"mcp", "Tools of a tenant with thousands, as MCP clients list and call them", overMCP},
		{"registry", "Finding one tool among a million", registryScale},
	}
}

// Names lists the benchmarks in the order they run.
func Names() []string {
	var names []string
	for _, b := range benchmarks() {
		names = append(names, b.name)
	}
	return names
}

// Run measures, and writes a line for each figure as soon as it has it. It
// fails when something does not work, not when something is slow.
func Run(ctx context.Context, cfg Config) (figures []Figure, err error) {
	for _, name := range cfg.Only {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("there is no benchmark %q: there is %s", name, strings.Join(Names(), ", "))
		}
	}
	cfg.Out, cfg.Progress = cmp.Or(cfg.Out, io.Discard), cmp.Or(cfg.Progress, io.Discard)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	began := time.Now()
	l, err := openLab(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close(context.WithoutCancel(ctx))) }()
	lines := json.NewEncoder(cfg.Out)
	lines.SetEscapeHTML(false)
	for _, b := range benchmarks() {
		if len(cfg.Only) > 0 && !slices.Contains(cfg.Only, b.name) {
			continue
		}
		got, err := l.run(ctx, b)
		if err != nil {
			return figures, fmt.Errorf("measuring %s: %w", b.name, err)
		}
		for _, f := range got {
			f = f.rounded()
			figures = append(figures, f)
			if err := lines.Encode(f); err != nil {
				return figures, fmt.Errorf("writing a figure: %w", err)
			}
		}
	}
	if cfg.Report != nil {
		return figures, report(cfg.Report, figures, l.machine(ctx), time.Since(began))
	}
	return figures, nil
}
