package fuzz_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// generator makes requests, one after another.
type generator struct {
	dice
	doc    *document
	pool   *pool
	actors []actor
}

// next makes a request: a third are valid by the description, a third nearly, a
// third hostile.
func (g generator) next() request {
	return g.compose(one(g.dice, g.doc.operations), g.someone(), one(g.dice, []int{0, 12, 35}))
}

func (g generator) someone() actor {
	switch n := g.IntN(100); {
	case n < 50:
		return g.actors[ann]
	case n < 85:
		return g.actors[bob]
	default:
		return g.actors[reader+g.IntN(len(g.actors)-reader)]
	}
}

// compose makes a request for an operation in which so many percent of the
// values are wrong on purpose.
func (g generator) compose(o *operation, who actor, worst int) request {
	w := writer{dice: g.dice, doc: g.doc, pool: g.pool, who: who, worst: worst}
	r := request{op: o, who: who, method: o.method, path: o.path, proper: worst == 0}
	for _, p := range o.parameters {
		if p.in != "path" && !p.required && !g.chance(25) {
			continue
		}
		switch p.in {
		case "path":
			name := g.pathName(w, &r, p)
			r.names = append(r.names, name)
			r.path = strings.Replace(r.path, "{"+p.name+"}", url.PathEscape(name), 1)
		case "query":
			r.query = append(r.query, url.QueryEscape(p.name)+"="+url.QueryEscape(plain(w.value(p.name, p.schema, 0))))
		case "header":
			r.headers = append(r.headers, [2]string{p.name, headerSafe(plain(w.value(p.name, p.schema, 0)))})
		}
	}
	g.addStream(w, &r)
	g.addBody(w, &r)
	if worst > 0 {
		g.twist(&r, worst)
	}
	return r
}

// pathName names something: most often what there is, at times what is
// another tenant's or nothing's.
func (g generator) pathName(w writer, r *request, p parameter) string {
	noun := r.op.noun()
	if strings.TrimSuffix(noun, "s") != p.name && p.name != "id" {
		known := append(g.pool.of(string(w.who.tenant), p.name+"s"), g.pool.had(string(w.who.tenant), p.name)...)
		if len(known) > 0 && g.chance(80) {
			return one(g.dice, known)
		}
	}
	if w.worst > 0 && g.chance(w.worst) {
		return w.nasty()
	}
	if w.who.tenant != "" && g.chance(12) {
		other := g.actors[ann].tenant
		if w.who.tenant == other {
			other = g.actors[bob].tenant
		}
		for _, name := range g.pool.of(string(other), noun) {
			if g.chance(40) && idPattern.MatchString(name) && g.pool.belongsToOthers(string(w.who.tenant), name) {
				r.foreign = true
				return name
			}
		}
	}
	known := g.pool.of(string(w.who.tenant), noun)
	if len(known) == 0 || g.chance(5) {
		return plain(w.text(p.schema))
	}
	return g.recent(known)
}

func (g generator) addBody(w writer, r *request) {
	media := ""
	for _, m := range sortedKeys(r.op.bodies) {
		if media == "" || g.chance(30) {
			media = m
		}
	}
	if media == "" || !r.op.bodyRequired && g.chance(10) {
		return
	}
	raw, err := marshal(w.value("body", r.op.bodies[media], 0))
	if err != nil {
		raw = []byte(`{"a":1e999}`) // A number that no encoder writes.
	}
	r.body, r.hasBody = raw, true
	r.headers = append(r.headers, [2]string{"Content-Type", media})
}

