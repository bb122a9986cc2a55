package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

type problemInput struct {
	Name string `path:"name" maxLength:"64" doc:"The last part of a problem's type" example:"not_found"`
}

// registerProblems adds the list of problem classes, without authentication:
// the type of a problem links to it.
func (s *server) registerProblems() {
	describe := func(op huma.Operation) huma.Operation {
		op.Method, op.Tags = http.MethodGet, []string{"problems"}
		op.Middlewares = huma.Middlewares{s.receive}
		op.MaxBodyBytes = s.cfg.MaxBodyBytes
		op.Responses = map[string]*huma.Response{"default": s.problemResponse()}
		return op
	}
	huma.Register(s.api, describe(huma.Operation{
		OperationID: "listProblems", Path: v1.ProblemsPath,
		Summary:     "List the problems that the API returns",
		Description: "Every error response is one of these, as `application/problem+json`. Without a key.",
	}), func(context.Context, *struct{}) (*listed[v1.ProblemClass], error) {
		return answer(v1.Page[v1.ProblemClass]{Items: v1.ProblemClasses()}), nil
	})
	huma.Register(s.api, describe(huma.Operation{
		OperationID: "getProblem", Path: v1.ProblemsPath + "/{name}",
		Summary:     "Explain a problem",
		Description: "The `type` of a problem links here. Without a key.",
	}), func(_ context.Context, in *problemInput) (*body[v1.ProblemClass], error) {
		class, ok := v1.FindProblemClass(in.Name)
		if !ok {
			return nil, refusal(string(tool.NotFound), "there is no problem of this name; "+v1.ProblemsPath+" lists them")
		}
		return answer(class), nil
	})
}
