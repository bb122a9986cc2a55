package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// Data is what conditions and bindings of a run are evaluated on.
type Data struct {
	Input   json.RawMessage // The graph's arguments; an object.
	Context Context
	Records map[string]*Record // By path: those that [Graph.Needs] names, where they exist.
}

// Context is the run, as /context leads to.
type Context struct {
	RunID   string `json:"run_id"`
	CallID  string `json:"call_id"`
	Graph   string `json:"graph"` // "slug@version".
	Subject string `json:"subject"`
	Mode    string `json:"mode"`
}

// Needs is what a step is evaluated on.
type Needs struct {
	Paths []string // Of records.
	// Below is the path of a node whose bodies' records are needed, all of them; empty for none.
	Below string
}

// frameOf returns the path of the frame that nodes of body b are in, seen from a frame below.
func frameOf(frame string, from, b *body) string {
	up := from.depth() - b.depth()
	for range up {
		frame = cut(cut(frame))
	}
	return frame
}

// cut leaves out the last element of a path.
func cut(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }

// nearest returns the frame of the innermost item or iteration that a frame is in; "" for none.
func nearest(frame string, from *body, k flow.Kind) string {
	for b := from; b.owner != nil; b = b.owner.body {
		if b.owner.Kind == k {
			return frame
		}
		frame = cut(cut(frame))
	}
	return ""
}

// scope is where something is evaluated.
type scope struct {
	g     *Graph
	data  *Data
	body  *body
	step  flow.Step
	frame string
	state json.RawMessage // Nil to be found.
	// while says that the scope is that of a loop's condition: /last and /iteration are its own.
	while string
	cache map[string]*jsonpointer.Value
}

func (s *scope) record(path string) *Record { return s.data.Records[path] }

// nodePath returns the path of the record of a node that is seen here.
func (s *scope) nodePath(id string) string {
	n := s.g.nodes[id]
	if n == nil {
		return ""
	}
	return flow.Join(frameOf(s.frame, s.body, n.body), id)
}

// lastPath returns the path of the iteration before the one that the scope is in.
func (s *scope) lastPath() (path string, iteration int) {
	if s.while != "" {
		return flow.Join(s.while, strconv.Itoa(s.step.Iteration-1)), s.step.Iteration
	}
	frame := nearest(s.frame, s.body, flow.Loop)
	i := flow.Index(frame)
	return flow.Join(cut(frame), strconv.Itoa(i-1)), i
}

// Value implements binding.Source.
func (s *scope) Value(tokens []string) (*jsonpointer.Value, []string, error) {
	key, below := tokens[0], tokens[1:]
	if named(key) {
		key, below = key+"/"+tokens[1], tokens[2:]
	}
	if v, ok := s.cache[key]; ok {
		return v, below, nil
	}
	raw, err := s.find(tokens)
	if err != nil {
		return nil, nil, err
	}
	var v *jsonpointer.Value
	if raw != nil {
		v = jsonpointer.NewValue(raw)
	}
	if s.cache == nil {
		s.cache = map[string]*jsonpointer.Value{}
	}
	s.cache[key] = v
	return v, below, nil
}

// find returns the value of a root, or of a node; nil where there is none.
func (s *scope) find(tokens []string) (json.RawMessage, error) {
	switch tokens[0] {
	case rootInput:
		return orObject(s.data.Input), nil
	case rootState:
		return s.currentState(), nil
	case rootContext:
		return json.Marshal(s.data.Context)
	case rootError:
		if r := s.record(s.step.Failed); s.step.Failed != "" && r != nil {
			return json.Marshal(problem{Node: r.Path, Kind: r.ErrorKind, Message: r.Error})
		}
		return nil, nil
	case rootItem:
		if r := s.record(nearest(s.frame, s.body, flow.Map)); r != nil {
			return r.Item, nil
		}
		return nil, nil
	case rootIndex:
		return json.RawMessage(strconv.Itoa(flow.Index(nearest(s.frame, s.body, flow.Map)))), nil
	case rootIteration:
		_, i := s.lastPath()
		return json.RawMessage(strconv.Itoa(i)), nil
	case rootLast:
		path, _ := s.lastPath()
		return s.record(path).value(), nil
	}
	r := s.record(s.nodePath(tokens[1])) //nolint:gosec // A reference names its node.
	switch {
	case r == nil || r.Status == Pending:
		return nil, nil
	case tokens[0] == rootOutputs:
		return r.value(), nil
	case tokens[0] == rootSteps:
		return r.seen("")
	default:
		return r.seen(r.Status)
	}
}

