package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/budget"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
	"github.com/toolcrib/toolcrib/webhook"
	"github.com/toolcrib/toolcrib/webhook/deliver"
)

func (s *site) governPages() []string {
	return []string{
		"/usage", "/usage?by=model&show=tokens", "/usage?by=day&show=calls", "/usage?open=" + s.Tool.Slug,
		"/usage?from=2020-01-01&to=2020-01-31",
		"/limits", "/limits?open=new", "/limits?open=all-day", "/limits?tab=prices", "/limits?tab=prices&open=new",
		"/limits?tab=quotas", "/limits?tab=rates",
		"/audit", "/audit?outcome=refused", "/audit?action=role", "/audit?object=nothing-is-called-so",
		"/audit?open=" + s.auditOf("role.created"),
		"/access", "/access?show=all", "/access?show=unused", "/access?open=new", "/access?open=" + s.keyOf("nightly"),
		"/access?tab=services", "/access?tab=roles", "/access?tab=roles&open=support", "/access?tab=roles&open=new",
		"/access?tab=people", "/access?tab=people&open=user:corp/ada", "/settings",
		"/webhooks", "/webhooks?open=new", "/webhooks?open=" + s.hook(), "/schedules", "/schedules?open=new",
		"/schedules?open=nightlyReport",
	}
}

// fillGovern makes prices, and calls that cost what they say; budgets, keys, a role, a webhook and a schedule.
func (s *site) fillGovern(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	until := time.Now().Add(-time.Hour)
	for _, p := range []usage.Price{
		{ToolID: s.Tool.ID, Call: 1_250_001},
		{
			Model: "openai/gpt-5-mini", From: until.AddDate(0, -1, 0), Until: &until,
			Tokens: &usage.Rates{Input: 250_000, Output: 2_000_000},
		},
	} {
		p.Tenant, p.ChangedBy = s.Tenant, "user:ada"
		_, err := s.Store.SetPrice(ctx, p)
		require.NoError(t, err)
	}
	for _, b := range []budget.Budget{
		{Name: "all-day", Period: budget.Day, Limit: 20_000_000},
		{Name: "support-month", Period: budget.Month, Limit: 5_010_000, AgentID: s.Agent.ID},
		{Name: "each-run", Period: budget.Run, Limit: 50_000_000},
	} {
		b.Tenant, b.ChangedBy = s.Tenant, "user:ada"
		_, err := s.Store.SetBudget(ctx, b)
		require.NoError(t, err)
	}
	for range 3 {
		s.spend(t)
	}
	_, err := s.Store.CreateRole(ctx, store.Role{Tenant: s.Tenant, CreatedBy: "user:ada", Role: access.Role{
		Name: "support", Description: "Answers customers", Permissions: []string{"runs.read", "orders.read"},
	}})
	require.NoError(t, err)
	expires := time.Now().AddDate(0, 3, 0)
	_, _, err = s.Store.CreateKey(ctx, store.Key{
		Tenant: s.Tenant, Name: "nightly", Roles: []string{"operator"}, Permissions: []string{"audit.read"},
		Owner: "team-support@example.com", ExpiresAt: &expires, CreatedBy: "cli:ada",
		Limits: store.Limits{RequestsPerSecond: 50, Burst: 100},
	})
	require.NoError(t, err)
	_, _, err = s.Store.UseToken(ctx, store.TokenUser{
		Tenant: s.Tenant, Subject: "user:corp/ada", Roles: []string{"builder"},
	}, store.Draw{})
	require.NoError(t, err)
	hook := s.Fixture.Webhook(t, func(w *webhook.Webhook) { w.Description = "Posts to the channel of the desk" })
	_, err = s.Store.PingWebhook(ctx, s.Tenant, hook.ID)
	require.NoError(t, err)
	_, err = s.Store.CreateSchedule(ctx, schedule.Schedule{
		ID: storetest.NewID(t), Tenant: s.Tenant, Name: "nightlyReport", Agent: s.Agent.Slug,
		Input: json.RawMessage(`"Report on the last day"`), Catchup: time.Hour, CreatedBy: "key:x",
		Times: schedule.Times{Crons: []string{"0 3 * * *"}, Zone: "Europe/Berlin"}, Overlap: schedule.Skip,
	})
	require.NoError(t, err)
}

