package embeds_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/embeds"
	"github.com/toolcrib/toolcrib/tool"
)

const tracks, firstOnce = "/embed/acme/trackOrder", "0123456789abcdef"

// The page may be framed by the tenant's origins alone, runs its own script alone, and is the same for every tool.
func TestThePage(t *testing.T) {
	t.Parallel()

	d := newDesk()
	d.origins = append(d.origins, "http://localhost:3000")
	h := embeds.NewPages(d.service(t))
	got := get(t, h, http.MethodGet, tracks)
	require.Equal(t, http.StatusOK, got.status)
	policy := got.header.Get("Content-Security-Policy")
	require.True(t, strings.HasSuffix(policy, "; frame-ancestors https://shop.example.com http://localhost:3000"), policy)
	for _, part := range []string{
		"default-src 'none'", "connect-src 'self'", "form-action 'none'", "base-uri 'none'",
		"require-trusted-types-for 'script'",
	} {
		require.Contains(t, policy, part)
	}
	require.NotContains(t, policy, "unsafe")
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "", "X-Robots-Tag": "noindex, nofollow", "Set-Cookie": "",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy": "camera=(), geolocation=(), microphone=()",
	} {
		require.Equal(t, want, got.header.Get(name), name)
	}
	for _, of := range []string{"script", "style"} {
		inline := regexp.MustCompile(`(?s)<` + of + `>(.*?)</` + of + `>`).FindStringSubmatch(got.body)
		require.Len(t, inline, 2, of)
		sum := sha256.Sum256([]byte(inline[1]))
		require.Contains(t, policy, of+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	require.Contains(t, got.body, `&#34;https://shop.example.com&#34;`)
	other := get(t, h, http.MethodGet, "/embed/acme/noSuchTool")
	require.Equal(t, got, other, "it does not show which tools there are")

	for _, path := range []string{"/embed/other/trackOrder"} {
		none := get(t, h, http.MethodGet, path)
		require.Equal(t, http.StatusOK, none.status)
		require.Contains(t, none.header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
		require.NotContains(t, none.body, "shop.example.com")
	}
	for _, path := range []string{
		"/embed/", "/embed/acme", "/embed/acme/", "/embed//trackOrder", "/embed/acme/track order", tracks + "/",
		tracks + "/x",
		tracks + "/form/x", tracks + "/calls/short", tracks + "/calls/" + firstOnce + "/x",
	} {
		require.Equal(t, http.StatusNotFound, get(t, h, http.MethodGet, strings.ReplaceAll(path, " ", "%20")).status, path)
	}
	require.Equal(t, http.StatusMethodNotAllowed, get(t, h, http.MethodPost, tracks).status)
	require.Equal(t, http.StatusMethodNotAllowed, get(t, h, http.MethodGet, tracks+"/form").status)
	require.Equal(t, http.StatusMethodNotAllowed, get(t, h, http.MethodGet, tracks+"/calls").status)
}

// The script and the style of the page are small.
func TestThePageIsSmall(t *testing.T) {
	t.Parallel()

	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	require.NoError(t, err)
	for _, name := range []string{"page.js", "page.css", "page.html"} {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		_, err = w.Write(raw)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.Less(t, packed.Len(), 8<<10)
}

// Who has a token fills in the form of its tool, without what operators set, and gets the result. The call is made as
// the caller of the token, with what the tool asks for and no more.
func TestACallerRunsATool(t *testing.T) {
	t.Parallel()

	d := newDesk()
	s := d.service(t)
	h, token := embeds.NewPages(s), d.token(t, s, "customer-7")
	form := post(t, h, tracks+"/form", token, "{}")
	require.Equal(t, http.StatusOK, form.status, form.body)
	require.Equal(t, "application/json", form.header.Get("Content-Type"))
	require.Equal(t, "no-store", form.header.Get("Cache-Control"))
	for _, shows := range []string{`"title":"Track \u003ci\u003e"`, "Acme \\u0026 Co", `"f.order"`, `"f.why"`, `"acts":false`} {
		require.Contains(t, form.body, shows)
	}
	for _, absent := range []string{"model", "Model of operators", "verbose", "Additional", "route", "orders.read"} {
		require.NotContains(t, form.body, absent)
	}

	send := func(values string) answer {
		return post(t, h, tracks+"/calls", token, `{"once":"`+firstOnce+`","confirmed":"","values":`+values+`}`)
	}
	for values, says := range map[string]string{
		`{}`:                   `"f.order":"This is needed."`,
		`{"f.order":["many"]}`: "Enter a number",
		`{"f.order":["0"]}`:    `"f.order"`,
		`{"f.order":["1"],"f.why":["\"bored\""]}`:               "Choose one of the options.",
		`{"f.order":["1"],"f.model":["\"gpt\""]}`:               "does not ask for f.model",
		`{"f.order":["1"],"f.verbose":["true"]}`:                "does not ask for f.verbose",
		`{"f.order":["1"],"model":["x"]}`:                       "does not ask for model",
		`{"f.order":["1"],"f.ship":["{\"route\":\"secret\"}"]}`: "does not ask for route",
	} {
		got := send(values)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, values)
		require.Contains(t, got.body, says, values)
	}
	require.Empty(t, d.made())

	got := send(`{"f.order":["9223372036854775807"],"f.why":["\"late\""],"f.ship":["{\"city\":\"Oslo\"}"],"f.note":["  "]}`)
	require.Equal(t, http.StatusOK, got.status, got.body)
	var out struct {
		CallID, Status, Output string
		Rows                   []struct{ Name, Value string }
	}
	require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(got.body, "call_id", "CallID")), &out))
	require.Equal(t, "completed", out.Status)
	require.JSONEq(t, `{"order":9223372036854775807,"why":"late","ship":{"city":"Oslo"}}`, out.Output)
	require.Contains(t, out.Output, "9223372036854775807")
	require.Len(t, d.made(), 1)
	call := d.made()[0]
	require.Equal(t, tool.Principal{
		Tenant: d.tool.Tenant, Subject: "embed:01975c2e-7d1a-7c3e-9f00-0000000000d1:customer-7",
		Permissions: []string{"orders.read"},
	}, call.Principal)
	require.Equal(t, tool.Ref{ID: d.tool.ID, Constraint: "1.2.0"}, call.Node.Tool)
	require.Equal(t, runOf(call.Node.ID), out.CallID)

	// With another token of the same person, it is the same call; of another person, it is none.
	again := post(t, h, tracks+"/calls/"+firstOnce, d.token(t, s, "customer-7"), "{}")
	require.Equal(t, got.body, again.body)
	require.Equal(t, http.StatusNotFound, post(t, h, tracks+"/calls/"+firstOnce, d.token(t, s, "customer-8"), "{}").status)
}

