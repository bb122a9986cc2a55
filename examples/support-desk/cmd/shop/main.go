// Command shop serves the company's API of the support-desk example on
// loopback. It reads its token from SHOP_TOKEN.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/toolcrib/toolcrib/examples/support-desk/shop"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	addr := flag.String("listen", shop.Address, "the loopback address to serve on")
	failures := flag.Int("carrier-failures", 1, "how often the carrier is down before it answers")
	flag.Parse()
	service, err := shop.New(shop.Config{
		Token: os.Getenv("SHOP_TOKEN"), Latency: 50 * time.Millisecond, CarrierFailures: *failures,
	})
	if err != nil {
		return fmt.Errorf("%w; set SHOP_TOKEN", err)
	}
	server := &http.Server{Addr: *addr, Handler: service, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Fprintln(os.Stdout, "the shop answers at http://"+*addr)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}