// marshal encodes a value, raw messages as they are: even if they are no JSON.
func marshal(v any) ([]byte, error) {
	switch v := v.(type) {
	case json.RawMessage:
		return v, nil
	case map[string]any:
		var b bytes.Buffer
		for _, name := range sorted(v) {
			value, err := marshal(v[name])
			if err != nil {
				return nil, err
			}
			key, _ := json.Marshal(name)
			fmt.Fprintf(&b, ",%s:%s", key, value)
		}
		return append(append([]byte("{"), bytes.TrimPrefix(b.Bytes(), []byte(","))...), '}'), nil
	case []any:
		parts := make([][]byte, len(v))
		for i := range v {
			var err error
			if parts[i], err = marshal(v[i]); err != nil {
				return nil, err
			}
		}
		return append(append([]byte("["), bytes.Join(parts, []byte(","))...), ']'), nil
	default:
		return json.Marshal(v)
	}
}

// twist changes a request below what a schema knows of: bytes of the body,
// media types, headers, the method, the path as it is written.
func (g generator) twist(r *request, worst int) {
	twists := []func(*request){
		g.twistBody, g.twistBody, g.twistBody, g.twistQuery, g.twistHeaders, g.twistHeaders, g.twistPath, g.twistMethod,
	}
	for g.chance(worst) {
		one(g.dice, twists)(r)
	}
}

func (g generator) twistBody(r *request) {
	if !r.hasBody {
		if g.chance(30) {
			r.body, r.hasBody = []byte(one(g.dice, nastyBodies)), true
		}
		return
	}
	at := g.IntN(len(r.body) + 1)
	switch g.IntN(9) {
	case 0:
		r.body = []byte(one(g.dice, nastyBodies))
	case 1:
		r.body = r.body[:at]
	case 2: // A key twice.
		r.body = bytes.Replace(r.body, []byte("{"), []byte(`{"agent":"x","definitions":[],"name":1,"name":"n",`), 1)
	case 3:
		r.body = append(r.body, one(g.dice, []string{"x", "{}", "\x00", ",", "]"})...)
	case 4:
		r.body = append([]byte("\xef\xbb\xbf"), r.body...)
	case 5:
		r.body = bytes.Join([][]byte{r.body[:at], r.body[at:]},
			[]byte(one(g.dice, []string{"\x00", "\xff", "\\u0000", "\\ud800", "1e400", `"`})))
	case 6: // A key of another case, which definitions may have.
		if !slices.Contains([]string{"createTool", "updateTool", "createAgent", "updateAgent"}, r.op.id) {
			r.body = bytes.ToUpper(r.body)
		}
	case 7: // More than is read.
		if g.chance(10) {
			r.body = append(r.body, bytes.Repeat([]byte(" "), one(g.dice, []int{1 << 20, 9 << 20}))...)
		}
	case 8:
		r.body = append(append([]byte(`{"definitions":[`), r.body...), "]}"...)
	}
}

func (g generator) twistQuery(r *request) {
	switch g.IntN(4) {
	case 0:
		r.query = append(r.query, url.QueryEscape(g.nastyName())+"="+url.QueryEscape(one(g.dice, nastyTexts)))
	case 1: // One of them twice, or with nothing.
		if len(r.query) > 0 {
			name, _, _ := strings.Cut(one(g.dice, r.query), "=")
			r.query = append(r.query, name+one(g.dice, []string{"", "=", "=1", "=%00", "[]=1"}))
		}
	case 2:
		for _, p := range r.op.parameters {
			if p.in == "query" && g.chance(30) {
				r.query = append(r.query, p.name+"="+url.QueryEscape(one(g.dice, append(nastyNumbers, nastyTexts...))))
			}
		}
	case 3: // A cursor, cut or flipped.
		for _, cursor := range g.pool.had(string(r.who.tenant), "next") {
			at := g.IntN(len(cursor) + 1)
			r.query = append(
				r.query,
				"cursor="+url.QueryEscape(cursor[:at]+one(g.dice, []string{"", "A", "=", "%"})+
					cursor[min(at+g.IntN(2), len(cursor)):]),
			)
			return
		}
	}
}

func (g generator) nastyName() string {
	return one(g.dice, []string{"limit", "cursor", "skip", "tenant_id", "tenant", "a[b]", "", "limit\x00", "LIMIT"})
}