// Because implements binding.Source.
func (s *scope) Because(tokens []string) string {
	if !named(tokens[0]) {
		return ""
	}
	noun := s.g.Noun()
	r := s.record(s.nodePath(tokens[1]))
	switch {
	case r == nil || r.Status == Pending:
		return fmt.Sprintf(": %s %q was not run", noun, tokens[1])
	case r.Status == Skipped:
		return fmt.Sprintf(": %s %q was skipped", noun, tokens[1])
	case r.saidNo():
		return fmt.Sprintf(": %s %q returned an error", noun, tokens[1])
	case r.Status == Failed || r.Status == Cancelled:
		return fmt.Sprintf(": %s %q failed (%s): %s", noun, tokens[1], r.ErrorKind, tool.Clip(r.Error, 300))
	case len(tokens) > 2 && tokens[2] == "result" && len(r.Result) == 0:
		return fmt.Sprintf(": %s %q returned text only, at /%s/%s/text", noun, tokens[1], tokens[0], tokens[1])
	default:
		return ""
	}
}

// currentState returns the state that the step begins with.
func (s *scope) currentState() json.RawMessage {
	if s.state != nil {
		return s.state
	}
	if r := s.record(s.step.State); s.step.State != "" && r != nil && len(r.State) > 0 {
		s.state = r.State
		return s.state
	}
	s.state = json.RawMessage("{}")
	if s.g.state != nil {
		first := scope{g: s.g, data: s.data, body: s.g.root}
		if raw, err := s.g.state.Bind(&first, "the first state", "/state"); err == nil {
			s.state = raw
		}
	}
	return s.state
}

// lastAgentOutput is the member of the state that agents set (reference number S3-30).
const lastAgentOutput = "last_agent_output"

// values returns what a condition names.
func (s *scope) values(refs []string) (map[string]any, error) {
	nodes, outputs := map[string]any{}, map[string]any{}
	out := map[string]any{rootNodes: nodes, rootOutputs: outputs, rootItem: nil, rootIndex: int64(-1), rootLast: nil}
	for _, id := range refs {
		for root, into := range map[string]map[string]any{rootNodes: nodes, rootOutputs: outputs} {
			raw, err := s.find([]string{root, id})
			if err != nil {
				return nil, err
			}
			if raw == nil { // It has not run.
				if root == rootNodes {
					into[id] = map[string]any{"status": "none", "is_error": false, "text": ""}
				}
				continue
			}
			if into[id], err = decoded(raw); err != nil {
				return nil, err
			}
		}
	}
	for _, root := range []string{
		rootInput, rootState, rootContext, rootError, rootItem, rootIndex, rootIteration, rootLast,
	} {
		if (root == rootItem || root == rootIndex) && nearest(s.frame, s.body, flow.Map) == "" {
			continue
		}
		if (root == rootIteration || root == rootLast) && s.while == "" && nearest(s.frame, s.body, flow.Loop) == "" {
			out[rootIteration] = int64(-1)
			continue
		}
		raw, err := s.find([]string{root})
		if err != nil {
			return nil, err
		}
		if raw == nil && root == rootError {
			raw = json.RawMessage("{}")
		}
		if raw == nil {
			continue
		}
		if out[root], err = decoded(raw); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func orObject(raw json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// decoded decodes a value. Integers that fit are int64, other numbers float64.
func decoded(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("decoding a value: %w", err)
	}
	return number(v), nil
}

func number(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // An infinity where it does not fit.
		return f
	case []any:
		for i := range v {
			v[i] = number(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = number(v[name])
		}
	}
	return v
}
