package store

import (
	"slices"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// transcripts keeps the transcripts of runs that are under way, so that a turn
// reads what was added since the one before, however long the run is. Messages
// never change, and a transcript is kept under the head it leads to: what is
// kept is right or not used.
type transcripts struct {
	cache *otter.Cache[transcriptKey, keptTranscript]
}

type transcriptKey struct {
	tenant tool.TenantID
	runID  string
}

// keptTranscript ends with head and the answers to its calls, all of which were
// there: the run went on from it.
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

// keep remembers the transcript up to head.
func (t *transcripts) keep(key transcriptKey, head string, messages []agent.Message, grown int) {
	// Clipped, so that two runs that fork from here do not write to one array.
	t.cache.Set(key, keptTranscript{
		head: head, messages: slices.Clip(messages), bytes: uint32(min(grown, maxTranscriptBytes)), //nolint:gosec // Bounded.
	})
}

// extend returns the transcript up to head, where head follows the kept one
// directly and rows hold it and the answers to its calls.
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

// rowBytes is what rows take in memory, more or less.
func rowBytes(rows []db.Message) int {
	const overhead = 400
	n := 0
	for _, row := range rows {
		n += len(row.Content) + len(row.Calls) + overhead
	}
	return n
}