func (g generator) twistHeaders(r *request) {
	add := func(name string, values ...string) {
		r.headers = append(r.headers, [2]string{name, one(g.dice, values)})
	}
	switch g.IntN(10) {
	case 0:
		r.headers = drop(r.headers, "Content-Type")
		add("Content-Type", "text/plain", "application/xml", "application/json; charset=utf-16",
			"multipart/form-data; boundary=x",
			"application/x-www-form-urlencoded", ";", "application/cbor", "a/b/c", "application/json;=",
			"application/merge-patch+json")
	case 1:
		r.headers = drop(r.headers, "Content-Type")
	case 2:
		add("Accept", "text/html", "application/xml", "*/*;q=0", "application/cbor", "text/event-stream", ";;;",
			"application/json;q=nine")
	case 3:
		add("If-Match", "*", `"1"`, `W/"1"`, `"`, "1", "-1", `"99999999999999999999"`, `"a", "b"`, "")
	case 4:
		add("Idempotency-Key", "", "a", "same", strings.Repeat("k", 300), "\xff", "a b", "é", "../..", `"quoted"`)
	case 5:
		add("Last-Event-ID", "", "0", "-1", "9999999999999999999999", "abc", "1,2", "\xff")
	case 6:
		add("X-Request-Id", "", strings.Repeat("i", 200), "<script>", "a b", "\xff", "ok-1")
	case 7:
		add("Traceparent", "00-0-0-0", "00-"+strings.Repeat("f", 32)+"-"+strings.Repeat("f", 16)+"-01",
			"00-"+strings.Repeat("z", 32)+"-a-b", "-", "00-"+strings.Repeat("<", 32)+"-a-b")
	case 8:
		add("X-Forwarded-For", "127.0.0.1", "'", strings.Repeat("1,", 500))
		add("X-Tenant-Id", string(g.actors[bob].tenant), "x")
		add("Content-Encoding", "gzip", "br", "identity", "x")
	case 9:
		add("Authorization", "Basic eDp5", "Bearer", "Bearer  ", "bearer \xff", "Bearer tck_"+strings.Repeat("a", 9000))
	}
}

func drop(headers [][2]string, name string) [][2]string {
	kept := headers[:0]
	for _, h := range headers {
		if h[0] != name {
			kept = append(kept, h)
		}
	}
	return kept
}

func (g generator) twistPath(r *request) {
	switch g.IntN(6) {
	case 0:
		r.path += "/"
	case 1:
		r.path = strings.Replace(
			r.path, "/v1/", one(g.dice, []string{"/v1//", "/v1/../v1/", "/V1/", "//v1/", "/v1/%2e%2e/v1/", "/v2/"}), 1,
		)
	case 2:
		r.path += one(g.dice, []string{"%00", "%ff", "%2f", "/extra", ";a=b", "%20", "%25", ".json"})
	case 3:
		r.path = "http://127.0.0.1" + r.path
	case 4:
		r.path += one(g.dice, []string{"%", "%z", "\x7f", " x", "\xff"})
		r.broken = true
	case 5:
		r.path = "/" + one(g.dice, []string{
			"", "*", "v1", "v1/", "openapi", "openapi.json", "schemas/Tool.json", "docs", "debug/pprof/", "healthz/x",
			"metrics/x",
		})
	}
}

func (g generator) twistMethod(r *request) {
	r.method = one(g.dice, []string{
		http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead,
		http.MethodOptions, http.MethodTrace, "BREW", "get",
	})
}

// plain writes a value as the text of a parameter.
func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.RawMessage:
		return string(v)
	case nil:
		return ""
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = plain(v[i])
		}
		return strings.Join(parts, ",")
	default:
		return fmt.Sprint(v)
	}
}

// headerSafe takes from a text what would end a header.
func headerSafe(s string) string {
	return strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(s)
}

func sortedKeys(m map[string]node) []string {
	all := make(map[string]any, len(m))
	for name := range m {
		all[name] = nil
	}
	return sorted(all)
}
