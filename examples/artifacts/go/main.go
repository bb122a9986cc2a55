// Command go quotes an order: what its lines cost, less 5 % for ten pieces or
// more, plus tax. It is the example of an artifact in WebAssembly: a WASI command
// that reads the call's arguments from its standard input and writes its answer
// to its standard output.
//
//	GOOS=wasip1 GOARCH=wasm go build -ldflags="-s -w" -o quote.wasm ./examples/artifacts/go
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// Order is what the call is about.
type Order struct {
	Lines []struct {
		Quantity  int64 `json:"quantity"`
		UnitCents int64 `json:"unit_cents"`
	} `json:"lines"`
	TaxPercent int64 `json:"tax_percent"`
}

// Quote is the answer.
type Quote struct {
	Subtotal int64 `json:"subtotal_cents"`
	Discount int64 `json:"discount_cents"`
	Tax      int64 `json:"tax_cents"`
	Total    int64 `json:"total_cents"`
}

func main() {
	var o Order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		fmt.Fprintln(os.Stderr, err) // It is printed: the call's output.
		os.Exit(1)                   //nolint:forbidigo // This is main. The tool says "no".
	}
	var q Quote
	var pieces int64
	for _, l := range o.Lines {
		pieces += l.Quantity
		q.Subtotal += l.Quantity * l.UnitCents
	}
	if pieces >= 10 {
		q.Discount = q.Subtotal / 20
	}
	fmt.Fprintln(os.Stderr, pieces, "pieces")
	q.Tax = (q.Subtotal - q.Discount) * o.TaxPercent / 100
	q.Total = q.Subtotal - q.Discount + q.Tax
	_ = json.NewEncoder(os.Stdout).Encode(q) // Who reads it judges it.
}
