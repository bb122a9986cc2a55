package activities

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// chunk is what was written, and when.
type chunk struct {
	agent.Output
	after time.Duration
}

// kept is a port that remembers. Its writes take a while, and may fail.
type kept struct {
	began time.Time
	take  time.Duration
	err   error

	mu     sync.Mutex
	chunks []chunk
}

func (k *kept) AppendOutput(ctx context.Context, o agent.Output) error {
	select {
	case <-time.After(k.take):
	case <-ctx.Done():
		return ctx.Err()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.chunks = append(k.chunks, chunk{o, time.Since(k.began)})
	return k.err
}

// mend ends the failing of writes.
func (k *kept) mend() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = nil
}

func (k *kept) text() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var b strings.Builder
	for _, c := range k.chunks {
		b.WriteString(c.Text)
	}
	return b.String()
}

var spoken = agent.Output{Tenant: "tenant", RunID: "run", Turn: 2, Attempt: 3}

func chunkOf(text string, after time.Duration) chunk {
	o := spoken
	o.Text = text
	return chunk{o, after}
}

func TestOutputIsGathered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		port := &kept{began: time.Now()}
		w := newOutputWriter(t.Context(), port, spoken)
		for _, piece := range []string{"The", " order", "", " is"} {
			w.say(piece)
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(time.Second)
		w.say(" late")
		lost, err := w.close()
		require.NoError(t, err)
		require.Zero(t, lost)
		began := 4*20*time.Millisecond + time.Second
		require.Equal(t, []chunk{chunkOf("The order is", outputInterval), chunkOf(" late", began)}, port.chunks,
			"text is written at an interval after its first piece, and the rest at once at the end")

		w.say(" after the end")
		time.Sleep(time.Second)
		require.Len(t, port.chunks, 2)
	})
}

func TestMuchOutputIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		port := &kept{began: time.Now()}
		w := newOutputWriter(t.Context(), port, spoken)
		for range 3 {
			w.say(strings.Repeat("x", outputSize))
			synctest.Wait()
		}
		require.Len(t, port.chunks, 3)
		for _, c := range port.chunks {
			require.Zero(t, c.after)
		}
		lost, _ := w.close()
		require.Zero(t, lost)
	})
}

// A model that says nothing before it answers costs nothing.
func TestSilentModel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		port := &kept{began: time.Now()}
		w := newOutputWriter(t.Context(), port, spoken)
		lost, err := w.close()
		require.NoError(t, err)
		require.Zero(t, lost)
		require.Empty(t, port.chunks)
		require.Zero(t, time.Since(port.began))
	})
}

// The model never waits for the database: what cannot be kept is lost and counted.
func TestSlowDatabaseLosesOutput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		port := &kept{began: time.Now(), take: time.Second / 2}
		w := newOutputWriter(t.Context(), port, spoken)
		w.say("first")
		time.Sleep(outputInterval + time.Millisecond) // It is being written.
		before := time.Now()
		for range 2 * maxUnwritten / outputSize {
			w.say(strings.Repeat("x", outputSize))
		}
		require.Equal(t, before, time.Now())
		lost, err := w.close()
		require.NoError(t, err)
		require.Equal(t, maxUnwritten/outputSize, lost)
		require.Len(t, port.text(), len("first")+maxUnwritten)
	})
}

// A database that does not answer holds a turn up no longer than the patience
// with it, and fails nothing.
func TestSilentDatabaseHoldsNoTurnUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		port := &kept{began: time.Now(), take: time.Hour}
		ctx, cancel := context.WithCancel(t.Context())
		w := newOutputWriter(ctx, port, spoken)
		w.say("a")
		time.Sleep(outputInterval + time.Second)
		w.say("b")
		cancel()
		before := time.Now()
		lost, err := w.close()
		require.Error(t, err)
		require.Equal(t, 2, lost)
		require.LessOrEqual(t, time.Since(before), outputPatience)
		require.Empty(t, port.chunks)
	})
}

func TestFailedWritesAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := &tool.Error{Kind: tool.Unavailable, Msg: "down"}
		port := &kept{began: time.Now(), err: broken}
		w := newOutputWriter(t.Context(), port, spoken)
		for range 3 {
			w.say("a")
		}
		time.Sleep(time.Second)
		port.mend()
		w.say("b")
		lost, err := w.close()
		require.Equal(t, 3, lost)
		require.True(t, errors.Is(err, broken)) //nolint:testifylint // The very error.
	})
}

// What is said before the activity is cancelled is written all the same.
func TestCancelledActivityWritesWhatItHas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		port := &kept{began: time.Now()}
		ctx, cancel := context.WithCancel(t.Context())
		w := newOutputWriter(ctx, port, spoken)
		w.say("a")
		cancel()
		lost, err := w.close()
		require.NoError(t, err)
		require.Zero(t, lost)
		require.Equal(t, "a", port.text())
	})
}
