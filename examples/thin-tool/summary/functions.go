package summary

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
)

// App is the application: its records, where they are read, and what fills them.
type App struct {
	Records *Records
	Site    string // Such as "http://127.0.0.1:8790".
	// Fill begins to fill a summary for a principal; once, however often it is called.
	Fill func(context.Context, Summary, tool.Principal) error
}

// Define registers the application's functions, for the tenants that have the bundle: to others
// their tools are not there. They are published by themselves.
func (a *App) Define(reg *function.Registry, tenants ...tool.TenantID) error {
	const version = "1.0.0"
	common := []function.Option{function.Tenants(tenants...), function.Publish(version)}
	with := func(more ...function.Option) []function.Option { return append(more, common...) }
	s := steps{a.Records}
	return errors.Join(
		function.Define(reg, "generateExecutiveSummary",
			"Begins an executive summary of an engagement, and answers at once with the link where it is read.",
			a.generate, with(function.Idempotent(), function.Timeout(2*time.Second), function.With(refusalsAreErrors))...),
		function.Define(reg, "askForField", "Prepares what the composer is asked for a field of a summary.",
			s.ask, with(function.Pure(), function.Concurrency("summary", 8))...),
		function.Define(reg, "checkCitations", "Checks that claims name entities of the engagement they rest on.",
			s.check, with(function.Pure(), function.Concurrency("summary", 8))...),
		function.Define(reg, "saveField", "Puts the claims of a field on a summary.", s.save, with(function.Idempotent())...),
		function.Define(reg, "finishSummary", "Completes a summary that has all its fields.",
			s.finish, with(function.Idempotent())...),
		function.Define(reg, "failSummary", "Marks a summary as failed.", s.fail, with(function.Idempotent())...),
	)
}

// generate calls the core with what the call knows.
func (a *App) generate(ctx context.Context, in Input) (Answer, error) {
	info, _ := function.InfoFrom(ctx)
	return Generate(ctx, ExecuteContext{
		Principal: info.Principal, EffectID: info.EffectID, Records: a.Records, Site: a.Site,
		Fill: func(ctx context.Context, s Summary) error { return a.Fill(ctx, s, info.Principal) },
	}, in)
}

// refusalsAreErrors makes an answer with a refusal an answer "no".
func refusalsAreErrors(next tool.Executor) tool.Executor {
	return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
		result, err := next.Execute(ctx, call)
		var a Answer
		if err != nil || json.Unmarshal(result.Structured, &a) != nil || a.Error == nil {
			return result, err
		}
		refused := *result
		refused.IsError = true
		return &refused, nil
	})
}