// A call that changes something is made after its very arguments were confirmed.
func TestTwoSteps(t *testing.T) {
	t.Parallel()

	for name, acts := range map[string]func(d *desk){
		"writes":  func(d *desk) { d.tool.EgressClass, d.version.Snapshot.Execution.Pure = tool.EgressWrite, true },
		"changes": func(d *desk) { d.tool.EgressClass = tool.EgressNone },
	} {
		d := newDesk()
		acts(d)
		s := d.service(t)
		h, token := embeds.NewPages(s), d.token(t, s, "customer-7")
		require.Contains(t, post(t, h, tracks+"/form", token, "{}").body, `"acts":true`, name)
		send := func(once, order, confirmed string) string {
			got := post(t, h, tracks+"/calls", token,
				`{"once":"`+once+`","confirmed":"`+confirmed+`","values":{"f.order":["`+order+`"]}}`)
			require.Equal(t, http.StatusOK, got.status, got.body)
			return got.body
		}
		var first struct{ Confirm string }
		require.NoError(t, json.Unmarshal([]byte(send(firstOnce, "1", "")), &first))
		require.NotEmpty(t, first.Confirm)
		for _, body := range []string{
			send(firstOnce, "2", first.Confirm), send(strings.Repeat("x", 16), "1", first.Confirm), send(firstOnce, "1", "yes"),
		} {
			require.Contains(t, body, `"confirm"`, "it is not what was confirmed")
		}
		require.Empty(t, d.made(), name)
		require.Contains(t, send(firstOnce, "1", first.Confirm), `"status":"completed"`)
		require.Len(t, d.made(), 1)
	}
	d := newDesk()
	d.tool.EgressClass, d.version.Snapshot.Execution.Pure = tool.EgressNone, true
	s := d.service(t)
	require.Contains(t, post(t, embeds.NewPages(s), tracks+"/form", d.token(t, s, "a"), "{}").body, `"acts":false`)
}

