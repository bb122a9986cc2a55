package custom_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/executors/custom"
	"github.com/toolcrib/toolcrib/tool"
)

// greeter is a host's executor. Its tools configure a language.
type greeter map[string]string

func (g greeter) Execute(_ context.Context, call *tool.Call) (*tool.Result, error) {
	var c struct{ Language string }
	var in struct{ Name string }
	if json.Unmarshal(call.Version.Snapshot.Config, &c) != nil || json.Unmarshal(call.Arguments, &in) != nil {
		return nil, &tool.Error{Kind: tool.Invalid, Msg: "want a language and a name"}
	}
	return &tool.Result{Content: []tool.Content{tool.Text(g[c.Language] + ", " + in.Name)}}, nil
}

// CheckConfig judges tools before they are published.
func (g greeter) CheckConfig(config json.RawMessage) error {
	var c struct{ Language string }
	if json.Unmarshal(config, &c) != nil || g[c.Language] == "" {
		return &tool.Error{Kind: tool.Invalid, Path: "/language", Msg: "want en or fr"}
	}
	return nil
}

// A host gives its executors by name to worker.Config.Custom, which makes a mux
// of them. Tools name one, and configure it.
func Example() {
	mux, err := custom.New(map[string]tool.Executor{"greeter": greeter{"en": "Hello", "fr": "Bonjour"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	call := &tool.Call{Arguments: json.RawMessage(`{"name": "Ada"}`), Version: &tool.Version{Snapshot: tool.Snapshot{
		Definition: tool.Definition{
			Implementation: tool.Custom, Config: json.RawMessage(`{"executor": "greeter", "language": "fr"}`),
		},
	}}}
	result, err := mux.Execute(context.Background(), call)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Content[0].Text)
	fmt.Println(mux.Check(json.RawMessage(`{"executor": "greeter", "language": "xx"}`)))
	fmt.Println(mux.Check(json.RawMessage(`{"executor": "greater"}`)))
	// Output:
	// Bonjour, Ada
	// custom.Check: invalid: want en or fr
	// custom.Check: conflict: no worker here has an executor "greater": did you mean "greeter"?
}
