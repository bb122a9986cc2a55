package inputpage_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/file"
	inputs "github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/platform/browsertest"
)

// on returns a place on the image, in pixels of the page.
func on(ctx context.Context, x, y float64) (left, top float64, err error) {
	var box struct{ X, Y, W, H float64 }
	err = chromedp.Evaluate(`(() => { const b = document.getElementById("canvas").getBoundingClientRect();
		return {X: b.left, Y: b.top, W: b.width, H: b.height}; })()`, &box).Do(ctx)
	return box.X + x*box.W, box.Y + y*box.H, err
}

// drag draws with the mouse from one place of the image to another.
func drag(x1, y1, x2, y2 float64) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		left, top, err := on(ctx, x1, y1)
		if err != nil {
			return err
		}
		right, bottom, err := on(ctx, x2, y2)
		if err != nil {
			return err
		}
		for _, event := range []*input.DispatchMouseEventParams{
			input.DispatchMouseEvent(input.MousePressed, left, top).WithButton(input.Left).WithClickCount(1),
			input.DispatchMouseEvent(input.MouseMoved, (left+right)/2, (top+bottom)/2).WithButton(input.Left).WithButtons(1),
			input.DispatchMouseEvent(input.MouseMoved, right, bottom).WithButton(input.Left).WithButtons(1),
			input.DispatchMouseEvent(input.MouseReleased, right, bottom).WithButton(input.Left).WithClickCount(1),
		} {
			if err := event.Do(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// swipe draws with a finger.
func swipe(x1, y1, x2, y2 float64) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		for i, at := range [][2]float64{{x1, y1}, {(x1 + x2) / 2, (y1 + y2) / 2}, {x2, y2}} {
			left, top, err := on(ctx, at[0], at[1])
			if err != nil {
				return err
			}
			kind := input.TouchMove
			if i == 0 {
				kind = input.TouchStart
			}
			if err := input.DispatchTouchEvent(kind, []*input.TouchPoint{{X: left, Y: top}}).Do(ctx); err != nil {
				return err
			}
		}
		return input.DispatchTouchEvent(input.TouchEnd, []*input.TouchPoint{}).Do(ctx)
	})
}

// repeated is a key that is pressed several times.
func repeated(key string, times int) chromedp.Tasks {
	var all []string
	for range times {
		all = append(all, key)
	}
	return keys(all...)
}

// People mark an image by mouse, finger and keyboard; the marks and a picture of them go with the form.
func TestPeopleDrawInABrowser(t *testing.T) { //nolint:tparallel // One browser, one tab after another.
	t.Parallel()

	started := browsertest.Start(t)
	for name, tt := range map[string]struct { //nolint:paralleltest // As above.
		act  chromedp.Tasks
		want inputs.Shape
	}{
		"Mouse": {
			chromedp.Tasks{click(`[data-mode="box"]`), drag(0.1, 0.2, 0.5, 0.6), typed("#note", "here"), click(`button[type="submit"]`)},
			inputs.Shape{Kind: inputs.Box, X: 0.1, Y: 0.2, Width: 0.4, Height: 0.4, Note: "here"},
		},
		"Touch": {
			chromedp.Tasks{swipe(0.2, 0.2, 0.8, 0.4), click(`button[type="submit"]`)},
			inputs.Shape{Kind: inputs.Stroke, X: 0.2, Y: 0.2, Width: 0.6, Height: 0.2},
		},
		"Keyboard": {
			append(append(append(keys(kb.Tab, kb.Tab, kb.Enter, kb.Tab, kb.Tab, kb.Tab, kb.Tab, kb.ArrowUp, kb.Enter),
				repeated(kb.ArrowRight, 10)...), repeated(kb.ArrowDown, 21)...),
				keys(kb.Enter, kb.ArrowUp, kb.Enter, kb.Escape, kb.Tab, "by key", kb.Tab, kb.Tab, kb.Tab, kb.Tab, kb.Enter)...),
			inputs.Shape{Kind: inputs.Box, X: 0.5, Y: 0.49, Width: 0.1, Height: 0.21, Note: "by key"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := markupSite(t, nil) //nolint:contextcheck // The site has the context of the test.
			tab, cancel := chromedp.NewContext(started)
			defer cancel()
			tab, cancel = context.WithTimeout(tab, 30*time.Second)
			defer cancel()
			require.NoError(t, chromedp.Run(tab, chromedp.Navigate(s.url+s.link), page.BringToFront(),
				chromedp.WaitVisible("#canvas", chromedp.ByQuery), chromedp.Poll(`document.getElementById("canvas").width > 300`, nil),
				tt.act, shows("the answer has arrived")))
			require.Len(t, s.taken, 1)
			var got struct {
				Answer struct {
					Markup inputs.Drawing
					Image  file.Reference
				}
			}
			require.NoError(t, json.Unmarshal(s.taken[0].Result, &got))
			require.Len(t, got.Answer.Markup.Shapes, 1)
			shape := got.Answer.Markup.Shapes[0]
			require.Equal(t, tt.want.Kind, shape.Kind)
			require.Equal(t, tt.want.Note, shape.Note)
			for _, pair := range [][2]float64{
				{tt.want.X, shape.X}, {tt.want.Y, shape.Y}, {tt.want.Width, shape.Width}, {tt.want.Height, shape.Height},
			} {
				require.InDelta(t, pair[0], pair[1], 0.02)
			}
			require.Equal(t, "marked.png", got.Answer.Image.Name)
			require.Equal(t, file.PNG, got.Answer.Image.MediaType)
			require.Len(t, s.sent(), 1) //nolint:contextcheck // As above.
		})
	}
	t.Run("WithoutScript", func(t *testing.T) {
		s := markupSite(t, nil) //nolint:contextcheck // The site has the context of the test.
		tab, cancel := chromedp.NewContext(started)
		defer cancel()
		tab, cancel = context.WithTimeout(tab, 30*time.Second)
		defer cancel()
		picture := filepath.Join(t.TempDir(), "mine.png")
		require.NoError(t, os.WriteFile(picture, pngOf(t, 3, 3), 0o600))
		var nodes []*cdp.Node
		require.NoError(t, chromedp.Run(tab, emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(s.url+s.link),
			chromedp.Nodes("#image", &nodes, chromedp.ByQuery), typed(`[name="region_1_x"]`, "10"),
			typed(`[name="region_1_width"]`, "20"), typed(`[name="region_1_height"]`, "20"),
			chromedp.SetUploadFiles("#f-image", []string{picture}, chromedp.ByQuery), click(`button[type="submit"]`),
			shows("the answer has arrived")))
		require.Len(t, nodes, 1)
		require.Contains(t, string(s.taken[0].Result), `"name":"mine.png"`)
		require.Contains(t, string(s.taken[0].Result), `"kind":"box"`)
	})
}