// A call that waits says what for, and its end is found later.
func TestACallThatWaits(t *testing.T) {
	t.Parallel()

	d := newDesk()
	s := d.service(t)
	h, token := embeds.NewPages(s), d.token(t, s, "customer-7")
	d.end = agent.CallEnd{Status: agent.RunRunning}
	d.status = tool.StatusPending
	got := post(t, h, tracks+"/calls", token, `{"once":"`+firstOnce+`","values":{"f.order":["1"]}}`)
	require.Contains(t, got.body, `"status":"waiting_for_approval"`)
	for as, says := range map[tool.InvocationStatus]string{
		tool.StatusPending: "waiting_for_approval", tool.StatusWaiting: "waiting", tool.StatusRunning: "running",
		tool.StatusApproved: "running",
	} {
		d.status = as
		require.Contains(t, post(t, h, tracks+"/calls/"+firstOnce, token, "{}").body, `"status":"`+says+`"`)
	}
	for says, end := range map[string]agent.CallEnd{
		`"error":"The call was not approved."`: {
			Status: agent.RunFailed, CallStatus: tool.StatusRejected, CallMsg: "rejected by key:x: no",
		},
		`"error":"the shop is closed"`: {Status: agent.RunFailed, CallStatus: tool.StatusFailed, CallMsg: "the shop is closed"},
		`"error":"no such order"`: {
			Status: agent.RunCompleted, Result: &tool.Result{IsError: true, Content: []tool.Content{tool.Text("no such order")}},
		},
	} {
		d.end = end
		got := post(t, h, tracks+"/calls/"+firstOnce, token, "{}")
		require.Contains(t, got.body, `"status":"failed"`)
		require.Contains(t, got.body, says)
	}
	d.end = agent.CallEnd{Status: agent.RunCompleted, Result: tool.JSONResult(json.RawMessage(
		`{"n":1,"password":"hunter2hunter2"}`))}
	got = post(t, h, tracks+"/calls/"+firstOnce, token, "{}")
	require.Contains(t, got.body, `"status":"completed"`)
	require.NotContains(t, got.body, "hunter2", "it leaves for another site")
}

// A token is good for its page, at its origin, as long as the store opens it; no answer has the reason why it is not.
func TestTokensThatOpenNothing(t *testing.T) {
	t.Parallel()

	d := newDesk()
	s := d.service(t)
	h, token := embeds.NewPages(s), d.token(t, s, "customer-7")
	require.Equal(t, http.StatusOK, post(t, h, tracks+"/form", token, "{}").status)
	want := post(t, h, tracks+"/form", "", "{}")
	require.Equal(t, http.StatusUnauthorized, want.status)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	origin := func(as string) func(*http.Request) { return header(embeds.OriginHeader, as) }
	for _, at := range []string{tracks + "/form", tracks + "/calls", tracks + "/calls/" + firstOnce} {
		for name, got := range map[string]answer{
			"none":           post(t, h, at, "", "{}"),
			"damaged":        post(t, h, at, token[:len(token)-1], "{}"),
			"another scheme": post(t, h, at, token, "{}", header("Authorization", "Basic "+token)),
			"a key":          post(t, h, at, "tck_x", "{}"),
			"another origin": post(t, h, at, token, "{}", origin("https://other.example.com")),
			"no origin":      post(t, h, at, token, "{}", origin("")),
			"another tool":   post(t, h, strings.Replace(at, "trackOrder", "otherTool", 1), token, "{}"),
			"another tenant": post(t, h, strings.Replace(at, "acme", "other", 1), token, "{}"),
			"in the address": post(t, h, at+"?token="+token, "", "{}"),
		} {
			require.Equal(t, want.status, got.status, "%s at %s", name, at)
			require.Equal(t, want.body, got.body, "%s at %s", name, at)
		}
	}
	foreign := post(t, h, tracks+"/form", token, "{}", header("Sec-Fetch-Site", "cross-site"))
	require.Equal(t, http.StatusForbidden, foreign.status)
	require.Empty(t, foreign.header.Get("Access-Control-Allow-Origin"))
	d.shut = true
	require.Equal(t, http.StatusUnauthorized, post(t, h, tracks+"/form", token, "{}").status)
	d.shut = false
	d.tool.RequiredPermission = "orders.write" // It asks for more than when the token was made.
	require.Equal(t, http.StatusForbidden, post(t, h, tracks+"/form", token, "{}").status)
	require.Empty(t, d.made())
}

