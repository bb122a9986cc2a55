package sandbox

import (
	"context"
	"log/slog"
	"sync"
)

// fenceNotice warns once about children with an incomplete syscall filter.
type fenceNotice struct {
	log  *slog.Logger
	once sync.Once
}

func (n *fenceNotice) say(ctx context.Context, lacks string) {
	if lacks != "" {
		n.once.Do(func() {
			n.log.WarnContext(ctx, "untrusted programs run with an incomplete syscall filter", slog.String("reason", lacks))
		})
	}
}
