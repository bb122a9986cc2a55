package function_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
)

// A basic tool of the server: both schemas derive from the Go types.
func ExampleDefine() {
	type sum struct {
		Numbers []int `json:"numbers" jsonschema:"what to add up"`
	}
	reg := function.NewRegistry()
	err := function.Define(reg, "addNumbers", "Adds numbers up.", func(_ context.Context, in sum) (int, error) {
		total := 0
		for _, n := range in.Numbers {
			total += n
		}
		return total, nil
	}, function.Pure())
	if err != nil {
		fmt.Println(err)
		return
	}
	described, _ := reg.Tool("addNumbers")
	fmt.Println(string(described.Definition.InputSchema))
	result, err := reg.Run(context.Background(), "addNumbers", json.RawMessage(`{"numbers": [2, 3, 37]}`))
	fmt.Println(string(result.Structured), err)
	// Output:
	// {"type":"object","properties":{"numbers":{"type":["null","array"],"items":{"type":"integer"},"description":"what to add up"}},"required":["numbers"],"additionalProperties":false}
	// 42 <nil>
}

// bookmarks is state that outlives a call, kept by who has it: a run.
type bookmarks struct {
	mu   sync.Mutex
	last map[string]string // By run.
}

type bookmark struct {
	URL   string `json:"url"`
	Title string `json:"title"`
}

// save is a method, so it has what its receiver has. Called directly there is
// no run to remember for.
func (b *bookmarks) save(ctx context.Context, in bookmark) (string, error) {
	if info, ok := function.InfoFrom(ctx); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.last[info.RunID] = in.Title
	}
	return "Bookmarked: " + in.Title, nil
}

// A tool with state: a method of whatever holds it.
func ExampleInfoFrom() {
	kept := &bookmarks{last: make(map[string]string)}
	reg := function.NewRegistry()
	if err := function.Define(reg, "saveBookmark", "Saves a bookmark.", kept.save); err != nil {
		fmt.Println(err)
		return
	}
	arguments := json.RawMessage(`{"url": "https://example.com", "title": "Example"}`)
	result, _ := reg.Run(context.Background(), "saveBookmark", arguments)
	fmt.Println(result.Content[0].Text, kept.last)
	inRun := function.WithInfo(context.Background(), function.Info{RunID: "run-1"})
	result, _ = reg.Run(inRun, "saveBookmark", arguments)
	fmt.Println(result.Content[0].Text, kept.last)
	// Output:
	// Bookmarked: Example map[]
	// Bookmarked: Example map[run-1:Example]
}

// machine is the sandbox of one tenant.
type machine struct{ host string }

func (m *machine) exec(command string) string { return m.host + "$ " + command }

// A tool that needs something of whom it is called for: two tenants get two
// sandboxes, and called directly there is none.
func ExampleDefineWith() {
	type command struct {
		Command string `json:"command"`
	}
	machines := map[tool.TenantID]*machine{"acme": {"local"}, "globex": {"remote"}}
	reg := function.NewRegistry()
	err := function.DefineWith(reg, "runCommand", "Runs a command in the sandbox.",
		func(_ context.Context, info function.Info) (*machine, error) {
			if m := machines[info.Principal.Tenant]; m != nil {
				return m, nil
			}
			return nil, errors.New("no sandbox")
		},
		func(_ context.Context, m *machine, in command) (string, error) { return m.exec(in.Command), nil },
		function.Egress(tool.EgressWrite))
	if err != nil {
		fmt.Println(err)
		return
	}
	arguments := json.RawMessage(`{"command": "ls"}`)
	for _, tenant := range []tool.TenantID{"acme", "globex"} {
		ctx := function.WithInfo(context.Background(), function.Info{Principal: tool.Principal{Tenant: tenant}})
		result, _ := reg.Run(ctx, "runCommand", arguments)
		fmt.Println(result.Content[0].Text)
	}
	_, err = reg.Run(context.Background(), "runCommand", arguments)
	fmt.Println(tool.KindOf(err))
	// Output:
	// local$ ls
	// remote$ ls
	// invalid
}