// What is no request of the page is refused, and too many requests of one person are.
func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()

	d := newDesk()
	s := d.service(t)
	h, token := embeds.NewPages(s), d.token(t, s, "customer-7")
	for body, status := range map[string]int{
		`{`:                              http.StatusBadRequest,
		`[]`:                             http.StatusBadRequest,
		`{"once":"short","values":{}}`:   http.StatusBadRequest,
		`{"once":"` + firstOnce + `"} 1`: http.StatusBadRequest,
		`{"once":"` + firstOnce + `","tool":"other"}`:                                               http.StatusBadRequest,
		`{"once":"` + firstOnce + `","values":{"f.note":["` + strings.Repeat("a", 300<<10) + `"]}}`: http.StatusBadRequest,
		`{"once":"` + firstOnce + `","values":{"f.order":["1"],"f.ship":["{\"city\":\"` + strings.Repeat("a", 70<<10) +
			`\"}"]}}`: http.StatusUnprocessableEntity,
	} {
		require.Equal(t, status, post(t, h, tracks+"/calls", token, body).status, body[:min(len(body), 60)])
	}
	require.Equal(t, http.StatusUnsupportedMediaType, post(t, h, tracks+"/calls", token, "{}",
		func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }).status)
	send := func() answer {
		return post(t, h, tracks+"/calls", token, `{"once":"`+firstOnce+`","values":{"f.order":["1"]}}`)
	}
	for kind, status := range map[tool.Kind]int{
		tool.Denied: http.StatusForbidden, tool.Conflict: http.StatusConflict, tool.RateLimited: http.StatusTooManyRequests,
		tool.NotFound: http.StatusNotFound, tool.Unavailable: http.StatusServiceUnavailable,
		tool.InternalError: http.StatusServiceUnavailable,
	} {
		d.failure = &tool.Error{Kind: kind, Msg: "a reason of the platform"}
		got := send()
		require.Equal(t, status, got.status, kind)
		require.NotContains(t, got.body, "a reason of the platform")
	}
	d.failure = nil
	last := answer{}
	for range 40 {
		if last = send(); last.status == http.StatusTooManyRequests {
			break
		}
	}
	require.Equal(t, http.StatusTooManyRequests, last.status)
	require.NotEmpty(t, last.header.Get("Retry-After"))
	require.Equal(t, http.StatusOK, post(t, h, tracks+"/form", d.token(t, s, "customer-8"), "{}").status,
		"another person is not held up")
}

// What operators set within a field is not a caller's to give, however it is written.
func TestCallersGiveWhatIsAsked(t *testing.T) {
	t.Parallel()

	d := newDesk()
	s := d.service(t)
	h, token := embeds.NewPages(s), d.token(t, s, "customer-7")
	for ship, status := range map[string]int{
		`{"city":"Ulm"}`:                   http.StatusOK,
		`{"route":"express"}`:              http.StatusUnprocessableEntity,
		`"{\"route\":\"express\"}"`:        http.StatusUnprocessableEntity,
		`[{"route":"express"}]`:            http.StatusUnprocessableEntity,
		`{"city":"Ulm","route":"express"}`: http.StatusUnprocessableEntity,
	} {
		body, err := json.Marshal(map[string]any{
			"once": firstOnce, "values": map[string][]string{"f.order": {"1"}, "f.ship": {ship}},
		})
		require.NoError(t, err)
		calls := len(d.calls)
		got := post(t, h, tracks+"/calls", token, string(body))
		require.Equal(t, status, got.status, "%s: %s", ship, got.body)
		require.Equal(t, status == http.StatusOK, len(d.calls) > calls, ship)
		require.NotContains(t, got.body, "express", ship)
	}
}

// A token is made with an API key, for an origin and a caller, and for a form that people without an account may see.
func TestTokensThatAreNotMade(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(d *desk, r *embeds.Request)
		kind   tool.Kind
		says   string
	}{
		"by a person":    {func(_ *desk, r *embeds.Request) { r.Principal.Subject = "user:ada" }, tool.Denied, "API key"},
		"by a token":     {func(_ *desk, r *embeds.Request) { r.Principal.Subject = "embed:x:y" }, tool.Denied, "API key"},
		"an origin":      {func(_ *desk, r *embeds.Request) { r.Origin = "https://*" }, tool.Invalid, "wildcard"},
		"a caller":       {func(_ *desk, r *embeds.Request) { r.Caller = "a b" }, tool.Invalid, "caller"},
		"no permission":  {func(_ *desk, r *embeds.Request) { r.Principal.Permissions = nil }, tool.Denied, "permission"},
		"a foreign tool": {func(_ *desk, r *embeds.Request) { r.Principal.Tenant = "other" }, tool.NotFound, "tool"},
		"a secret": {func(d *desk, _ *embeds.Request) {
			d.version.Snapshot.InputSchema = json.RawMessage(`{"type":"object","properties":{"password":{"type":"string"}}}`)
		}, tool.Invalid, "secret"},
		"operators alone": {func(d *desk, _ *embeds.Request) {
			d.version.Snapshot.InputSchema = json.RawMessage(`{"type":"object","required":["model"],"properties":{
				"model":{"type":"string","x-toolcrib-field":{"hidden":true}}}}`)
		}, tool.Invalid, "default"},
	} {
		d := newDesk()
		r := embeds.Request{
			Principal: d.backend(), Tool: tool.Ref{Slug: "trackOrder"}, Origin: d.origins[0], Caller: "customer-7",
		}
		c.change(d, &r)
		_, err := d.service(t).Make(t.Context(), r)
		require.Equal(t, c.kind, tool.KindOf(err), "%s: %v", name, err)
		require.Contains(t, err.Error(), c.says, name)
		require.Empty(t, d.grants, name)
	}
}
