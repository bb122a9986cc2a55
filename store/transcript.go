package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/cache"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// transcripts caches the transcripts of running runs, so that a turn reads only the
// messages since the previous one, however long the run is. Messages are immutable and
// a transcript is cached by its head, so that an entry is never stale.
type transcripts struct {
	cache *cache.Cache[transcriptKey, keptTranscript]
}

type transcriptKey struct {
	tenant tool.TenantID
	runID  string
}

// keptTranscript is a cached transcript that ends with head and the answers to its
// calls. It is complete: a later message follows it.
type keptTranscript struct {
	run      agent.Run // With its plan, which never changes.
	head     string
	messages sequence
	bytes    uint32
	next     *nextTurn // The turn that answers head, as far as it was written here.
}

// nextTurn is a turn that follows a transcript, with the answers to its calls so far. It
// is immutable.
type nextTurn struct {
	message agent.Message
	calls   int
	answers []agent.Message // In the order in which the calls ended.
}

// messages returns the turn and its answers.
func (n *nextTurn) messages() []agent.Message {
	return append([]agent.Message{n.message}, slices.SortedFunc(slices.Values(n.answers), func(a, b agent.Message) int {
		return cmp.Compare(a.Position, b.Position)
	})...)
}

// bytes estimates the memory of the turn.
func (n *nextTurn) bytes() int {
	size := messageOverhead
	for _, call := range n.message.Calls {
		size += len(call.Arguments)
	}
	for _, m := range append([]agent.Message{n.message}, n.answers...) {
		size += messageOverhead
		for _, block := range m.Content {
			size += len(block.Text) + len(block.JSON) + len(block.Data)
		}
	}
	return size
}

// answeredWith reports whether all calls of the turn that answers the transcript have
// ended, with the given answers, and head is that turn.
func (k keptTranscript) answeredWith(more []agent.Message, head string) bool {
	if k.next == nil || k.next.message.ID != head {
		return false
	}
	places := make(map[int]bool, k.next.calls)
	for _, m := range slices.Concat(k.next.answers, more) {
		if m.ParentID == head {
			places[m.Position] = true
		}
	}
	return len(places) == k.next.calls
}

// messageOverhead is the estimated memory of a message without its content.
const messageOverhead = 400

// Limits of the transcript cache: total size, and how long an unused transcript
// is kept.
const (
	maxTranscriptBytes = 64 << 20
	transcriptLife     = 10 * time.Minute
)

func newTranscripts() *transcripts {
	return &transcripts{cache: cache.New[transcriptKey, keptTranscript](cache.Options{
		Weight: maxTranscriptBytes, Idle: transcriptLife,
	})}
}

func (t *transcripts) find(key transcriptKey) (keptTranscript, bool) {
	return t.cache.Get(key)
}

func (t *transcripts) set(key transcriptKey, kept keptTranscript) {
	t.cache.SetWeighing(key, kept, kept.bytes)
}

// answer adds a turn that was written after the transcript.
func (t *transcripts) answer(key transcriptKey, message agent.Message, calls int) {
	if kept, known := t.find(key); known && kept.head == message.ParentID {
		kept.next = &nextTurn{message: message, calls: calls}
		t.set(key, kept)
	}
}

// result adds the answer to a call of the turn that was written last.
func (t *transcripts) result(key transcriptKey, m agent.Message) {
	kept, known := t.find(key)
	if !known || kept.next == nil || kept.next.message.ID != m.ParentID {
		return
	}
	next := *kept.next
	next.answers = append(slices.Clip(next.answers), m)
	kept.next = &next
	t.set(key, kept)
}

// keep caches the transcript up to head.
func (t *transcripts) keep(key transcriptKey, run agent.Run, head string, messages sequence, grown int) {
	t.set(key, keptTranscript{
		run: run, head: head, messages: messages, bytes: uint32(min(grown, maxTranscriptBytes)), //nolint:gosec // Bounded.
	})
}

// append adds messages that were taken up after head.
func (t *transcripts) append(key transcriptKey, head string, after []agent.Message) {
	if kept, known := t.find(key); known && kept.head == head {
		size := int(kept.bytes)
		for _, m := range after {
			size += (&nextTurn{message: m}).bytes()
		}
		t.keep(key, kept.run, after[len(after)-1].ID, kept.messages.with(after), size)
	}
}

// extend returns the transcript up to head, where head directly follows the cached one
// and rows have it and the answers to its calls.
func (k keptTranscript) extend(rows []db.Message, head string) (sequence, bool, error) {
	at := slices.IndexFunc(rows, func(m db.Message) bool { return m.ID == head })
	if at < 0 || value(rows[at].ParentID) != k.head || len(inboxAfter(rows, head)) > 0 {
		return sequence{}, false, nil
	}
	added, err := transcript(rows, head)
	if err != nil {
		return sequence{}, false, err
	}
	return k.messages.with(added), true, nil
}

// rowBytes estimates the memory of rows.
func rowBytes(rows []db.Message) int {
	n := 0
	for _, row := range rows {
		n += len(row.Content) + len(row.Calls) + messageOverhead
	}
	return n
}
