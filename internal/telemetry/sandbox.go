package telemetry

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// Sandbox counts what happens in a pool of children.
func (t *Telemetry) Sandbox() sandbox.Observer { return children{t.metrics} }

type children struct{ counts *metrics }

// Started implements [sandbox.Observer].
func (c children) Started() {
	if c.counts.off {
		return
	}
	ctx := context.Background()
	c.counts.children.Add(ctx, 1)
	c.counts.starts.Add(ctx, 1)
}

// Ended implements [sandbox.Observer].
func (c children) Ended(why string) {
	if c.counts.off {
		return
	}
	ctx := context.Background()
	c.counts.children.Add(ctx, -1)
	c.counts.add(ctx, c.counts.ends, 1, labels{{causeLabel, why}})
}

// Waited implements [sandbox.Observer].
func (c children) Waited(d time.Duration) {
	c.counts.observe(context.Background(), c.counts.waits, d, labels{})
}

// Ran implements [sandbox.Observer].
func (c children) Ran(language sandbox.Language, outcome string, d time.Duration) {
	c.counts.observe(context.Background(), c.counts.programs, d, labels{
		{languageLabel, string(language)}, {outcomeLabel, outcome},
	})
}
