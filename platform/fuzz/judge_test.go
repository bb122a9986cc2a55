package fuzz_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ofOneself are the operations that need no permission: who one is, and one's own browsers.
var ofOneself = map[string]bool{
	"getMe": true, "listOwnSessions": true, "endOwnSession": true, "endOtherSessions": true,
}

// judge says what is wrong with an answer.
type judge struct {
	doc    *document
	pool   *pool
	outage bool // A dependency was taken away.
}

// fault is something wrong with an answer. Its rule names the check.
type fault struct{ rule, detail string }

// problemMedia is the media type of every error.
const problemMedia = "application/problem+json"

// codes are the kinds that package api publishes, and their statuses.
var codes = map[string]int{
	"invalid": 422, "not_found": 404, "denied": 403, "conflict": 409, "cancelled": 409, "rate_limited": 429,
	"unavailable": 503, "timeout": 504, "unknown": 502, "internal": 500,
}

// protocolStatuses are those with which HTTP itself refuses, under another code.
var protocolStatuses = []int{400, 401, 405, 406, 408, 411, 412, 413, 414, 415, 428, 431}

// insides are what only a defect lets out.
var insides = regexp.MustCompile(`SQLSTATE|\bpgx\.|pgconn|goroutine \d|runtime error|\.go:\d+|/pkg/mod/|nil pointer|json: |strconv\.|dial tcp|postgres://`)

var auditObject = regexp.MustCompile(`"object":\{"kind":"[a-z_]+"[^{}]*\}`)

// faults returns what is wrong with the answer to a request.
func (j judge) faults(r request, a answer) []fault {
	var all []fault
	add := func(rule, format string, args ...any) { all = append(all, fault{rule, fmt.Sprintf(format, args...)}) }

	sent := r.bytes("")
	if secret := j.pool.told(a.body, sent); secret != "" {
		add("no secrets", "the answer holds a secret: %.12s…", secret)
	}
	if found := insides.FindString(string(a.body)); found != "" && !bytes.Contains(sent, []byte(found)) {
		add("no insides", "the answer tells of the inside: %q", found)
	}
	// A row about a refused request names what was asked for, be it another tenant's.
	for _, id := range idPattern.FindAllString(auditObject.ReplaceAllString(string(a.body), ""), -1) {
		if r.who.tenant != "" && !bytes.Contains(sent, []byte(id)) && j.pool.belongsToOthers(string(r.who.tenant), id) {
			add("tenants apart", "the answer holds %s, which is another tenant's", id)
		}
	}
	if r.broken && a.status == http.StatusBadRequest || a.status == http.StatusRequestHeaderFieldsTooLarge {
		return all // By the HTTP server itself, before it is a request.
	}
	if a.status >= 500 && !j.mayFail(r, a) {
		add("no failure", "status %d", a.status)
	}
	page := strings.HasPrefix(a.header.Get("Content-Type"), "text/html") // A file of the console: it asks for nothing.
	if a.header.Get("X-Request-Id") == "" && !r.broken && !page {
		add("traceable", "no X-Request-Id")
	}
	if a.status < 300 && r.foreign {
		add("tenants apart", "another tenant's thing was found")
	}
	if r.foreign && r.proper && a.status != http.StatusNotFound && r.op.may(r.who.permissions) && a.status < 500 &&
		!r.named() && r.op.id != "removeSpaceMember" { // Members are named by kind, so that an id alone is invalid.
		add("tenants apart", "another tenant's thing is answered with %d instead of 404", a.status)
	}
	if a.status < 300 && r.op.secured && r.isOperation() && !r.op.may(r.who.permissions) && !ofOneself[r.op.id] {
		add("permissions", "%s may not do that", r.who.name)
	}
	if !r.isOperation() {
		if a.status >= 400 {
			all = append(all, j.problem(r, a)...)
		}
		return all
	}
	return append(all, j.documented(r, a)...)
}

// named reports whether the request has an idempotency key, so that its answer
// may be that of an earlier request with the same key.
func (r request) named() bool {
	return slices.ContainsFunc(r.headers, func(h [2]string) bool { return h[0] == "Idempotency-Key" })
}

// isOperation reports whether the request still is for its operation: neither
// its path nor its method was altered.
func (r request) isOperation() bool {
	if r.method != r.op.method || r.broken {
		return false
	}
	want, have := strings.Split(r.op.path, "/"), strings.Split(r.path, "/")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if want[i] != have[i] && !strings.HasPrefix(want[i], "{") || have[i] == "" != (want[i] == "") {
			return false
		}
	}
	return true
}

