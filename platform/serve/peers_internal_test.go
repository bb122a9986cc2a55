package serve

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Workers that polled lately count, each once, and this one always.
func TestPeers(t *testing.T) {
	t.Parallel()

	now := time.Now()
	poller := func(identity string, ago time.Duration) *taskqueuepb.PollerInfo {
		return &taskqueuepb.PollerInfo{Identity: identity, LastAccessTime: timestamppb.New(now.Add(-ago))}
	}
	require.Equal(t, 1, peers(nil, now))
	require.Equal(t, 2, peers([]*taskqueuepb.PollerInfo{
		poller("a", 0), poller("b", time.Minute), poller("a", time.Second), poller("gone", 2*peerGone),
	}, now))
}
