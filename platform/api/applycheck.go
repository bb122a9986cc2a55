package api

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// checkTools fails agents whose tools are neither there nor brought by the
// batch, before anything is written.
func (b *batch) checkTools(ctx context.Context) {
	var brought []string
	for _, d := range b.definitions {
		if d.Tool != nil {
			brought = append(brought, d.Tool.Slug)
		}
	}
	for i, d := range b.definitions {
		if b.items[i].Error != nil || b.items[i].Action == v1.Unchanged {
			continue
		}
		if err := b.server.cfg.Registry.CheckTools(ctx, b.principal, d, brought); err != nil {
			b.fail(ctx, i, err)
		}
	}
}
