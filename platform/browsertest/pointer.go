package browsertest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// aim defines what finds an element that can be seen, by a CSS selector or an XPath, and what reads where it is. The
// place is read twice, 20 ms apart, and is null while the element moves, is disabled, or is below another one.
// Pointer events that reach another element after that are kept from it.
const aim = `
	const find = (selector) => selector.startsWith("/")
		? document.evaluate(selector, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE, null).singleNodeValue
		: document.querySelector(selector);
	const seen = (e) => e && e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0;
	const middle = (e) => {
		const r = e.getClientRects()[0];
		return { x: r.left + r.width / 2, y: r.top + r.height / 2 };
	};
	const label = (e) => e.closest("label")?.control;
	const meets = (e, other) => !!other && (e.contains(other) || label(other) === e || label(e) === other);
	const place = async (selector) => {
		const e = find(selector);
		if (!seen(e) || e.disabled) return null;
		e.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
		const was = middle(e);
		await new Promise((done) => setTimeout(done, 20));
		if (!e.isConnected || !seen(e)) return null;
		const is = middle(e);
		if (is.x !== was.x || is.y !== was.y || !meets(e, document.elementFromPoint(is.x, is.y))) return null;
		window.aimed?.end();
		const events = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"];
		const guard = (event) => {
			if (!event.isTrusted) return;
			if (meets(e, event.target)) {
				if (event.type === "mousedown") window.aimed.pressed = true;
				if (event.type === "click") window.aimed.clicked = true;
				return;
			}
			event.preventDefault();
			event.stopImmediatePropagation();
		};
		window.aimed = {
			clicked: false,
			pressed: false,
			hit: () => window.aimed.clicked || (window.aimed.pressed && !e.isConnected),
			end: () => events.forEach((type) => removeEventListener(type, guard, true)),
		};
		events.forEach((type) => addEventListener(type, guard, true));
		return is;
	};`

// Click presses the mouse on the first element of a CSS selector or an XPath, which begins with "/". It waits, for two
// minutes at most, until the element is seen, stands still, is enabled and is below nothing, and tries again if the
// element moved away in between. It needs a page that may run scripts.
func Click(selector string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		return again(ctx, "clicking "+selector, func(ctx context.Context) (bool, error) {
			var at *struct{ X, Y float64 }
			if err := evaluate(ctx, "place", selector, &at); err != nil || at == nil {
				return false, err
			}
			if err := chromedp.MouseClickXY(at.X, at.Y).Do(ctx); err != nil {
				return false, fmt.Errorf("clicking: %w", err)
			}
			hit := true
			// Where the click led to another page, nothing is left to ask.
			err := chromedp.Evaluate(`(() => {
				const hit = window.aimed?.hit() ?? true;
				window.aimed?.end();
				return hit;
			})()`, &hit).Do(ctx)
			return hit || err != nil, nil
		})
	})
}

// Focus moves the focus to the first element of a CSS selector or an XPath as soon as it is seen and takes it.
func Focus(selector string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		return again(ctx, "focusing "+selector, func(ctx context.Context) (bool, error) {
			var focused bool
			err := evaluate(ctx, `(async (selector) => {
				const e = find(selector);
				if (!seen(e) || e.disabled) return false;
				e.focus();
				return document.activeElement === e;
			})`, selector, &focused)
			return focused, err
		})
	})
}

// Type moves the focus to an element as Focus does, and presses the keys of a text.
func Type(selector, text string) chromedp.Tasks {
	return chromedp.Tasks{Focus(selector), chromedp.KeyEvent(text)}
}

// evaluate calls a function of aim with a selector.
func evaluate(ctx context.Context, function, selector string, result any) error {
	quoted, err := json.Marshal(selector)
	if err != nil {
		return fmt.Errorf("quoting the selector: %w", err)
	}
	expression := "(async () => {" + aim + "\nreturn " + function + "(" + string(quoted) + ");\n})()"
	await := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	if err := chromedp.Evaluate(expression, result, await).Do(ctx); err != nil {
		return fmt.Errorf("asking the page: %w", err)
	}
	return nil
}
