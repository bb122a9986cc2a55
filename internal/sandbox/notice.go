package sandbox

import (
	"context"
	"log/slog"
	"sync"
)

// fenceNotice warns once of children whose fence lacks something.
type fenceNotice struct {
	log  *slog.Logger
	once sync.Once
}

func (n *fenceNotice) say(ctx context.Context, lacks string) {
	if lacks != "" {
		n.once.Do(func() {
			n.log.WarnContext(ctx, "programs run without a part of their fence", slog.String("reason", lacks))
		})
	}
}
