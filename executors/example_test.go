package executors_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/executors/internalcall"
	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/tool"
)

func Example() {
	functions := function.NewRegistry()
	type greeting struct {
		Name string `json:"name"`
	}
	err := function.Define(functions, "greet", "Greets somebody.", func(_ context.Context, in greeting) (string, error) {
		return "Hello, " + in.Name + "!", nil
	}, function.Pure())
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := executors.NewMux()
	mux.Use(middleware.Standard(middleware.Options{Logger: slog.New(slog.DiscardHandler)})...)
	mux.Handle(tool.Function, function.New(functions))
	mux.Handle(tool.Internal, internalcall.New(nil, nil))

	greet, _ := functions.Tool("greet")
	res, err := mux.Execute(context.Background(), &tool.Call{
		Version:   &tool.Version{Slug: "greet", Number: "1.0.0", Snapshot: tool.Snapshot{Definition: greet.Definition}},
		Egress:    greet.Policy.EgressClass,
		Arguments: []byte(`{"name": "Ada"}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mux.Types(), res.Content[0].Text)
	// Output: [function internal] Hello, Ada!
}
