package fuzz_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// streamMedia is the media type of a stream of events.
const streamMedia = "text/event-stream"

// streams reports whether the operation can be answered with a stream.
func (o *operation) streams() bool {
	_, ok := o.answers["200"][streamMedia]
	return ok && o.method == http.MethodGet
}

// addStream asks for a stream where there is one, at times from a place that
// was seen in another, or that is none.
func (g generator) addStream(w writer, r *request) {
	if !r.op.streams() || !g.chance(50) {
		return
	}
	r.headers = append(drop(
		r.headers, "Accept",
	), [2]string{"Accept", one(g.dice, []string{streamMedia, "application/json, " + streamMedia + ";q=0.5"})})
	if places := g.pool.had(string(w.who.tenant), "place"); len(places) > 0 && len(r.names) == 0 { // Of all runs.
		r.headers = append(drop(r.headers, "Last-Event-ID"), [2]string{"Last-Event-ID", one(g.dice, append(places, "now"))})
	}
	if g.chance(w.worst) {
		r.headers = append(drop(r.headers, "Last-Event-ID"), [2]string{"Last-Event-ID", headerSafe(one(g.dice, nastyPlaces))})
	}
	if g.chance(w.worst) {
		r.query = append(
			r.query,
			one(g.dice, []string{
				"names=", "names=none", "names=Streaming", "names=streaming%0Aevent:x", "after=now", "after=%0A", "limit=1",
			}),
		)
	}
}

// nastyPlaces are the worst places to go on from.
var nastyPlaces = []string{
	"", " ", "0", "-1", "+1", "007", "1e3", "now", "NOW", "1-", "-", "0-0", "1-2-3", "1--1", "9223372036854775807",
	"9223372036854775808",
	"18446744073709551615-9223372036854775807", "18446744073709551616-1", "4294967296-1", "1-9223372036854775808", "\xff",
	"é", "\u2028",
	"1\tevent: x", "0x1", "1,2", strings.Repeat("9", 64), strings.Repeat("9", 65),
}

// topical are the events of a stream of topics.
var topical = map[string]bool{
	v1.EventHello: true, v1.EventSubscribed: true, v1.EventChanges: true, v1.EventRunEvent: true,
	v1.EventMessage: true, v1.EventResync: true, v1.EventClosed: true,
}

// stream holds the beginning of a stream to what streams are: a first block
// that says where the client is, and then events, each with a place of its own.
func (j judge) stream(a answer) []fault {
	var all []fault
	add := func(format string, args ...any) { all = append(all, fault{"stream", fmt.Sprintf(format, args...)}) }
	if !bytes.HasPrefix(a.body, []byte("retry: ")) {
		add("it does not begin with when to come back")
	}
	places := map[string]bool{}
	blocks := strings.Split(string(a.body), "\n\n")
	for _, block := range blocks[:len(blocks)-1] { // The last may be cut.
		var event, data, id string
		for line := range strings.SplitSeq(block, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "event":
				event = value
			case "data":
				data = value
			case "id":
				id = value
			case "retry", "":
			default:
				add("a line is none of a stream's: %q", line)
			}
		}
		schema := j.doc.event
		if event == "space.message" {
			schema = j.doc.message
		}
		switch {
		case event == "":
			continue // The first block, or a comment.
		case event == "end":
			schema = j.doc.end
		case topical[event]: // Of several topics: its place is that of all of them.
			schema = nil
		case event == "test.result": // No event of a run, so that it has no place.
			schema = j.doc.test
		case id == "" || places[id]:
			add("the place %q is missing or that of another event: %q", id, block)
		}
		places[id] = true
		v, err := decode([]byte(data))
		if err == nil && schema != nil {
			err = schema.Validate(v)
		}
		if err != nil {
			add("the data of %s is not as described: %#v", event, err)
		}
	}
	return all
}

func TestStreamsAreJudged(t *testing.T) {
	t.Parallel()
	const begin, event = "retry: 1000\nid: 0\n\n", "id: 1\nevent: run.started\ndata: {\"seq\":1}\n\n"
	compiled, err := jsonschema.CompileString("event.json", `{"required":["seq"]}`)
	require.NoError(t, err)
	result, err := jsonschema.CompileString("result.json", `{"required":["status"]}`)
	require.NoError(t, err)
	j := judge{doc: &document{event: compiled, test: result}}
	for name, tt := range map[string]struct {
		body string
		bad  bool
	}{
		"whole":          {begin + event + ": alive\n\n" + "event: end\ndata: {}\n\n", false},
		"cut":            {begin + event + "id: 2\nevent: run.comp", false},
		"no beginning":   {event, true},
		"twice":          {begin + event + event, true},
		"no place":       {begin + "event: run.started\ndata: {\"seq\":1}\n\n", true},
		"another's line": {begin + "X: 1\n" + event, true},
		"data broken":    {begin + "id: 1\nevent: run.started\ndata: {\n\n", true},
		"of a test":      {begin + event + "event: test.result\ndata: {\"status\":\"failed\"}\n\n", false},
		"result other":   {begin + event + "event: test.result\ndata: {\"seq\":2}\n\n", true},
		"data other":     {begin + "id: 1\nevent: run.started\ndata: {}\n\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.bad, len(j.stream(answer{body: []byte(tt.body)})) > 0)
		})
	}
}
