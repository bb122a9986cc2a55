package httpcall

import (
	"encoding/json"
	"errors"
	"net/url"
	"strconv"

	"github.com/toolcrib/toolcrib/internal/egress"
)

// turner finds the next page.
type turner interface {
	// next returns the cursor, URL or number of the next page, as JSON; more is
	// false at the last page.
	next(resp *egress.Response, doc *part, items int) (next json.RawMessage, more bool, err error)
	// turn changes a request to the one for the next page.
	turn(req *egress.Request, next json.RawMessage) error
}

// turner returns the pagination's turner, and makes req the request of its first page.
func (p *program) turner(req *egress.Request) (turner, error) {
	switch p.Pagination.Type {
	case pagesByCursor:
		return cursorTurner{p.Pagination}, nil
	case pagesByURL, pagesByLink:
		return linkTurner{p}, nil
	default:
		return p.countTurner(req)
	}
}

var (
	errCursor = errors.New("the next cursor is neither a string nor a number")
	errOrigin = errors.New("the next page is at another origin than the tool's URL")
)

// cursorTurner takes a cursor from the answer.
type cursorTurner struct{ rule *Pagination }

func (t cursorTurner) next(_ *egress.Response, doc *part, _ int) (json.RawMessage, bool, error) {
	raw, ok := doc.at(*t.rule.Next)
	if !ok || !says(raw) {
		return nil, false, nil
	}
	if _, ok := scalar(raw); !ok || kind(raw) == 't' {
		return nil, false, errCursor
	}
	return raw, true, nil
}

func (t cursorTurner) turn(req *egress.Request, next json.RawMessage) error {
	if t.rule.Body == nil {
		text, _ := scalar(next)
		return setParameter(req, t.rule.Parameter, text)
	}
	body, err := place(req.Body, t.rule.Body.Tokens(), next)
	req.Body = body
	return err
}

// linkTurner takes a URL from the answer or a header. It must have the origin of
// the tool's URL.
type linkTurner struct{ program *program }

func (t linkTurner) next(resp *egress.Response, doc *part, _ int) (json.RawMessage, bool, error) {
	target, more, err := t.target(resp, doc)
	if err != nil || !more {
		return nil, false, err
	}
	base, err := url.Parse(resp.URL)
	if err != nil {
		return nil, false, errOrigin
	}
	u, err := base.Parse(target)
	if err != nil {
		return nil, false, errOrigin
	}
	u.Fragment, u.RawFragment = "", ""
	if !t.program.template.sameOrigin(u) {
		return nil, false, errOrigin
	}
	raw, err := json.Marshal(u.String())
	return raw, true, err
}

// target returns the URL in an answer.
func (t linkTurner) target(resp *egress.Response, doc *part) (string, bool, error) {
	if t.program.Pagination.Type == pagesByLink {
		target, ok := nextLink(resp.Header)
		return target, ok, nil
	}
	raw, ok := doc.at(*t.program.Pagination.Next)
	if !ok || !says(raw) {
		return "", false, nil
	}
	if kind(raw) != '"' {
		return "", false, errCursor
	}
	target, _ := scalar(raw)
	return target, true, nil
}

func (t linkTurner) turn(req *egress.Request, next json.RawMessage) error {
	req.URL, _ = scalar(next)
	return nil
}

// countTurner counts pages or items.
type countTurner struct {
	rule *Pagination
	at   int
}

// countTurner starts at the value in the call's arguments, or at the first page.
func (p *program) countTurner(req *egress.Request) (turner, error) {
	t := &countTurner{rule: p.Pagination}
	if t.rule.Type == pagesByNumber {
		t.at = 1
	}
	u, err := url.Parse(req.URL)
	if err != nil {
		return nil, argument("", "can't be filled into the URL")
	}
	if text := u.Query().Get(t.rule.Parameter); text != "" {
		if t.at, err = strconv.Atoi(text); err != nil || t.at < 0 {
			return nil, argument("", "the query parameter "+t.rule.Parameter+" is not a number")
		}
		return t, nil
	}
	if t.rule.First == nil {
		return t, nil
	}
	t.at = *t.rule.First
	return t, setParameter(req, t.rule.Parameter, strconv.Itoa(t.at))
}

func (t *countTurner) next(_ *egress.Response, _ *part, items int) (json.RawMessage, bool, error) {
	if items == 0 || items < t.rule.PageSize {
		return nil, false, nil
	}
	if t.rule.Type == pagesByOffset {
		t.at += items
	} else {
		t.at++
	}
	return json.RawMessage(strconv.Itoa(t.at)), true, nil
}

func (t *countTurner) turn(req *egress.Request, next json.RawMessage) error {
	return setParameter(req, t.rule.Parameter, string(next))
}

func setParameter(req *egress.Request, name, text string) error {
	u, err := url.Parse(req.URL)
	if err != nil {
		return errOrigin
	}
	u.RawQuery = withParameter(u.RawQuery, name, text)
	req.URL = u.String()
	return nil
}
