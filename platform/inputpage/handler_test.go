package inputpage_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/file/filetest"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/platform/inputpage"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// desk holds one call that waits, and takes its first answer as the store does.
type desk struct {
	mu    sync.Mutex
	call  wait.Call
	taken []runs.Submission
	err   error // Of the next answers.

	suspended     bool            // The tenant.
	config        json.RawMessage // Of the tool that asks.
	reader        *sdkmetric.ManualReader
	found         atomic.Int64
	hold          chan struct{} // Not nil where calls are found once it is closed.
	holding, most atomic.Int64  // Requests that look for a call, now and at most.
}

func (d *desk) FindCall(_ context.Context, tenant tool.TenantID, id string) (wait.Call, error) {
	d.most.Store(max(d.most.Load(), d.holding.Add(1)))
	defer d.holding.Add(-1)
	if d.hold != nil {
		<-d.hold
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if tenant != d.call.Principal.Tenant || id != d.call.ID {
		return wait.Call{}, &tool.Error{Kind: tool.NotFound, Msg: "call not found"}
	}
	return d.call, nil
}

func (d *desk) FindTenant(context.Context, tool.TenantID) (store.Tenant, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.found.Add(1)
	if d.suspended {
		return store.Tenant{Status: store.TenantSuspended}, nil
	}
	return store.Tenant{Status: store.TenantActive}, nil
}

func (d *desk) SubmitResult(_ context.Context, s runs.Submission) (runs.Submitted, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return runs.Submitted{}, d.err
	}
	if d.call.Status == wait.CallResolved {
		return runs.Submitted{Call: d.call, Repeated: true}, nil
	}
	d.call.Status, d.taken = wait.CallResolved, append(d.taken, s)
	return runs.Submitted{Call: d.call}, nil
}

func (d *desk) set(change func(*desk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

type site struct {
	*desk
	t     *testing.T
	url   string
	link  string
	files *file.Service
}

func newSite(t *testing.T, arguments string) *site {
	t.Helper()
	d := &desk{call: wait.Call{
		ID: uuid.NewString(), Status: wait.CallWaiting, Arguments: json.RawMessage(arguments),
		Key: []byte(strings.Repeat("k", 32)),
	}}
	d.call.Principal.Tenant, d.call.Implementation = tool.TenantID(uuid.NewString()), tool.Input
	d.call.Slug = "internalName"
	memory := filetest.NewMemory()
	files, err := file.New(file.Config{Store: memory, Contents: []file.Contents{memory}})
	require.NoError(t, err)
	h, err := inputpage.New(inputpage.Config{
		Calls: d, Runs: d, Files: files, Versions: d, MeterProvider: d.meters(t),
	})
	require.NoError(t, err)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	link, err := input.Link(&d.call, time.Now().Add(time.Hour))
	require.NoError(t, err)
	return &site{desk: d, t: t, url: server.URL, link: link, files: files}
}

// send makes a request, and follows no redirect.
func (s *site) send(method, path string, form url.Values) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(form.Encode()))
	require.NoError(s.t, err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(s.t, err)
	defer func() { require.NoError(s.t, resp.Body.Close()) }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return resp, string(raw)
}

const ask = `{"title":"Trip <b>","instructions":"Say & go","questions":[{"id":"city","label":"Where to?","help":"A town"},
	{"id":"nights","label":"How long?","type":"number","optional":true}]}`

func TestAnswerOnce(t *testing.T) {
	t.Parallel()

	s := newSite(t, ask)
	resp, page := s.send(http.MethodGet, s.link, nil)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	for _, want := range []string{"Trip &lt;b&gt;", "Say &amp; go", `name="city"`, `name="nights"`, "A town", "Where to?"} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "internalName")
	require.NotContains(t, page, "<script")

	resp, page = s.send(http.MethodPost, s.link, url.Values{"city": {""}, "nights": {"<i>many"}})
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	require.Contains(t, page, "an answer is needed")
	require.Contains(t, page, "a number is expected")
	require.Contains(t, page, `value="&lt;i&gt;many"`, "what was typed is kept")
	require.Empty(t, s.taken)

	form := url.Values{"city": {"Oslo"}, "nights": {"2"}, "approved": {"yes"}}
	resp, _ = s.send(http.MethodPost, s.link+"?from=mail;x=%zz", form)
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	require.Equal(t, s.link, resp.Header.Get("Location"))
	resp, page = s.send(http.MethodGet, s.link, nil)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, page, "the answer has arrived")
	resp, page = s.send(http.MethodPost, s.link, url.Values{"city": {"Rome"}})
	require.Equal(t, http.StatusConflict, resp.StatusCode)
	require.Contains(t, page, "what you sent now was not kept")

	require.Len(t, s.taken, 1)
	got := s.taken[0]
	require.Equal(t, s.call.ID, got.ID)
	require.Equal(t, "page:"+s.call.ID, got.Principal.Subject)
	require.Equal(t, []string{wait.SubmitPermission}, got.Principal.Permissions)
	require.JSONEq(t, `{"kind":"input_request","view_id":"`+s.call.ID+`","answer":{"city":"Oslo","nights":2}}`, string(got.Result))
}