// auditOf is the newest row about an action.
func (s *site) auditOf(action audit.Action) string {
	found, err := s.Store.ListAudit(context.Background(), s.Tenant, audit.Query{Action: string(action), Limit: 1})
	if err != nil || len(found) == 0 {
		return "missing"
	}
	return found[0].ID
}

func (s *site) keyOf(name string) string {
	all, err := s.Store.ListKeys(context.Background(), s.Tenant)
	at := slices.IndexFunc(all, func(k store.Key) bool { return k.Name == name })
	if err != nil || at < 0 {
		return "missing"
	}
	return all[at].ID
}

func (s *site) hook() string {
	all, err := s.Store.ListWebhooks(context.Background(), s.Tenant, "", 1)
	if err != nil || len(all) == 0 {
		return "missing"
	}
	return all[0].ID
}

// awaited evaluates a promise.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// look keeps a picture of the page in a folder, if CONSOLE_LOOKS names one.
func (v *visitor) look(t *testing.T, name string) {
	t.Helper()
	if dir := os.Getenv("CONSOLE_LOOKS"); dir != "" {
		var picture []byte
		v.do(t, chromedp.FullScreenshot(&picture, 100))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600))
	}
}

// put writes a value into the field of the open dialog that has a label.
func put(label, value string) chromedp.Action {
	return until(fmt.Sprintf(`(() => {
		const l = [...document.querySelectorAll("[role=dialog] label")].find((l) => l.innerText.trim() === %[1]q);
		const at = l && document.getElementById(l.htmlFor);
		if (!at) return false;
		Object.getOwnPropertyDescriptor(Object.getPrototypeOf(at), "value").set.call(at, %[2]q);
		at.dispatchEvent(new Event(at.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
		return at.value === %[2]q })()`, label, value))
}

// choose presses a button or a box by its text, in the dialog if one is open.
func choose(text string) chromedp.Action {
	return until(fmt.Sprintf(`(() => {
		const dialogs = document.querySelectorAll("[role=dialog], [role=alertdialog]");
		const root = dialogs[dialogs.length - 1] ?? document.querySelector("main");
		const at = [...root.querySelectorAll("button, .check, .option")].find((b) =>
			!b.disabled && (b.getAttribute("aria-label") ?? b.innerText).trim().split("\n")[0] === %q);
		at?.click();
		return !!at })()`, text))
}

// tick presses the box of the open dialog whose text begins so.
func tick(text string) chromedp.Action {
	return until(fmt.Sprintf(`(() => {
		const at = [...document.querySelectorAll("[role=dialog] .check")].find((c) => c.innerText.startsWith(%q));
		at?.click();
		return !!at })()`, text))
}

// shows waits until the page has a text.
func shows(text string) chromedp.Action {
	return until(fmt.Sprintf(`document.body.innerText.includes(%q)`, text))
}

// spend makes a call that ends, and costs.
func (s *site) spend(t *testing.T) {
	t.Helper()
	e := s.Lone(t)
	_, err := s.Store.Settle(t.Context(), storetest.Completed(e, s.Admit(t, e, true, true).Fence))
	require.NoError(t, err)
}

// What was used is shown exactly, as a chart, as text and as a file, and leads to the calls.
func TestAPersonReadsWhatWasUsed(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/usage")
	v.do(t, until(`document.querySelector(".tile strong").innerText === "3.750003"`))
	v.do(t, until(`document.querySelector(".plot canvas")`),
		until(`document.querySelector(".days-slider").getAttribute("aria-valuetext").includes("Spend 3.750003")`))
	v.look(t, "usage")
	// The day before is read with an arrow key.
	v.do(t, focus(".days-slider"), press(kb.ArrowLeft),
		until(`document.querySelector(".days-read").innerText.includes("`+
			time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)+`")`),
		until(`document.querySelector(".days-slider").getAttribute("aria-valuetext").includes("Spend 0.00")`))
	var file string
	v.do(t, chromedp.Evaluate(`(async () => {
		const made = URL.createObjectURL; let blob; URL.createObjectURL = (b) => { blob = b; return made.call(URL, b) };
		[...document.querySelectorAll("button")].find((b) => b.innerText === "Download CSV").click();
		return blob.text() })()`, &file, awaited))
	require.Contains(t, file, "tool,cost,calls,")
	require.Contains(t, file, v.Tool.Slug+",3.750003,3,0,")
	v.open(t, "/usage?by=tool")
	v.do(t, click(".split-list tbody a"),
		chromedp.WaitVisible("aside .small", chromedp.ByQuery),
		until(`document.querySelectorAll("aside .small tbody tr").length >= 3`),
		until(`document.querySelector("aside").innerText.split("1.250001").length === 4`))
	v.blameless(t)
}

