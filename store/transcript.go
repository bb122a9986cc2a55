package store

import (
	"slices"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// transcripts caches the transcripts of running runs, so that a turn reads only the
// messages since the previous one, however long the run is. Messages are immutable and
// a transcript is cached by its head, so that an entry is never stale.
type transcripts struct {
	cache *otter.Cache[transcriptKey, keptTranscript]
}

type transcriptKey struct {
	tenant tool.TenantID
	runID  string
}

// keptTranscript is a cached transcript that ends with head and the answers to its
// calls. It is complete: a later message follows it.
type keptTranscript struct {
	head     string
	messages []agent.Message
	bytes    uint32
}

// Limits of the transcript cache: total size, and how long an unused transcript
// is kept.
const (
	maxTranscriptBytes = 64 << 20
	transcriptLife     = 10 * time.Minute
)

func newTranscripts() *transcripts {
	return &transcripts{cache: otter.Must(&otter.Options[transcriptKey, keptTranscript]{
		MaximumWeight:    maxTranscriptBytes,
		Weigher:          func(_ transcriptKey, t keptTranscript) uint32 { return t.bytes },
		ExpiryCalculator: otter.ExpiryAccessing[transcriptKey, keptTranscript](transcriptLife),
	})}
}

func (t *transcripts) find(key transcriptKey) (keptTranscript, bool) {
	return t.cache.GetIfPresent(key)
}

// keep caches the transcript up to head.
func (t *transcripts) keep(key transcriptKey, head string, messages []agent.Message, grown int) {
	// Clipped, so that two forks from here do not append to one array.
	t.cache.Set(key, keptTranscript{
		head: head, messages: slices.Clip(messages), bytes: uint32(min(grown, maxTranscriptBytes)), //nolint:gosec // Bounded.
	})
}

// extend returns the transcript up to head, where head directly follows the cached one
// and rows have it and the answers to its calls.
func (k keptTranscript) extend(rows []db.Message, head string) ([]agent.Message, bool, error) {
	at := slices.IndexFunc(rows, func(m db.Message) bool { return m.ID == head })
	if at < 0 || value(rows[at].ParentID) != k.head {
		return nil, false, nil
	}
	added, err := transcript(rows, head)
	if err != nil {
		return nil, false, err
	}
	return append(k.messages, added...), true, nil
}

// rowBytes estimates the memory of rows.
func rowBytes(rows []db.Message) int {
	const overhead = 400
	n := 0
	for _, row := range rows {
		n += len(row.Content) + len(row.Calls) + overhead
	}
	return n
}