// Every answer has the headers that keep the page to itself.
func TestHeaders(t *testing.T) {
	t.Parallel()

	s := newSite(t, ask)
	for method, path := range map[string]string{
		http.MethodGet: s.link, http.MethodHead: s.link, http.MethodPost: s.link, http.MethodDelete: s.link, "PURGE": "/i/x",
	} {
		resp, _ := s.send(method, path, nil)
		h := resp.Header
		require.Equal(t, "no-store", h.Get("Cache-Control"), method)
		require.Equal(t, "no-referrer", h.Get("Referrer-Policy"))
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
		require.Contains(t, h.Get("X-Robots-Tag"), "noindex")
		policy := h.Get("Content-Security-Policy")
		for _, want := range []string{
			"default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
		} {
			require.Contains(t, policy, want)
		}
		require.NotContains(t, policy, "unsafe")
		require.Empty(t, h.Values("Set-Cookie"))
	}
}

// Scanners of links, previews and other methods change nothing.
func TestOnlyTheFormAnswers(t *testing.T) {
	t.Parallel()

	s := newSite(t, `{"title":"Publish?","approve":{}}`)
	for _, method := range []string{
		http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete, http.MethodPatch, "PROPFIND",
	} {
		for _, query := range []string{"", "?approved=yes", "?approved=yes&_method=POST"} {
			_, _ = s.send(method, s.link+query, url.Values{"approved": {"yes"}})
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+s.link,
		strings.NewReader(`{"approved":"yes"}`))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusUnsupportedMediaType, resp.StatusCode)
	resp, _ = s.send(http.MethodPost, s.link+"?approved=yes", url.Values{})
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode, "the address is no answer")
	require.Empty(t, s.taken)
}

// What opens nothing is answered alike, whatever the reason.
func TestLinksThatOpenNothing(t *testing.T) {
	t.Parallel()

	s := newSite(t, ask)
	other := s.call
	other.Key = []byte(strings.Repeat("x", 32))
	forged, err := input.Link(&other, time.Now().Add(time.Hour))
	require.NoError(t, err)
	other = s.call
	other.ID = uuid.NewString()
	unknown, err := input.Link(&other, time.Now().Add(time.Hour))
	require.NoError(t, err)
	expired, err := input.Link(&s.call, time.Now().Add(-time.Second))
	require.NoError(t, err)
	bodies := map[string]bool{}
	for _, link := range []string{forged, unknown, expired, "/i/", "/i/x", s.link + "A", s.link + "/more"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			resp, body := s.send(method, link, url.Values{"city": {"Oslo"}})
			require.Equal(t, http.StatusNotFound, resp.StatusCode, link)
			bodies[body] = true
		}
	}
	s.set(func(d *desk) { d.call.Implementation = tool.HTTP }) // Such as one that waits for an approval.
	resp, body := s.send(http.MethodGet, s.link, nil)
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	bodies[body] = true
	require.Len(t, bodies, 1)
	require.Empty(t, s.taken)
}

func TestRequestsThatAreOver(t *testing.T) {
	t.Parallel()

	s := newSite(t, ask)
	s.set(func(d *desk) { d.err = &tool.Error{Kind: tool.Conflict, Msg: "the call has ended"} })
	resp, page := s.send(http.MethodPost, s.link, url.Values{"city": {"Oslo"}})
	require.Equal(t, http.StatusGone, resp.StatusCode, "it ended meanwhile")
	require.Contains(t, page, "No answer is needed any more")
	s.set(func(d *desk) { d.err = errors.New("secret of the database") })
	resp, page = s.send(http.MethodPost, s.link, url.Values{"city": {"Oslo"}})
	require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	require.NotContains(t, page, "secret")
	for _, status := range []wait.CallStatus{wait.CallExpired, wait.CallCancelled} {
		s.set(func(d *desk) { d.call.Status = status })
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			resp, _ := s.send(method, s.link, url.Values{"city": {"Oslo"}})
			require.Equal(t, http.StatusGone, resp.StatusCode, status)
		}
	}
}

// Links of a suspended tenant open nothing, and one that is revoked while an answer is sent
// takes it no more.
func TestLinksThatStopOpening(t *testing.T) {
	t.Parallel()

	s := newSite(t, ask)
	body, slow := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+s.link, body)
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answered := make(chan int, 1)
	go func() {
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			answered <- 0
			return
		}
		_ = resp.Body.Close()
		answered <- resp.StatusCode
	}()
	_, err = slow.Write([]byte("city="))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.found.Load() == 1 }, time.Minute, time.Millisecond)
	s.set(func(d *desk) { d.call.Key = []byte("another") })
	_, err = slow.Write([]byte("Oslo"))
	require.NoError(t, err)
	require.NoError(t, slow.Close())
	require.Equal(t, http.StatusNotFound, <-answered)

	s = newSite(t, ask)
	s.set(func(d *desk) { d.suspended = true })
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		resp, _ := s.send(method, s.link, url.Values{"city": {"Oslo"}})
		require.Equal(t, http.StatusNotFound, resp.StatusCode)
	}
	require.Empty(t, s.taken)
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()

	s := newSite(t, ask)
	resp, _ := s.send(http.MethodPost, s.link, url.Values{"city": {strings.Repeat("x", 5<<20)}})
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
	require.Empty(t, s.taken)
}