// drawn is how many pixels of the chart have the color of lines, in light and in dark: as many as a line has.
const drawn = `(() => {
	const c = document.querySelector(".plot canvas"), probe = document.createElement("span");
	if (!c || !c.width) return false;
	probe.className = "paint-accent";
	document.body.append(probe);
	const want = getComputedStyle(probe).color.match(/\d+/g).map(Number);
	probe.remove();
	const of = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
	let line = 0;
	for (let i = 0; i < of.length; i += 4)
		if (of[i + 3] > 200 && want.every((w, n) => Math.abs(w - of[i + n]) < 12)) line++;
	return line > 300 && c.width <= document.querySelector(".plot").clientWidth * devicePixelRatio })()`

// A line is drawn, in the colors and the width of the page, also after they change.
func TestAChartIsDrawn(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/usage")
	for _, scheme := range []string{"light", "dark"} {
		v.do(t, emulation.SetEmulatedMedia().
			WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		for _, width := range []int64{1280, 320, 900} {
			v.do(t, emulation.SetDeviceMetricsOverride(width, 800, 1, false),
				until(`Math.abs(document.querySelector(".plot canvas")?.clientWidth - document.querySelector(".plot").clientWidth) < 2`),
				until(drawn))
			v.look(t, fmt.Sprintf("usage-%s-%d", scheme, width))
		}
	}
	v.blameless(t)
}

// A budget that a person makes counts what is spent from then on, exactly.
func TestABudgetCountsWhatIsSpent(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/limits")
	v.look(t, "budgets")
	v.do(t, choose("New budget"), put("Name", "Not A Name"), put("Limit", "2.500001"), choose("Create"),
		until(`document.querySelector("[role=dialog] .error")`)) // Beside the field, and nothing is made.
	v.do(t, put("Name", "new-day"), put("Tool", v.Tool.Slug), choose("Create"),
		until(`!document.querySelector("[role=dialog]")`), shows("2.500001 of 2.500001 left this day"))
	v.spend(t)
	v.open(t, "/limits")
	v.do(t, shows("1.25 of 2.500001 left this day"),
		until(`document.querySelector("[aria-label^='new-day:']").getAttribute("aria-label").includes("spent 1.250001")`))
	v.do(t, choose("Delete new-day"), choose("Delete"), until(`!document.querySelector("[aria-label^='new-day:']")`))
	v.blameless(t)
}

// The secret of a key is shown once, and the key works until it is revoked.
func TestAKeyIsMadeAndRevoked(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/access")
	v.look(t, "keys")
	v.do(t, choose("New key"), put("Name", "a new one"), tick("viewer"))
	v.look(t, "new-key")
	var secret string
	v.do(t, choose("Create the key"), chromedp.Text(".secret code", &secret, chromedp.ByQuery))
	require.Contains(t, secret, "tck_")
	status := func() int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.url+"/v1/tools", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+secret)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	require.Equal(t, http.StatusOK, status())
	v.do(t, choose("I have kept it"), until(`!document.documentElement.outerHTML.includes("tck_")`),
		until(`!JSON.stringify({ ...localStorage, ...sessionStorage }).includes("tck_")`))
	v.open(t, "/access?open="+v.keyOf("a new one"))
	v.do(t, shows("viewer"), until(`!document.documentElement.outerHTML.includes("tck_")`),
		choose("Revoke…"), choose("Revoke"),
		until(`document.querySelector("aside .status").innerText === "revoked"`))
	require.Equal(t, http.StatusUnauthorized, status())
	v.blameless(t)
}

