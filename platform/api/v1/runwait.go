package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// CallWait is a reason why calls of one turn waited for others of the turn.
type CallWait struct {
	Turn   int              `json:"turn" example:"2"`
	Calls  int              `json:"calls" doc:"Number of calls that waited for this reason" example:"11"`
	MostMS int64            `json:"most_ms" doc:"The longest wait among them; until now for a call that still waits" example:"5200"`
	Reason agent.WaitReason `json:"reason" enum:"max_concurrency,not_pure,tool_mode"`
	Group  string           `json:"concurrency_group,omitempty" example:"default"`
	Tool   string           `json:"tool,omitempty" doc:"The tool that sets the limit, or is not pure" example:"getOrder"`
	Detail string           `json:"detail" doc:"What to change" example:"concurrency group \"default\" runs 1 at a time: max_concurrency of getOrder is not set"`
}

// ModelRetry is an attempt of a turn that failed without an answer of the model.
type ModelRetry struct {
	Turn        int       `json:"turn" example:"2"`
	Attempt     int       `json:"attempt" doc:"Number of the failed attempt, from 1" example:"1"`
	MaxAttempts int       `json:"max_attempts" example:"10"`
	Model       string    `json:"model" example:"openai/gpt-4.1-mini"`
	Kind        tool.Kind `json:"kind" example:"unavailable"`
	Cause       string    `json:"cause" example:"the model provider \"openai\": it refused the connection"`
	RetryAt     time.Time `json:"retry_at" doc:"When the next attempt is due, or was"`
	NextModel   string    `json:"next_model,omitempty" doc:"The fallback model that was asked next, within the same attempt; absent if the attempt is over" example:"anthropic/claude-haiku-4-5"`
}

// FromWait returns w as the API shows it.
func FromWait(w agent.Wait) CallWait {
	return CallWait{
		Turn: w.Turn, Calls: w.Calls, MostMS: w.Most.Milliseconds(), Reason: w.Reason, Group: w.Group, Tool: w.Tool,
		Detail: w.Text,
	}
}

// FromModelRetry returns r as the API shows it.
func FromModelRetry(r agent.ModelRetry) ModelRetry {
	return ModelRetry{
		Turn: r.Turn, Attempt: r.Attempt, MaxAttempts: r.MaxAttempts, Model: r.Model, Kind: r.Kind, Cause: r.Cause,
		RetryAt: r.RetryAt, NextModel: r.NextModel,
	}
}
