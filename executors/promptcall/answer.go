package promptcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// maxQuoted bounds the quote of an unusable answer, in bytes.
const maxQuoted = 2 << 10

// said is the structured value of a text.
type said struct {
	Text  string      `json:"text"`
	Model string      `json:"model"`
	Usage agent.Usage `json:"usage"`
}

// answer returns a model's answer as a result.
func (e *Executor) answer(
	ctx context.Context, p *prompt, call *tool.Call, resp *agent.ModelResponse,
) (*tool.Result, error) {
	switch {
	case resp == nil:
		return nil, &tool.Error{
			Kind: tool.InternalError, Op: "promptcall.Execute", Msg: "internal error", Sent: true,
			Err: errors.New("the model returned neither an answer nor an error"),
		}
	case resp.Truncated:
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "promptcall.Execute", Sent: true, Answered: true,
			Msg: fmt.Sprintf(
				"the answer of %s was cut off after %d tokens: ask for less, or raise max_tokens in the tool's model_options",
				p.Model, resp.Usage.OutputTokens,
			),
		}
	case strings.TrimSpace(resp.Text) == "" && len(resp.Calls) > 0:
		return tool.ErrorResult(p.Model + " called a tool instead of answering, and a prompt has none"), nil
	case strings.TrimSpace(resp.Text) == "":
		return tool.ErrorResult(p.Model + " returned an empty answer"), nil
	case p.wantsJSON(call):
		return e.value(ctx, p, call, resp.Text)
	}
	structured, err := json.Marshal(said{Text: resp.Text, Model: p.Model, Usage: resp.Usage})
	if err != nil {
		return nil, fmt.Errorf("encoding the answer: %w", err)
	}
	return &tool.Result{Content: []tool.Content{tool.Text(resp.Text)}, Structured: structured}, nil
}

// value returns the JSON value in a text as a result, repaired where that is
// unambiguous. Middleware validates it against the output schema.
func (e *Executor) value(ctx context.Context, p *prompt, call *tool.Call, text string) (*tool.Result, error) {
	outputSchema := call.Version.Snapshot.OutputSchema
	if len(outputSchema) == 0 {
		outputSchema = json.RawMessage(`true`)
	}
	want, err := e.schemas.Compile(outputSchema)
	if err != nil {
		return nil, &tool.Error{
			Kind: tool.InternalError, Op: "promptcall.Execute", Msg: "the tool's output schema can't be used", Sent: true,
			Answered: true, Err: err,
		}
	}
	value, receipt, err := want.Prepare(ctx, json.RawMessage(text))
	if err != nil {
		return tool.ErrorResult(fmt.Sprintf("the answer of %s is not the required JSON: %s. It answered: %s", p.Model,
			tool.AsError(err).Msg, tool.Clip(strings.TrimSpace(text), maxQuoted))), nil
	}
	out := tool.JSONResult(value)
	if len(receipt) > 0 {
		out.Warnings = []string{fmt.Sprintf("the answer of %s was repaired: %s", p.Model, receipt.JSON())}
	}
	return out, nil
}
