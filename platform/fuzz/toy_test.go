package fuzz_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// toyDocument describes an API of things, which have a name.
const toyDocument = `{"openapi":"3.1.0","paths":{
 "/v1/things":{
  "get":{"operationId":"listThings","description":"Permission: ` + "`things.read`" + `.","security":[{"key":[]}],
   "parameters":[{"name":"limit","in":"query","schema":{"type":"integer","minimum":1,"maximum":20}}],
   "responses":{"200":{"content":{"application/json":{"schema":{"type":"object","required":["items"],
     "properties":{"items":{"type":"array","items":{"$ref":"#/components/schemas/Thing"}}}}}}},
    "default":{"content":{"application/problem+json":{"schema":{"type":"object"}}}}}},
  "post":{"operationId":"makeThing","description":"Permission: ` + "`things.write`" + `.","security":[{"key":[]}],
   "requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","additionalProperties":false,"required":["name"],
     "properties":{"name":{"type":"string","maxLength":20},"note":{"type":"string"}}}}}},
   "responses":{"201":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}},
    "default":{"content":{"application/problem+json":{"schema":{"type":"object"}}}}}}},
 "/v1/things/{id}":{
  "get":{"operationId":"getThing","description":"Permission: ` + "`things.read`" + `.","security":[{"key":[]}],
   "parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
   "responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}},
    "default":{"content":{"application/problem+json":{"schema":{"type":"object"}}}}}}}},
 "components":{"schemas":{"Thing":{"type":"object","additionalProperties":false,"required":["id","name"],
   "properties":{"id":{"type":"string","format":"uuid"},"name":{"type":"string"}}}}}}`

// toy serves the API of things, with one defect or none.
type toy struct {
	defect string
	actors []actor
	mu     sync.Mutex
	things []thing
}

type thing struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	tenant string
}

func (y *toy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.defect != "untraceable" {
		w.Header().Set("X-Request-Id", "trace")
	}
	var who actor
	for _, a := range y.actors {
		if a.key != "" && r.Header.Get("Authorization") == "Bearer "+a.key {
			who = a
		}
	}
	switch id, of := strings.CutPrefix(r.URL.Path, "/v1/things/"); {
	case who.tenant == "":
		y.refuse(w, http.StatusUnauthorized, "denied")
	case r.URL.Path == "/v1/things" && r.Method == http.MethodGet:
		y.list(w, r, who)
	case r.URL.Path == "/v1/things" && r.Method == http.MethodPost:
		y.make(w, r, who)
	case of && r.Method == http.MethodGet:
		y.get(w, id, who)
	default:
		y.refuse(w, http.StatusNotFound, "not_found")
	}
}

func (y *toy) list(w http.ResponseWriter, r *http.Request, who actor) {
	if q := r.URL.RawQuery; q != "" && !strings.HasPrefix(q, "limit=") {
		y.refuse(w, http.StatusUnprocessableEntity, "invalid")
		return
	}
	items := []thing{}
	for _, t := range y.things {
		if t.tenant == string(who.tenant) || y.defect == "foreign list" {
			items = append(items, t)
		}
	}
	y.answer(w, http.StatusOK, map[string]any{"items": items})
}

func (y *toy) get(w http.ResponseWriter, id string, who actor) {
	for _, t := range y.things {
		switch {
		case t.ID != id:
		case t.tenant == string(who.tenant):
			y.answer(w, http.StatusOK, t)
			return
		case y.defect == "foreign thing":
			y.refuse(w, http.StatusForbidden, "denied")
			return
		}
	}
	y.refuse(w, http.StatusNotFound, "not_found")
}

func (y *toy) make(w http.ResponseWriter, r *http.Request, who actor) {
	if who.name == "reader" && y.defect != "permission" {
		y.refuse(w, http.StatusForbidden, "denied")
		return
	}
	raw, _ := io.ReadAll(r.Body)
	var in struct{ Name, Note *string }
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	v, err := decode(raw)
	fields, object := v.(map[string]any)
	if err == nil {
		err = dec.Decode(&in)
	}
	_, named := fields["name"].(string) // Exactly so: Go's decoder takes NAME too.
	_, noted := fields["note"].(string)
	strict := len(fields) == 1 && named || len(fields) == 2 && named && noted
	switch {
	case y.defect == "fails" && err == nil && in.Name != nil && strings.Contains(*in.Name, "\x00"):
		y.refuse(w, http.StatusInternalServerError, "internal")
	case y.defect != "lenient" && (err != nil || !object || !strict || len([]rune(*in.Name)) > 20):
		y.refuse(w, http.StatusUnprocessableEntity, "invalid")
	default:
		t := thing{uuid.NewString(), "", string(who.tenant)}
		if in.Name != nil {
			t.Name = *in.Name
		}
		y.things = append(y.things, t)
		y.answer(w, http.StatusCreated, t)
	}
}

