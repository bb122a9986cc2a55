package openapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/platform/openapi"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// service is a server behind imported tools, which run within the middleware of
// the platform.
type service struct {
	url   string
	tools map[string]*openapi.Operation
	run   tool.Executor
}

// serve imports a shape whose tools call handler.
func (s shape) serve(t *testing.T, handler http.HandlerFunc) *service {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	gate, err := egress.New(egress.Config{Policy: func(tool.TenantID) egress.Policy {
		return egress.Policy{AllowHosts: []string{strings.TrimPrefix(server.URL, "http://")}}
	}})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	vars := map[string]string{
		"TOOLCRIB_SECRET_TOKEN": "planted-token", "TOOLCRIB_SECRET_TOKEN_HOSTS": "127.0.0.1",
		"TOOLCRIB_SECRET_LOGIN": "ada:planted-login", "TOOLCRIB_SECRET_LOGIN_HOSTS": "127.0.0.1",
	}
	var run tool.Executor = httpcall.New(gate, secret.Env{
		Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
	})
	schemas := schema.New(32)
	for _, layer := range slices.Backward(middleware.Standard(middleware.Options{
		Logger: slog.New(slog.DiscardHandler), Validate: func(ctx context.Context, s, value json.RawMessage) error {
			compiled, err := schemas.Compile(s)
			if err != nil {
				return fmt.Errorf("compiling: %w", err)
			}
			return compiled.Validate(ctx, value)
		},
	})) {
		run = layer(run)
	}
	opts := s.opts
	opts.Upstream = server.URL
	out := &service{url: server.URL, run: run, tools: make(map[string]*openapi.Operation)}
	r := mapped(t, s.raw(t), opts)
	for i := range r.Operations {
		if o := &r.Operations[i]; o.Spec != nil {
			out.tools[o.Spec.Slug] = o
		}
	}
	return out
}

// call calls an imported tool with arguments that its schema takes.
func (s *service) call(t *testing.T, slug, arguments string) *tool.Result {
	t.Helper()
	o := s.tools[slug]
	require.NotNil(t, o, slug)
	input, err := schema.New(1).Compile(o.Spec.InputSchema)
	require.NoError(t, err)
	require.NoError(t, input.Validate(t.Context(), json.RawMessage(arguments)))
	res, err := s.run.Execute(t.Context(), &tool.Call{
		CallIdentity: tool.CallIdentity{CallID: "call", EffectID: "effect", Principal: tool.Principal{Tenant: "t"}},
		Attempt:      1,
		Egress:       o.Spec.EgressClass,
		Arguments:    json.RawMessage(arguments),
		Version:      &tool.Version{Slug: slug, Number: "1.0.0", Snapshot: tool.Snapshot{Definition: o.Spec.Definition}},
	})
	require.NoError(t, err)
	require.False(t, res.IsError, "%+v", res.Content)
	return res
}

// answer writes JSON.
func answer(w http.ResponseWriter, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, format, args...)
}

