package fuzz_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// steps is how many requests a seed makes at the least.
const steps = 1200

// session plays a seed against an API.
type session struct {
	generator
	judge    judge
	host     string
	seed     uint64
	steps    int // At the least.
	made     int
	failures map[string]string // By operation and rule: the first of each.
	answered map[string]map[int]int
}

func newSession(s *site, seed uint64) *session {
	known := newPool(s.actors, s.global)
	return &session{
		generator: generator{newDice(seed), s.doc, known, s.actors}, judge: judge{doc: s.doc, pool: known},
		host: s.address, seed: seed, steps: steps, failures: map[string]string{}, answered: map[string]map[int]int{},
	}
}

// play makes as many requests as a session makes, and more until the time is over.
func (s *session) play(t *testing.T, atLeast time.Duration) {
	t.Helper()
	s.furnish(t)
	s.askForEach(t)
	for end := time.Now().Add(atLeast); s.made < s.steps || time.Now().Before(end); {
		if s.chance(3) {
			s.storm(t)
			continue
		}
		s.ask(t, s.next())
	}
}

// furnish gives both tenants something to begin with.
func (s *session) furnish(t *testing.T) {
	t.Helper()
	for _, who := range s.actors[:reader] {
		body := []byte(`{"definitions":[` + strings.Join(seeds, ",") + `]}`)
		for _, o := range s.doc.operationsNamed("apply") {
			got := s.ask(t, request{
				op: o, who: who, method: o.method, path: o.path, body: body, hasBody: true, proper: true,
				headers: [][2]string{{"Content-Type", "application/json"}},
			})
			require.Equal(t, http.StatusOK, got.status, "%s", got.body)
			require.Contains(t, string(got.body), `"failed":0`)
		}
	}
}

// askForEach lets everybody ask for each operation, as it should be asked for.
func (s *session) askForEach(t *testing.T) {
	t.Helper()
	for range 2 {
		for _, o := range s.doc.operations {
			for _, who := range s.actors {
				s.ask(t, s.compose(o, who, 0))
			}
		}
	}
}

func (d *document) operationsNamed(id string) []*operation {
	var found []*operation
	for _, o := range d.operations {
		if o.id == id {
			found = append(found, o)
		}
	}
	return found
}

// storm sends the same change many times at once, and others that conflict
// with it.
func (s *session) storm(t *testing.T) {
	t.Helper()
	o := one(s.dice, s.doc.operations)
	for o.reads() {
		o = one(s.dice, s.doc.operations)
	}
	who := s.actors[s.IntN(reader)]
	same := s.compose(o, who, 0)
	all := []request{same, same, same, same, s.compose(o, who, 0), s.compose(o, who, 5)}
	for _, follow := range s.doc.operationsNamed("listTenantEvents") {
		r := s.compose(follow, who, 0)
		r.headers = append(r.headers, [2]string{"Accept", streamMedia})
		all = append(all, r)
	}
	if len(same.names) > 0 { // Another change of the same thing.
		for _, other := range s.doc.operations {
			if !other.reads() && other.noun() == o.noun() && len(all) < 11 {
				r := s.compose(other, who, 0)
				if len(r.names) == 1 {
					r.path = strings.Replace(other.path, other.path[strings.Index(other.path, "{"):strings.Index(other.path, "}")+1],
						same.names[0], 1)
					r.foreign = same.foreign
					all = append(all, r)
				}
			}
		}
	}
	answers := make([]answer, len(all))
	errs := make([]error, len(all))
	var group sync.WaitGroup
	for i, r := range all {
		group.Go(func() { answers[i], errs[i] = r.send(t.Context(), s.host) })
	}
	group.Wait()
	for i, r := range all {
		s.made++
		s.look(t, r, answers[i], errs[i])
	}
}

// ask makes a request and judges its answer.
func (s *session) ask(t *testing.T, r request) answer {
	t.Helper()
	s.made++
	a, err := r.send(t.Context(), s.host)
	s.look(t, r, a, err)
	return a
}