// A role is edited in the state in which it was read; the log shows what that changed, and is verified.
func TestARoleIsEditedAndAudited(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/access?tab=roles&open=support")
	v.look(t, "role")
	v.do(t, shows("orders.read"), choose("Edit…"), put("What it is for", "Answers customers, and looks"),
		until(`document.querySelector("[role=dialog] [aria-label=audit] input")`),
		chromedp.Evaluate(`document.querySelector("[role=dialog] [aria-label=audit] input").click()`, nil), choose("Save"),
		until(`!document.querySelector("[role=dialog]")`), shows("audit.read"))
	found, err := v.Store.FindRole(t.Context(), v.Tenant, "support")
	require.NoError(t, err)
	require.Equal(t, []string{"runs.read", "orders.read", "audit.read"}, found.Permissions)

	// What another person changed meanwhile is not overwritten.
	v.do(t, choose("Edit…"), put("What it is for", "Mine"))
	found.Description = "Theirs"
	_, err = v.Store.ChangeRole(t.Context(), found)
	require.NoError(t, err)
	v.do(t, choose("Save"), until(`document.querySelector("[role=dialog] [role=alert]")`), choose("Cancel"))

	v.open(t, "/audit?action=role&open="+v.auditOf("role.changed"))
	v.do(t, until(`document.querySelector("aside .change ins")`), shows("Theirs"))
	require.NoError(t, v.Store.SealAudit(t.Context()))
	v.open(t, "/audit")
	v.do(t, choose("Verify"), until(`document.querySelector(".notice.good")?.innerText.includes("The log is whole")`))
	v.look(t, "audit")
	v.do(t, choose("Export"), shows("sealed rows saved"))
	v.blameless(t)
}

// A schedule is previewed before there is one, with what is wrong beside its field.
func TestAScheduleIsPreviewed(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/schedules?open=new")
	v.do(t, put("Time zone", "Europe/Berlin"), put("Cron expressions", "30 2 * * *"),
		until(`document.querySelectorAll(".preview li").length === 5`),
		until(`[...document.querySelectorAll(".preview .version")].every((t) => / 02:30 \+0[12]:00/.test(t.innerText))`))
	v.look(t, "schedule")
	v.do(t, put("Cron expressions", "61 2 * * *"),
		until(`document.querySelector(".preview .error")?.innerText.includes("61 is not from 0 to 59")`))
	v.blameless(t)
}

// A setting that loosens asks first, and the page shows what holds then.
func TestASettingIsChanged(t *testing.T) {
	t.Parallel()

	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	v.open(t, "/settings")
	v.look(t, "settings")
	v.do(t, click(`input[name=masking][value=off]`), shows("become readable"), choose("Back"),
		until(`!document.querySelector("[role=alertdialog]")`))
	found, err := v.Store.FindTenant(t.Context(), v.Tenant)
	require.NoError(t, err)
	require.True(t, found.MaskSensitive)
	v.do(t, click(`input[name=taint][value=deny]`),
		until(`document.querySelector("input[name=taint][value=deny]").checked`),
		choose("Require a replay…"), put("Recorded calls to replay", "12"), choose("Save"),
		shows("12 of the last calls are replayed"))
	found, err = v.Store.FindTenant(t.Context(), v.Tenant)
	require.NoError(t, err)
	require.Equal(t, tool.TaintDeny, found.Taint)
	v.blameless(t)
}

// A webhook is made, with a secret that is shown once, and gets a test that the receiver verifies.
func TestAWebhookIsPinged(t *testing.T) {
	t.Parallel()

	var secret atomic.Pointer[string]
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		verifier := client.WebhookVerifier{Secrets: []string{*secret.Load()}}
		if m, err := verifier.Verify(r.Header, body); err != nil || m.Type != webhook.EventPing {
			http.Error(w, "not signed", http.StatusUnauthorized)
		}
	}))
	t.Cleanup(receiver.Close)
	s := newSite(t, "")
	host := strings.TrimPrefix(receiver.URL, "http://")
	s.receiver.Store(&host)
	deliverer, err := deliver.New(deliver.Config{
		Outbox: s.Store, Vault: s.vault, Gate: s.gate, Interval: 20 * time.Millisecond,
	})
	require.NoError(t, err)
	go deliverer.Run(t.Context())
	v := visit(t, s, browser(t))
	v.signIn(t)
	v.open(t, "/webhooks?open=new")
	v.do(t, put("Address", receiver.URL+"/hook"), tick("run.failed"))
	var shown string
	v.do(t, choose("Create"), chromedp.Text(".secret code", &shown, chromedp.ByQuery))
	secret.Store(&shown)
	v.do(t, choose("I have kept it"), until(`!document.documentElement.outerHTML.includes("whsec_")`),
		choose("Send a test"),
		until(`document.querySelector(".deliveries .status")?.innerText === "delivered"`))
	v.look(t, "webhook")
	v.do(t, click(".deliveries summary"), choose("Send again"),
		until(`document.querySelector(".deliveries").innerText.includes("1 times")`))
	v.blameless(t)
}
