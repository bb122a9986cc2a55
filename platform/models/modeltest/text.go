package modeltest

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/agent/textcall"
	"github.com/toolcrib/toolcrib/agent/textcall/textcalltest"
)

// texts: an answer that is streamed in pieces of one character is joined to what it was, and
// the calls in its text are those of the whole.
func (p Provider) texts(t *testing.T) {
	t.Parallel()

	all := textcalltest.Answers()
	stream := Load(t, "text").Stream
	said := make(chan Message, 1)
	m := p.open(t, Serve(t, func(w http.ResponseWriter, r *http.Request) { Answer(<-said)(w, r) }).URL)
	for _, a := range all {
		if a.Text == "" {
			continue // Said nothing at all.
		}
		said <- stream.saying(t, a.Text)
		p.requireSaid(t, m, a)
	}
}

// byteByByte: so it is where the bytes of the stream arrive one by one.
func (p Provider) byteByByte(t *testing.T) {
	t.Parallel()

	stream := Load(t, "text").Stream
	for _, a := range textcalltest.Answers() {
		if a.Name != "two on a line" && a.Name != "a value of several lines" && a.Name != "half of a pair of characters" {
			continue
		}
		said := stream.saying(t, a.Text)
		server := Serve(t, func(w http.ResponseWriter, _ *http.Request) {
			maps.Copy(w.Header(), said.Header)
			for i := range len(said.Body) {
				_, _ = io.WriteString(w, said.Body[i:i+1])
				flush(w)
			}
		})
		p.requireSaid(t, p.open(t, server.URL), a)
	}
}

func (p Provider) requireSaid(t *testing.T, m agent.Model, a textcalltest.Answer) {
	t.Helper()
	var told strings.Builder
	req := simple()
	req.Stream = func(d agent.Delta) { told.WriteString(d.Text) }
	got, err := m.Generate(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, a.Text, got.Text, a.Name)
	require.Equal(t, a.Text, told.String(), a.Name)
	var calls []string
	for _, c := range textcall.Read(got, 1, textcalltest.Offered).Calls {
		calls = append(calls, c.Name+" "+string(c.Arguments))
	}
	require.Equal(t, a.Calls, calls, a.Name)
}

// saying returns the stream of the exchange "text" with another text, a character in each event.
func (m Message) saying(t *testing.T, text string) Message {
	t.Helper()
	const whole, first = "I am the support desk. How can I help?", `"I am "`
	var body strings.Builder
	for _, event := range m.Events() {
		switch {
		case strings.Contains(event, first):
			for _, r := range text {
				body.WriteString(strings.Replace(event, first, quoted(t, string(r)), 1))
			}
		case strings.Contains(event, `"the support desk. "`), strings.Contains(event, `"How can I help?"`):
		default:
			body.WriteString(strings.ReplaceAll(event, `"`+whole+`"`, quoted(t, text)))
		}
	}
	m.Body = body.String()
	return m
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	raw, err := json.Marshal(text)
	require.NoError(t, err)
	return string(raw)
}