// Middleware around one tool: it notes what passes, and lets errors through.
func ExampleWith() {
	type query struct {
		Query string `json:"query"`
	}
	logging := func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			fmt.Println("executing", string(call.Arguments))
			result, err := next.Execute(ctx, call)
			switch {
			case err != nil:
				fmt.Println("failed:", err)
			case result.IsError:
				fmt.Println("refused:", result.Content[0].Text)
			default:
				fmt.Println("done")
			}
			return result, err
		})
	}
	reg := function.NewRegistry()
	err := function.Define(reg, "queryDatabase", "Queries the database.",
		func(_ context.Context, in query) ([]string, error) {
			if !strings.HasPrefix(in.Query, "select ") {
				return nil, errors.New("only select is allowed")
			}
			return []string{"teapot", "cup"}, nil
		}, function.With(logging))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, arguments := range []string{`{"query": "select name from items"}`, `{"query": "drop table items"}`} {
		_, _ = reg.Run(context.Background(), "queryDatabase", json.RawMessage(arguments))
	}
	// Output:
	// executing {"query":"select name from items"}
	// done
	// executing {"query":"drop table items"}
	// refused: only select is allowed
}

// A middleware that knows the types needs no option: it wraps the function.
func ExampleDefine_typedMiddleware() {
	type city struct {
		Name string `json:"name"`
	}
	trimmed := func(next func(context.Context, city) (string, error)) func(context.Context, city) (string, error) {
		return func(ctx context.Context, in city) (string, error) {
			in.Name = strings.TrimSpace(in.Name)
			return next(ctx, in)
		}
	}
	reg := function.NewRegistry()
	err := function.Define(reg, "greetCity", "Greets a city.", trimmed(func(_ context.Context, in city) (string, error) {
		return "Good morning, " + in.Name + "!", nil
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	result, _ := reg.Run(context.Background(), "greetCity", json.RawMessage(`{"name": "  Oslo "}`))
	fmt.Println(result.Content[0].Text)
	// Output: Good morning, Oslo!
}

// A tool with a lifecycle: it is opened and closed with the worker, and its
// errors may be turned into answers.
func ExampleLifecycle() {
	type location struct {
		Location string `json:"location"`
	}
	var stations map[string]string
	reg := function.NewRegistry()
	err := function.Define(reg, "getWeather", "Gets the weather of a place.",
		func(_ context.Context, in location) (string, error) {
			weather, ok := stations[in.Location]
			if !ok {
				return "", errors.New("no station there")
			}
			return "Weather in " + in.Location + ": " + weather, nil
		}, function.Lifecycle(function.Hooks{
			Open: func(context.Context) error {
				fmt.Println("opened")
				stations = map[string]string{"Oslo": "snow"}
				return nil
			},
			Close:    func() error { fmt.Println("closed"); return nil },
			Complete: func(_ context.Context, answer *tool.Result) { fmt.Println("answered", string(answer.Structured)) },
			Error: func(_ context.Context, err error) (*tool.Result, error) {
				return tool.ErrorResult(err.Error() + ", ask for Oslo"), nil
			},
		}))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	if err := reg.Open(ctx); err != nil { // A worker does this.
		fmt.Println(err)
		return
	}
	for _, place := range []string{"Oslo", "Atlantis"} {
		result, _ := reg.Run(ctx, "getWeather", json.RawMessage(`{"location": "`+place+`"}`))
		fmt.Println(result.Content[0].Text)
	}
	fmt.Println(reg.Close())
	// Output:
	// opened
	// answered "Weather in Oslo: snow"
	// Weather in Oslo: snow
	// no station there, ask for Oslo
	// closed
	// <nil>
}

// A tool that says its answer piece by piece.
func ExampleRegistry_Run() {
	type topic struct {
		Topic string `json:"topic"`
	}
	reg := function.NewRegistry()
	err := function.Define(reg, "tellStory", "Tells a story.", func(ctx context.Context, in topic) (string, error) {
		var whole strings.Builder
		for _, piece := range []string{"Once upon a time ", "there was ", in.Topic, "."} {
			tool.AppendOutput(ctx, piece)
			whole.WriteString(piece)
		}
		return whole.String(), nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	watched := tool.WithOutput(context.Background(), func(piece string) { fmt.Printf("%q\n", piece) })
	result, _ := reg.Run(watched, "tellStory", json.RawMessage(`{"topic": "a teapot"}`))
	fmt.Println(result.Content[0].Text)
	// Output:
	// "Once upon a time "
	// "there was "
	// "a teapot"
	// "."
	// Once upon a time there was a teapot.
}
