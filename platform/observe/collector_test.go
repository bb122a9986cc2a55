package observe_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"

	tracecollector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector takes spans over OTLP/HTTP and keeps them.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*tracepb.Span
	raw   []byte // All that was sent.
}

func newCollector() *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(c.take))
	return c
}

func (c *collector) take(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var in tracecollector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(raw, &in) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, raw...)
	for _, resource := range in.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// span is a span as the tests look at it.
type span struct {
	name, id, parent string
	failed           bool
	attributes       map[string]string
}

// trace returns the spans of a trace, in the order of their beginnings.
func (c *collector) trace(id string) []span {
	c.mu.Lock()
	defer c.mu.Unlock()
	sorted := slices.Clone(c.spans)
	slices.SortFunc(sorted, func(a, b *tracepb.Span) int {
		return int(a.GetStartTimeUnixNano()) - int(b.GetStartTimeUnixNano())
	})
	var out []span
	for _, s := range sorted {
		if hex.EncodeToString(s.GetTraceId()) != id {
			continue
		}
		found := span{
			name: s.GetName(), id: hex.EncodeToString(s.GetSpanId()), parent: hex.EncodeToString(s.GetParentSpanId()),
			failed: s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR, attributes: make(map[string]string),
		}
		for _, a := range s.GetAttributes() {
			found.attributes[a.GetKey()] = a.GetValue().GetStringValue()
		}
		out = append(out, found)
	}
	return out
}

func (c *collector) sent() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.raw)
}
