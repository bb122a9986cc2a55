package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// maxAnswerRepairs is how often a model is asked again, within a turn, for a final answer that
// the agent's output schema refuses.
const maxAnswerRepairs = 2

// instructed returns the instructions of an agent, with its output schema.
func instructed(d *agent.Definition) string {
	if len(d.OutputSchema) == 0 {
		return d.Instructions
	}
	return strings.TrimSpace(d.Instructions + "\n\nGive your final answer as one JSON value that matches this JSON " +
		"Schema, without any text around it:\n" + string(d.OutputSchema))
}

// conform makes a model's final answer one that matches the agent's output schema: canonical
// JSON. It asks the model again where the answer cannot be repaired, and fails with tool.Invalid
// where the model gives none that matches. An answer with calls is not final. What all answers
// used together is returned in each case.
func (a *Activities) conform(
	ctx context.Context, d *agent.Definition, open agent.OpenTurn, resp *agent.ModelResponse,
	ask func(agent.OpenTurn) (*agent.ModelResponse, error),
) (matching *agent.ModelResponse, usage agent.Usage, err error) {
	usage = resp.Usage
	if len(d.OutputSchema) == 0 {
		return resp, usage, nil
	}
	output, err := a.Schemas.Compile(d.OutputSchema)
	if err != nil {
		return nil, usage, fmt.Errorf("compiling the output schema: %w", err)
	}
	for repair := 1; len(resp.Calls) == 0; repair++ {
		answer := answerText(resp)
		value, _, err := output.Prepare(ctx, json.RawMessage(answer))
		if err == nil {
			resp = withAnswer(resp, string(value))
			break
		}
		refused := tool.AsError(err)
		if refused.Kind != tool.Invalid {
			return nil, usage, fmt.Errorf("checking the answer: %w", err)
		}
		if repair > maxAnswerRepairs {
			return nil, usage, &tool.Error{
				Kind: tool.Invalid, Op: "activities.Advance", Msg: fmt.Sprintf(
					"the model's answer does not match the agent's output schema, after it was asked %d times: %s", repair,
					refused.Msg),
			}
		}
		activity.GetLogger(ctx).Info("the model is asked again: its answer does not match the output schema",
			"run_id", open.Run.ID, "repair", repair, "problem", tool.Clip(refused.Msg, 500))
		open.Followed = false // What is streamed is the first answer; the stored one replaces it.
		open.Transcript = append(slices.Clip(open.Transcript),
			agent.Message{Role: agent.RoleAssistant, Content: []tool.Content{tool.Text(cmp.Or(answer, "(no answer)"))}},
			agent.Message{Role: agent.RoleUser, Content: []tool.Content{tool.Text(
				"Your answer does not match the JSON Schema: " + refused.Msg +
					". Answer again, with one JSON value that matches it.",
			)}})
		if resp, err = ask(open); err != nil {
			return nil, usage, err
		}
		usage = total(usage, resp.Usage)
	}
	return resp, usage, nil
}

// answerText returns the text of an answer, without the blocks of a provider's own tools.
func answerText(resp *agent.ModelResponse) string {
	if len(resp.Content) == 0 {
		return resp.Text
	}
	var out strings.Builder
	for _, b := range resp.Content {
		if b.Type == tool.ContentText {
			out.WriteString(b.Text)
		}
	}
	return out.String()
}

// withAnswer returns an answer whose text is another one.
func withAnswer(resp *agent.ModelResponse, text string) *agent.ModelResponse {
	out := *resp
	out.Text = text
	if len(resp.Content) > 0 {
		out.Content = slices.DeleteFunc(slices.Clone(resp.Content), func(b tool.Content) bool {
			return b.Type == tool.ContentText
		})
		out.Content = append(out.Content, tool.Text(text))
	}
	return &out
}

// total adds what two answers used.
func total(a, b agent.Usage) agent.Usage {
	return agent.Usage{
		InputTokens: a.InputTokens + b.InputTokens, OutputTokens: a.OutputTokens + b.OutputTokens,
		CachedInputTokens: a.CachedInputTokens + b.CachedInputTokens, ReasoningTokens: a.ReasoningTokens + b.ReasoningTokens,
	}
}
