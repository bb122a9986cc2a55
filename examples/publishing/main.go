// Command publishing serves a stand-in for a WordPress and one for a webhook, and prints what is published there.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/toolcrib/toolcrib/examples/publishing/press"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "publishing:", err)
		os.Exit(1) //nolint:forbidigo // This is main.
	}
}

func run(ctx context.Context) error {
	p, err := press.New(press.Config{
		BlogUser: os.Getenv("BLOG_USER"), BlogPassword: os.Getenv("BLOG_PASSWORD"),
		NewsroomToken: os.Getenv("NEWSROOM_TOKEN"),
	}, func(a press.Article) {
		fmt.Fprintf(os.Stdout, "%s: %s: %q\n%s\n\n", a.Place, a.Status, a.Title, a.Body)
	})
	if err != nil {
		return fmt.Errorf("%w; set BLOG_USER, BLOG_PASSWORD and NEWSROOM_TOKEN", err)
	}
	ended := make(chan error)
	for address, handler := range map[string]http.Handler{
		press.BlogAddress: p.Blog(), press.NewsroomAddress: p.Newsroom(),
	} {
		server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: 5 * time.Second}
		context.AfterFunc(ctx, func() { _ = server.Close() })
		go func() { ended <- server.ListenAndServe() }()
	}
	fmt.Fprintf(os.Stdout, "the blog answers at http://%s, the newsroom at http://%s\n",
		press.BlogAddress, press.NewsroomAddress)
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}
