package api

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// checkTools fails agents whose tools are neither there nor brought by the
// batch, and tools likewise that are made of others, before anything is written.
func (b *batch) checkTools(ctx context.Context) {
	for i, err := range b.cycles {
		if b.items[i].Error == nil {
			b.fail(ctx, i, err)
		}
	}
	for i, d := range b.definitions {
		if b.items[i].Error != nil || b.items[i].Action == v1.Unchanged {
			continue
		}
		if err := b.server.cfg.Registry.CheckTools(ctx, b.principal, d, b.definitions); err != nil {
			b.fail(ctx, i, err)
		}
		if b.outage != nil {
			return
		}
	}
}
