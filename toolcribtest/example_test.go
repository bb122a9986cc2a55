package toolcribtest_test

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolcribtest"
)

type bookmark struct {
	URL   string `json:"url"`
	Title string `json:"title"`
}

// saveBookmark leaves the last bookmark to the other tools of its run.
func saveBookmark(ctx context.Context, in bookmark) (string, error) {
	if _, err := tool.State(ctx).Set(ctx, "last_bookmark", in); err != nil {
		return "", err
	}
	return "saved " + in.Title, nil
}

// openBookmark opens what saveBookmark saved in the same run.
func openBookmark(ctx context.Context, _ struct{}) (string, error) {
	last, err := tool.State(ctx).Get(ctx, "last_bookmark")
	if err != nil {
		return "", err
	}
	var b bookmark
	if found, err := last.Decode(&b); err != nil || !found {
		return "nothing is saved", err
	}
	return "opening " + b.URL, nil
}

// Two tools that share the state of their run, tested without a platform.
func ExampleState() {
	functions := function.NewRegistry()
	_ = function.Define(functions, "saveBookmark", "Saves a bookmark.", saveBookmark, function.Idempotent())
	_ = function.Define(functions, "openBookmark", "Opens the bookmark that was saved last.", openBookmark)

	ctx := tool.WithState(context.Background(), new(toolcribtest.State))
	for _, call := range [][2]string{
		{"openBookmark", `{}`},
		{"saveBookmark", `{"url": "https://example.com", "title": "Example"}`},
		{"openBookmark", `{}`},
	} {
		result, err := functions.Run(ctx, call[0], []byte(call[1]))
		if err != nil {
			fmt.Println(err)
			return
		}
		var said string
		_ = result.Decode(&said)
		fmt.Println(said)
	}
	// Output:
	// nothing is saved
	// saved Example
	// opening https://example.com
}
