package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/input"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// What the shopkeeper is asked for, and chooses.
const (
	teapotsRunOut = "The teapots run out."
	teapotChoice  = "green"
)

// playAsk shows an agent that asks a person, and a person who answers on the page behind a
// link, with a browser that knows no JavaScript.
func (d *demo) playAsk(ctx context.Context) error {
	var run v1.Run
	d.say("\n  An agent that asks a person\n")
	err := d.step("run the agent buyer", func() (_ string, err error) {
		run, err = d.finishWith(ctx, func(input json.RawMessage) (v1.Run, error) {
			return d.api.StartRun(ctx, v1.NewRun{Agent: "buyer", Input: input, Mode: tool.Production})
		}, teapotsRunOut, d.answerAsked)
		return fmt.Sprintf("%s after %d turns", run.Status, run.Turns), err
	})
	if err != nil {
		return err
	}
	calls, err := gather(ctx, d.api, run.ID)
	if err != nil {
		return fmt.Errorf("listing the calls: %w", err)
	}
	d.say("")
	printCalls(d.out, calls)
	d.say("\n  Agent: %s", wrap(run.Output))
	err = check(calls, []outcome{{call: "colour", tool: "request_input@1.2.0", status: tool.StatusCompleted, attempts: 1}})
	if !strings.Contains(run.Output, teapotChoice) {
		err = errors.Join(err, fmt.Errorf("the agent was not told the answer: %q", run.Output))
	}
	return err
}

// answerAsked answers a request for input on its page, as a person does who got the link.
func (d *demo) answerAsked(ctx context.Context, e tool.Event) error {
	var offered agent.CallOffered
	if e.Type != tool.EventPending {
		return nil
	}
	if err := json.Unmarshal(e.Data, &offered); err != nil {
		return fmt.Errorf("reading event %d: %w", e.Seq, err)
	}
	if offered.Kind != input.Kind {
		return nil
	}
	run, err := d.api.Run(ctx, e.RunID)
	if err != nil {
		return err
	}
	if len(run.Asks) != 1 {
		return fmt.Errorf("the run asks %d persons: expected one", len(run.Asks))
	}
	asked := run.Asks[0]
	return d.step("\n  a person opens "+input.Path+"… and answers", func() (string, error) {
		page, err := openPage(d.platform.URL(), asked.ShareURL)
		if err != nil {
			return "", err
		}
		defer page.Close()
		if err := page.get(ctx, http.StatusOK, asked.Title); err != nil {
			return "", err
		}
		if err := page.post(ctx, url.Values{input.ChoiceKey: {teapotChoice}}); err != nil {
			return "", err
		}
		return teapotChoice, page.get(ctx, http.StatusOK, "the answer has arrived")
	})
}

// openedPage is a page of a request for input, as a browser without JavaScript has it.
type openedPage struct {
	gate *egress.Gate
	link string
}

func openPage(server, link string) (*openedPage, error) {
	base, err := url.Parse(server)
	if err != nil {
		return nil, fmt.Errorf("reading the address of the platform: %w", err)
	}
	at, err := base.Parse(link)
	if err != nil {
		return nil, fmt.Errorf("reading the link: %w", err)
	}
	policy := egress.Policy{AllowHosts: []string{at.Host}}
	gate, err := egress.New(egress.Config{Policy: func(tool.TenantID) egress.Policy { return policy }})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &openedPage{gate, at.String()}, nil
}

// Close frees the connections.
func (p *openedPage) Close() { p.gate.Close() }

func (p *openedPage) send(ctx context.Context, method string, form url.Values) (status int, text string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, p.link, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, "", fmt.Errorf("making the request: %w", err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := p.gate.Client(egress.Access{Class: tool.EgressWrite}).Do(req)
	if err != nil {
		return 0, "", fmt.Errorf("asking for the page: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return 0, "", fmt.Errorf("reading the page: %w", err)
	}
	return resp.StatusCode, string(raw), nil
}

func (p *openedPage) get(ctx context.Context, status int, text string) error {
	got, page, err := p.send(ctx, http.MethodGet, nil)
	if err == nil && (got != status || !strings.Contains(page, text)) {
		err = fmt.Errorf("the page answers %d without %q", got, text)
	}
	return err
}

func (p *openedPage) post(ctx context.Context, form url.Values) error {
	got, _, err := p.send(ctx, http.MethodPost, form)
	// The client follows the redirect to the page, or shows it.
	if err == nil && got != http.StatusSeeOther && got != http.StatusOK {
		err = fmt.Errorf("the page refuses the answer with %d", got)
	}
	return err
}
