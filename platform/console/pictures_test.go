package console_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var pictures = flag.String("pictures", "", "write the pictures of docs/console-pages.md to this folder")

// pictured are the pages of the documentation's pictures, by the names of their files.
func (s *site) pictured() map[string]string {
	run := "/runs/" + s.Run.ID
	return map[string]string{
		"overview": "", "inbox": "/inbox", "approval": "/inbox?open=" + s.waits.batch[0].ID,
		"input": "/inbox/inputs?open=" + s.waits.input, "pending-call": "/inbox/calls?open=" + s.waits.call,
		"quarantine": "/inbox/quarantines?open=" + s.waits.quarantined, "grants": "/inbox/grants",
		"tools": "/tools?open=refundOrder", "tool": "/tools/refundOrder", "tool-new": "/tools/new?type=http",
		"tool-edit": "/tools/checkStock/edit", "tool-import": "/tools/import",
		"tool-versions": "/tools/checkStock?tab=versions&from=1.0.0&to=draft", "tool-test": "/tools/everyField?tab=test",
		"tool-users":     "/tools/checkStock?tab=users",
		"tool-explain":   "/tools/checkStock?tab=explain&mode=debug&agent=stockKeeper",
		"tool-overrides": "/tools/checkStock?tab=overrides", "tool-access": "/tools/checkStock?tab=access",
		"profiles": "/profiles?open=careful", "agents": "/agents", "agent-tools": "/agents/new?tab=tools",
		"graph": "/tools/checkOrders?tab=graph", "graph-edit": "/tools/checkOrders/graph/edit?node=judge",
		"agent": "/agents/stockClerk", "toolsets": "/toolsets", "toolset": "/toolsets/orders-desk?client=vscode",
		"tool-sessions": "/tools/voteLunch?tab=sessions", "prices": "/limits?tab=prices",
		"mcp-servers": "/mcp-servers", "mcp-server": "/mcp-servers/files", "credentials": "/credentials?open=orders-api",
		"pipelines": "/pipelines", "pipeline": "/pipelines/staffHandbook",
		"pipeline-search": "/pipelines/staffHandbook?tab=search&q=leave", "runs": "/runs", "run": run,
		"run-timeline": run + "?tab=timeline", "run-calls": run + "?tab=calls&call=" + s.Turn.Calls[0].InvocationID,
		"run-new": "/runs/new?agent=supportDesk&mode=debug", "calls": "/calls", "spaces": "/spaces",
		"space":   "/spaces/launch",
		"session": "/sessions/" + s.session.ID, "published": "/published", "schedules": "/schedules", "usage": "/usage",
		"limits": "/limits", "audit": "/audit", "access": "/access", "roles": "/access?tab=roles&open=support",
		"account": "/account", "webhooks": "/webhooks?open=" + s.hook(), "settings": "/settings",
	}
}

// TestPictures writes the pictures of the documentation, with -pictures: each page, light and dark.
func TestPictures(t *testing.T) { //nolint:paralleltest // It is alone.
	if *pictures == "" {
		t.Skip("only with -pictures")
	}
	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	for _, scheme := range []string{"light", "dark"} {
		v.do(t, emulation.SetDeviceMetricsOverride(1280, 800, 1, false), emulation.SetEmulatedMedia().
			WithFeatures([]*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
			}))
		for name, at := range v.pictured() {
			v.open(t, at)
			var image []byte
			v.do(t, chromedp.ActionFunc(func(ctx context.Context) (err error) {
				image, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatWebp).WithQuality(60).Do(ctx)
				return err
			}))
			require.NoError(t, os.WriteFile(filepath.Join(*pictures, name+"-"+scheme+".webp"), image, 0o644))
		}
	}
}