// look judges an answer, learns from it, and keeps what is wrong with it.
func (s *session) look(t *testing.T, r request, a answer, err error) {
	t.Helper()
	found := s.verdict(r, a, err)
	if err == nil {
		if s.answered[r.op.id] == nil {
			s.answered[r.op.id] = map[int]int{}
		}
		s.answered[r.op.id][a.status]++
		if r.isOperation() {
			s.pool.learn(r.op, r.who, a.body)
		}
	}
	for _, f := range found {
		key := r.op.id + ": " + f.rule
		if _, ok := s.failures[key]; ok {
			continue
		}
		small, again := s.shrink(t.Context(), r, f.rule)
		if f.rule == "no failure" && !again && a.status != http.StatusInternalServerError {
			t.Logf("seed %d, step %d: %s: status %d, once: something behind the API was too slow", s.seed, s.made, r.op.id,
				a.status)
			continue
		}
		note := "the same with what did not matter taken away"
		if !again {
			note = "it did not happen again when it was asked for once more; this is the request that it happened with"
		}
		s.failures[key] = fmt.Sprintf("seed %d, step %d: %s: %s: %s\n  %s:\n  %s\n  it answered %d %.600q", s.seed, s.made,
			r.op.id, f.rule, f.detail,
			note, small.curl(s.host), a.status, a.body)
	}
}

func (s *session) verdict(r request, a answer, err error) []fault {
	switch {
	case err != nil && r.broken:
		return nil
	case err != nil:
		return []fault{{"answers", err.Error()}}
	}
	return s.judge.faults(r, a)
}

// shrink takes parts away from a request that breaks a rule, as long as it does.
func (s *session) shrink(ctx context.Context, r request, rule string) (small request, again bool) {
	breaks := func(r request) bool {
		a, err := r.send(ctx, s.host)
		for _, f := range s.verdict(r, a, err) {
			if f.rule == rule {
				return true
			}
		}
		return false
	}
	if !breaks(r) {
		return r, false
	}
	for tries, smaller := 0, true; smaller && tries < 80; {
		smaller = false
		for _, less := range r.smaller() {
			if tries++; breaks(less) {
				r, smaller = less, true
				break
			}
		}
	}
	return r, true
}

// smaller returns the requests that lack one part of r each.
func (r request) smaller() []request {
	var all []request
	for i := range r.query {
		if r.proper { // It would not be without what is required.
			break
		}
		less := r.clone()
		less.query = append(less.query[:i], less.query[i+1:]...)
		all = append(all, less)
	}
	for i := range r.headers {
		less := r.clone()
		less.headers = append(less.headers[:i], less.headers[i+1:]...)
		all = append(all, less)
	}
	if !r.hasBody {
		return all
	}
	less := r.clone()
	less.body, less.hasBody = nil, false
	all = append(all, less)
	v, err := decode(r.body)
	if err != nil {
		for n := len(r.body) / 2; n > 0 && len(all) < 20; n /= 2 {
			cut := r.clone()
			cut.body = append(cut.body[:0], r.body[n:]...)
			all = append(all, cut)
			cut = r.clone()
			cut.body = cut.body[:len(r.body)-n]
			all = append(all, cut)
		}
		return all
	}
	for _, w := range without(v) {
		if raw, err := marshal(w); err == nil {
			less := r.clone()
			less.body = raw
			all = append(all, less)
		}
	}
	return all
}

// without returns copies of a value that lack one member or element each.
func without(v any) []any {
	var all []any
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sorted(v) {
			rest := map[string]any{}
			for other, value := range v {
				if other != name {
					rest[other] = value
				}
			}
			all = append(all, rest)
			for _, w := range without(v[name]) {
				changed := map[string]any{name: w}
				maps.Copy(changed, rest)
				all = append(all, changed)
			}
		}
	case []any:
		for i := range v {
			rest := append(append([]any{}, v[:i]...), v[i+1:]...)
			all = append(all, rest)
			for _, w := range without(v[i]) {
				changed := append([]any{}, v...)
				changed[i] = w
				all = append(all, changed)
			}
		}
	}
	return all
}