// mayFail reports whether a failure is right: a dependency is down, or the
// answer is the failure of a call by another caller, whose run the problem
// names.
func (j judge) mayFail(r request, a answer) bool {
	if j.outage && (a.status == http.StatusServiceUnavailable || a.status == http.StatusGatewayTimeout) {
		return true
	}
	var p struct{ Instance string }
	_ = json.Unmarshal(a.body, &p)
	return a.status != http.StatusInternalServerError && p.Instance != "" && r.op.method == http.MethodPost
}

// documented holds an answer to the description of its operation.
func (j judge) documented(r request, a answer) []fault {
	media, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if a.header.Get("Content-Type") == "" {
		media, err = "", nil
	}
	if err != nil {
		return []fault{{"documented", "Content-Type: " + err.Error()}}
	}
	medias, ok := r.op.answers[strconv.Itoa(a.status)]
	if !ok && a.status >= 400 {
		medias, ok = r.op.answers["default"]
	}
	if !ok {
		return []fault{{"documented", fmt.Sprintf("status %d is not described", a.status)}}
	}
	var all []fault
	if a.status >= 400 && media == problemMedia {
		all = j.problem(r, a)
	}
	if len(medias) == 0 || r.method == http.MethodHead {
		if len(a.body) > 0 {
			all = append(all, fault{"documented", fmt.Sprintf("status %d has a body, and none is described", a.status)})
		}
		return all
	}
	compiled, ok := medias[media]
	switch {
	case !ok:
		return append(all, fault{
			"documented", fmt.Sprintf("status %d answers with %q, which is not described", a.status, media),
		})
	case a.cut:
		return append(all, j.stream(a)...)
	case compiled == nil || !strings.HasSuffix(media, "json"):
		return all
	}
	v, err := decode(a.body)
	if err == nil {
		err = compiled.Validate(v)
	}
	if err != nil {
		all = append(all, fault{"documented", fmt.Sprintf("the body of status %d is not as described: %#v", a.status, err)})
	}
	if a.status < 300 {
		all = append(all, j.accepted(r)...)
	}
	return all
}

// accepted holds a request that was accepted to the description: what it
// refuses must be refused.
func (j judge) accepted(r request) []fault {
	var all []fault
	given := map[string]bool{}
	for _, q := range r.query {
		name, _, _ := strings.Cut(q, "=")
		given[name] = true
	}
	for _, p := range r.op.parameters {
		if p.in == "query" && p.required && !given[p.name] {
			all = append(all, fault{"refused", "the parameter " + p.name + " is required"})
		}
	}
	for media, compiled := range r.op.bodySchemas {
		if r.op.id == "checkTool" { // What is wrong with a definition is its answer.
			break
		}
		if !r.hasBody || compiled == nil || !strings.HasSuffix(media, "json") || len(bytes.TrimSpace(r.body)) == 0 {
			continue
		}
		v, err := decode(r.body)
		if err == nil {
			err = compiled.Validate(j.doc.withoutNulls(r.op.bodies[media], v))
		}
		if err != nil {
			all = append(all, fault{"refused", fmt.Sprintf("the body is accepted, and the description refuses it: %#v", err)})
		}
	}
	return all
}

// problem holds an error to what every error is.
func (j judge) problem(r request, a answer) []fault {
	if r.method == http.MethodHead {
		return nil
	}
	var all []fault
	add := func(format string, args ...any) { all = append(all, fault{"problem", fmt.Sprintf(format, args...)}) }
	if media := a.header.Get("Content-Type"); media != problemMedia {
		add("the error is %q and no problem", media)
		return all
	}
	var p struct {
		Status    int    `json:"status"`
		Code      string `json:"code"`
		Title     string `json:"title"`
		Detail    string `json:"detail"`
		Retryable *bool  `json:"retryable"`
		TraceID   string `json:"trace_id"`
	}
	if err := json.Unmarshal(a.body, &p); err != nil {
		add("the problem is no JSON: %v", err)
		return all
	}
	status, known := codes[p.Code]
	switch {
	case !known:
		add("its code %q is not published", p.Code)
	case status != a.status && !slices.Contains(protocolStatuses, a.status):
		add("its code %q has the status %d, and it answered %d", p.Code, status, a.status)
	}
	if p.Status != a.status {
		add("its status %d is not that of the answer, %d", p.Status, a.status)
	}
	replayed := a.header.Get("Idempotent-Replayed") == "true" // It is what was answered then.
	if p.TraceID == "" || p.TraceID != a.header.Get("X-Request-Id") && !replayed {
		add("its trace_id %q is not that of the header, %q", p.TraceID, a.header.Get("X-Request-Id"))
	}
	if p.Retryable == nil {
		add("it does not say whether it is retryable")
	}
	if p.Title == "" || p.Detail == "" {
		add("it has no title or no detail")
	}
	return all
}

// decode decodes JSON as the validator wants it.
func decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("there is more after the value")
	}
	return v, nil
}