// Who guesses takes few connections of the database; one link does not take the time of others.
func TestRequestsAreLimited(t *testing.T) {
	t.Parallel()

	s := newSite(t, ask)
	other := s.call
	other.Key = []byte("another")
	forged, err := input.Link(&other, time.Now().Add(time.Hour))
	require.NoError(t, err)
	s.set(func(d *desk) { d.hold = make(chan struct{}) })
	var guesses sync.WaitGroup
	for range 30 {
		guesses.Go(func() { _, _ = s.send(http.MethodGet, forged, nil) })
	}
	require.Eventually(t, func() bool { return s.holding.Load() == 4 }, time.Minute, time.Millisecond)
	time.Sleep(20 * time.Millisecond)
	require.EqualValues(t, 4, s.holding.Load())
	close(s.hold)
	guesses.Wait()
	require.LessOrEqual(t, s.most.Load(), int64(4))

	resp, _ := s.send(http.MethodGet, s.link, nil)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Eventually(t, func() bool {
		resp, _ := s.send(http.MethodGet, s.link, nil)
		return resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") != ""
	}, time.Minute, time.Millisecond)
}

// Of answers that are sent at once, one is taken.
func TestAnswersRace(t *testing.T) {
	t.Parallel()

	s := newSite(t, `{"title":"Hero","choose":{"options":[{"id":"bold","label":"Bold"},{"id":"calm","label":"Calm"}]}}`)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			resp, _ := s.send(http.MethodPost, s.link, url.Values{"choice": {[]string{"bold", "calm"}[i%2]}})
			if resp.StatusCode != http.StatusSeeOther && resp.StatusCode != http.StatusConflict {
				t.Errorf("got %s", resp.Status)
			}
		})
	}
	all.Wait()
	require.Len(t, s.taken, 1)
}

// Requests are counted by what became of them.
func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()

	s := newSite(t, ask)
	_, _ = s.send(http.MethodGet, s.link, nil)
	_, _ = s.send(http.MethodHead, s.link, nil)
	_, _ = s.send(http.MethodGet, "/i/x", nil)
	_, _ = s.send(http.MethodDelete, s.link, nil)
	_, _ = s.send(http.MethodPost, s.link, url.Values{"city": {""}})
	_, _ = s.send(http.MethodPost, s.link, url.Values{"city": {"Oslo"}})
	_, _ = s.send(http.MethodPost, s.link, url.Values{"city": {"Rome"}})
	s.set(func(d *desk) { d.call.Status = wait.CallExpired })
	_, _ = s.send(http.MethodGet, s.link, nil)
	require.Equal(t, map[string]int64{
		"shown": 2, "unknown": 1, "malformed": 1, "incomplete": 1, "answered": 1, "repeated": 1, "over": 1,
	}, s.counted())
}

// Images are shown from hosts that the tool names, and allowed from there alone; others stay links.
func TestImagesOfNamedHosts(t *testing.T) {
	t.Parallel()

	const hero = `{"title":"Hero","choose":{"options":[
		{"id":"bold","label":"Bold","imageUrl":"https://cdn.example.com/a.png?x=1&y=2"},
		{"id":"calm","label":"Calm","imageUrl":"https://evil.example/?secret"}]}}`
	s := newSite(t, hero)
	for _, config := range []json.RawMessage{nil, json.RawMessage(`{}`)} {
		s.set(func(d *desk) { d.config = config })
		resp, page := s.send(http.MethodGet, s.link, nil)
		require.NotContains(t, page, "<img")
		require.NotContains(t, resp.Header.Get("Content-Security-Policy"), "img-src")
	}
	s.set(func(d *desk) { d.config = json.RawMessage(`{"image_hosts":["cdn.example.com","other.example.com"]}`) })
	resp, page := s.send(http.MethodGet, s.link, nil)
	require.Contains(t, page, `<img src="https://cdn.example.com/a.png?x=1&amp;y=2"`)
	require.Equal(t, 1, strings.Count(page, "<img"))
	require.Contains(t, page, "image at evil.example")
	policy := resp.Header.Get("Content-Security-Policy")
	require.True(t, strings.HasSuffix(policy, "; img-src https://cdn.example.com"), policy)
}

// Requests beyond those that may wait for their turn are sent away at once.
func TestFewRequestsWait(t *testing.T) {
	t.Parallel()

	s := newSite(t, ask)
	s.set(func(d *desk) { d.hold = make(chan struct{}) })
	began := time.Now()
	var all sync.WaitGroup
	var away atomic.Int64
	for range 4 + 256 + 40 {
		all.Go(func() {
			if resp, _ := s.send(http.MethodGet, s.link, nil); resp.StatusCode == http.StatusTooManyRequests {
				if away.Add(1) == 40 {
					close(s.hold)
				}
			}
		})
	}
	all.Wait()
	require.GreaterOrEqual(t, away.Load(), int64(40))
	require.Less(t, time.Since(began), 5*time.Second)
}
