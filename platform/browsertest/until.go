package browsertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/chromedp"
)

// patience bounds how long a page is waited for, and pause is how long it is left alone in between.
const (
	patience = 2 * time.Minute
	pause    = 20 * time.Millisecond
)

// Until waits for a condition of the page, an expression of JavaScript. The page may be another one by then. It waits
// for two minutes at most.
func Until(condition string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		return again(ctx, "waiting until "+condition, func(ctx context.Context) (holds bool, err error) {
			err = chromedp.Evaluate("!!("+condition+")", &holds).Do(ctx)
			return holds && err == nil, err
		})
	})
}

// again tries until it succeeds. A failure is tried again too: the page may be another one by then. What failed last is
// a part of the error.
func again(ctx context.Context, what string, try func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var last error
	for {
		done, err := try(ctx)
		if done {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, errors.Join(ctx.Err(), last))
		case <-time.After(pause):
		}
	}
}