func (y *toy) answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	switch t, ok := v.(thing); {
	case y.defect == "misshapen" && ok:
		v = map[string]any{"id": t.ID}
	case y.defect == "secret" && ok:
		v = map[string]any{"id": t.ID, "name": plantedSecret}
	case y.defect == "insides" && ok:
		v = map[string]any{"id": t.ID, "name": "thing.go:17"}
	case y.defect == "undocumented" && status == http.StatusCreated:
		status = http.StatusAccepted
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (y *toy) refuse(w http.ResponseWriter, status int, code string) {
	if y.defect == "plain error" {
		http.Error(w, "no", status)
		return
	}
	if y.defect == "unpublished code" && status == http.StatusNotFound {
		code = "gone_fishing"
	}
	w.Header().Set("Content-Type", problemMedia)
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"title":"No","detail":"No.","status":%d,"code":%q,"retryable":false,"trace_id":"trace"}`,
		status, code)
}

// The fuzzer finds a planted defect of each sort, and none where there is none.
func TestFuzzerFinds(t *testing.T) {
	t.Parallel()
	for defect, rule := range map[string]string{
		"": "", "fails": "no failure", "untraceable": "traceable", "foreign list": "tenants apart",
		"foreign thing": "tenants apart",
		"permission":    "permissions", "lenient": "refused", "misshapen": "documented", "undocumented": "documented",
		"secret":  "no secrets",
		"insides": "no insides", "plain error": "problem", "unpublished code": "problem",
	} {
		t.Run("Defect "+defect, func(t *testing.T) {
			t.Parallel()
			p := toySession(t, defect)
			p.play(t, 0)
			if defect == "" {
				require.Empty(t, p.failures)
				return
			}
			var rules []string
			for key := range p.failures {
				_, found, _ := strings.Cut(key, ": ")
				rules = append(rules, found)
			}
			require.Contains(t, rules, rule, p.failures)
		})
	}
}

// A request that fails is reported without what did not matter.
func TestFuzzerShrinks(t *testing.T) {
	t.Parallel()
	p := toySession(t, "fails")
	var o *operation
	for _, each := range p.doc.operations {
		if each.id == "makeThing" {
			o = each
		}
	}
	p.ask(t, request{
		op: o, who: p.actors[ann], method: o.method, path: o.path, query: []string{"a=b"}, hasBody: true,
		headers: [][2]string{{"Accept", "x"}, {"Content-Type", "application/json"}},
		body:    []byte(`{"note":"long","name":"\u0000"}`),
	})
	require.Len(t, p.failures, 1)
	require.Contains(t, p.failures["makeThing: no failure"],
		`-X POST 'http://`+p.host+`/v1/things' -H "Authorization: Bearer $KEY_OF_ANN" --data-binary '{"name":"\u0000"}'`)
	require.Contains(t, p.failures["makeThing: no failure"], "seed 1, step 1:")
}

// A seed asks for the same each time.
func TestSeedReplays(t *testing.T) {
	t.Parallel()
	d, err := parseDocument([]byte(toyDocument))
	require.NoError(t, err)
	var asked [2]string
	for i := range asked {
		actors := toyActors()
		g := generator{newDice(7), d, newPool(actors, nil), actors}
		for range 500 {
			r := g.next()
			asked[i] += string(r.bytes("host"))
		}
	}
	require.Equal(t, asked[0], asked[1])
}

func toyActors() []actor {
	return []actor{
		ann:      {name: "ann", tenant: "a", key: "key-of-ann-0001", permissions: []string{"*"}},
		bob:      {name: "bob", tenant: "b", key: "key-of-bob-0002", permissions: []string{"*"}},
		reader:   {name: "reader", tenant: "a", key: "key-of-reader-3", permissions: []string{"things.read"}},
		nobody:   {name: "nobody"},
		impostor: {name: "impostor", key: "key-of-impostor"},
	}
}

func toySession(t *testing.T, defect string) *session {
	t.Helper()
	y := &toy{defect: defect, actors: toyActors()}
	server := httptest.NewServer(y)
	t.Cleanup(server.Close)
	d, err := parseDocument([]byte(toyDocument))
	require.NoError(t, err)
	require.Empty(t, d.faults)
	p := newSession(&site{address: strings.TrimPrefix(server.URL, "http://"), actors: y.actors, doc: d}, 1)
	p.steps = 400
	return p
}