func TestCodeHostingCall(t *testing.T) {
	t.Parallel()
	s := shapes["codehosting"].serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/repos/ada/engine/labels" || r.Header.Get("Authorization") != "Bearer planted-token" {
			http.Error(w, r.RequestURI, http.StatusBadRequest)
			return
		}
		if r.URL.Query().Get("page") == "2" {
			answer(w, `[{"id": "third"}]`) // The document says that it is a number.
			return
		}
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?per_page=2&page=2>; rel="next"`, r.Host, r.URL.Path))
		answer(w, `[{"id": 1}, {"id": 2, "body": null}]`)
	})
	got := s.call(t, "listReposLabel", `{"owner":"ada","repo":"engine","per_page":2}`)
	require.JSONEq(t, `{"items":[{"id":1},{"id":2,"body":null},{"id":"third"}],"pages":2,"complete":true}`,
		string(got.Structured))
	require.Contains(t, got.Mismatch, "/items/2/id")
	require.Equal(t, http.MethodDelete, s.tools["deleteReposTagLabel"].Method)
}

func TestTelephonyCall(t *testing.T) {
	t.Parallel()
	const account = "AC0123456789abcdef0123456789abcdef"
	s := shapes["telephony"].serve(t, func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "planted-login" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch {
		case r.Method == http.MethodPost:
			if r.ParseForm() != nil || r.PostForm.Get("Body") != "Grüße, 日本" ||
				!slices.Equal(r.PostForm["MediaUrl"], []string{"a", "b"}) {
				http.Error(w, r.PostForm.Encode(), http.StatusBadRequest)
				return
			}
			answer(w, `{"sid": "SM1", "status": "queued", "price": "-0.00750"}`) // The document says that it is a number.
		case r.URL.Query().Get("PageToken") != "":
			answer(w, `{"messages": [{"sid": "SM2"}], "next_page_uri": null}`)
		default:
			if r.URL.RawQuery != "DateCreated%3C=2026-02-01T00%3A00%3A00Z&DateCreated%3E=2026-01-01T00%3A00%3A00Z" {
				http.Error(w, r.URL.RawQuery, http.StatusBadRequest)
				return
			}
			answer(w, `{"messages": [{"sid": "SM1"}], "next_page_uri": "%s?Page=1&PageToken=PASM1"}`, r.URL.Path)
		}
	})
	list := s.call(
		t,
		"listMessage",
		`{"AccountSid":"`+account+`","DateCreated_before":"2026-02-01T00:00:00Z","DateCreated_after":"2026-01-01T00:00:00Z"}`,
	)
	require.JSONEq(t, `{"items":[{"sid":"SM1"},{"sid":"SM2"}],"pages":2,"complete":true}`, string(list.Structured))
	require.Empty(t, list.Mismatch)
	sent := s.call(t, "createMessage", `{"AccountSid":"`+account+`","To":"+41","Body":"Grüße, 日本","MediaUrl":["a","b"]}`)
	require.Contains(t, sent.Mismatch, "/price")
	require.Contains(t, string(sent.Structured), "-0.00750")
}

func TestMessagingCall(t *testing.T) {
	t.Parallel()
	s := shapes["messaging"].serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer planted-token" || r.URL.Query().Has("token") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch {
		case r.URL.Path == "/chat.postMessage":
			if r.ParseForm() != nil || r.PostForm.Has("token") || r.PostForm.Get("text") != "Καλημέρα" ||
				r.PostForm.Get("users") != "U1,U2" {
				http.Error(w, r.PostForm.Encode(), http.StatusBadRequest)
				return
			}
			answer(w, `{"ok": true, "ts": 1767225600.0001, "channel": null}`) // The document says that it is a text.
		case r.URL.Query().Get("cursor") == "next==":
			answer(w, `{"ok": true, "conversations": [{"id": "C3"}], "response_metadata": {"next_cursor": ""}}`)
		case r.URL.Query().Get("types") == "public,private":
			answer(
				w, `{"ok": true, "conversations": [{"id": "C1"}, {"id": "C2"}], "response_metadata": {"next_cursor": "next=="}}`,
			)
		default:
			http.Error(w, r.RequestURI, http.StatusBadRequest)
		}
	})
	list := s.call(t, "listConversations", `{"types":["public","private"]}`)
	require.JSONEq(
		t,
		`{"items":[{"id":"C1"},{"id":"C2"},{"id":"C3"}],"pages":2,"complete":true}`,
		string(list.Structured),
	)
	posted := s.call(t, "postChatMessage", `{"channel":"C1","text":"Καλημέρα","users":["U1","U2"]}`)
	require.Contains(t, posted.Mismatch, "/ts")
	require.Contains(t, string(posted.Structured), "1767225600.0001")
}

func TestModelServingCall(t *testing.T) {
	t.Parallel()
	s := shapes["models"].serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer planted-token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch r.URL.Path {
		case "/chat/completions":
			raw, _ := io.ReadAll(r.Body)
			if string(raw) != `{"messages":[{"content":[{"text":"नमस्ते","type":"text"}],"role":"user"}],"model":"small"}` {
				http.Error(w, string(raw), http.StatusBadRequest)
				return
			}
			// A reason of its own.
			answer(w, `{"id": "c1", "choices": [{"finish_reason": "content_filter", "message": {"content": null}}]}`)
		case "/files":
			file, header, err := r.FormFile("file")
			if err != nil || header.Filename != "données.txt" || r.FormValue("purpose") != "batch" {
				http.Error(w, fmt.Sprint(err, header), http.StatusBadRequest)
				return
			}
			raw, _ := io.ReadAll(file)
			answer(w, `{"id": "f1", "bytes": %d}`, len(raw))
		default:
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write([]byte{0, 1, 2})
		}
	})
	got := s.call(
		t, "createChatCompletion",
		`{"model":"small","messages":[{"content":[{"text":"नमस्ते","type":"text"}],"role":"user"}]}`,
	)
	require.Contains(t, got.Mismatch, "/choices/0/finish_reason")
	require.Contains(t, string(got.Structured), "content_filter")
	uploaded := s.call(t, "createFile", `{"file":"aGVsbG8=","file_file_name":"données.txt","purpose":"batch"}`)
	require.JSONEq(t, `{"id":"f1","bytes":5}`, string(uploaded.Structured))
	require.Empty(t, uploaded.Mismatch)
	require.Equal(t, []byte{0, 1, 2}, s.call(t, "downloadFile", `{"file_id":"f1"}`).Content[0].Data)
}

func TestHostingCall(t *testing.T) {
	t.Parallel()
	s := shapes["hosting"].serve(t, func(w http.ResponseWriter, r *http.Request) {
		page := r.URL.Query().Get("page")
		switch {
		case r.Header.Get("Authorization") != "Bearer planted-token":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/v2/registry" && page == "3":
			answer(w, `{"registries": []}`)
		case r.URL.Path == "/v2/registry":
			answer(w, `{"registries": [{"page": "%s"}]}`, page)
		case page == "2":
			// The document says a list.
			answer(w, `{"droplets": [{"id": 2, "tags": null}], "links": {"pages": {"last": "x"}}, "meta": {"total": 2}}`)
		default:
			answer(w, `{"droplets": [{"id": 1}], "links": {"pages": {"next": "http://%s/v2/droplets?page=2&tag_name=%s"}}}`,
				r.Host, url.QueryEscape(r.URL.Query().Get("tag_name")))
		}
	})
	got := s.call(t, "listDroplets", `{"tag_name":"прод"}`)
	require.JSONEq(t, `{"items":[{"id":1},{"id":2,"tags":null}],"pages":2,"complete":true}`, string(got.Structured))
	require.Contains(t, got.Mismatch, "/items/1/tags")
	numbered := s.call(t, "listRegistries", `{}`)
	require.JSONEq(t, `{"items":[{"page":"1"},{"page":"2"}],"pages":3,"complete":true}`, string(numbered.Structured))
	require.Contains(t, s.tools["listDroplets2"].Warnings[0],
		"the slug listDroplets is already used by GET /v2/droplets: the tool is called listDroplets2")
}

// scripts are words in several scripts, with characters of one to four bytes.
var scripts = []string{
	"Zürich",
	"日本",
	"Ελλάδα",
	"кириллица",
	"العربية",
	"हिन्दी",
	"a🧰b",
	"e\u0301",
	"50% & more+=/?#",
}

// Parameters of the path, of the query and of forms are sent as their UTF-8,
// percent-encoded, in every script, and are read as what they were.
func TestScriptsAreEncoded(t *testing.T) {
	t.Parallel()
	document := func() m {
		return m{"openapi": "3.0.3", "info": m{"title": "Places", "version": "1"}, "paths": m{"/places/{name}": m{
			"parameters": l{
				parameter("path", "name", typed("string")), parameter("query", "q", typed("string")),
				parameter("query", "in Städten", arrayOf(typed("string"))),
			},
			"get": m{"operationId": "getPlace", "responses": answersWith("200", typed("object"))},
			"post": m{
				"operationId": "addPlace",
				"requestBody": m{"required": true, "content": inMedia("application/x-www-form-urlencoded", object(m{
					"wörd": typed("string"), "list": arrayOf(typed("string")),
					"map": m{"type": "object", "additionalProperties": typed("string")},
				}, "wörd"))}, "responses": answersWith("200", typed("object")),
			},
		}}}
	}
	isASCII := func(text string) bool {
		return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
	}
	s := shape{document: document, opts: openapi.Options{DocumentURL: "https://places.example/openapi.json"}}.serve(t,
		func(w http.ResponseWriter, r *http.Request) {
			raw, _ := io.ReadAll(r.Body)
			form, err := url.ParseQuery(string(raw))
			query, wrong := url.ParseQuery(r.URL.RawQuery)
			if err != nil || wrong != nil || !isASCII(r.RequestURI) || !isASCII(string(raw)) {
				http.Error(w, r.RequestURI+"\n"+string(raw), http.StatusBadRequest)
				return
			}
			seen, _ := json.Marshal(m{
				"path": strings.TrimPrefix(r.URL.Path, "/places/"), "query": query, "form": form, "uri": r.URL.EscapedPath(),
			})
			answer(w, "%s", seen)
		})
	for _, word := range scripts {
		if word == "50% & more+=/?#" {
			word = "50% & more+=?#" // A slash leads the request to another path, and is refused.
		}
		quoted, err := json.Marshal(word)
		require.NoError(t, err)
		var seen struct {
			Path, URI   string
			Query, Form url.Values
		}
		list := fmt.Sprintf(`"name":%[1]s,"q":%[1]s,"in_Stadten":[%[1]s,"b"]`, quoted)
		require.NoError(t, json.Unmarshal(s.call(t, "getPlace", `{`+list+`}`).Structured, &seen))
		require.Equal(t, word, seen.Path)
		require.Equal(t, url.Values{"q": {word}, "in Städten": {word, "b"}}, seen.Query)
		require.NoError(
			t,
			json.Unmarshal(
				s.call(t, "addPlace", fmt.Sprintf(`{%s,"word":%[2]s,"list":[%[2]s],"map":{"k":%[2]s}}`, list, quoted)).Structured,
				&seen,
			),
		)
		require.Equal(t, word, seen.Path)
		require.Equal(t, word, seen.Form.Get("wörd"))
		require.Equal(t, []string{word}, seen.Form["list"])
		require.Contains(t, seen.Form.Encode(), url.QueryEscape(word))
	}
}
