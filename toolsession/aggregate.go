package toolsession

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Function is how submissions are joined.
type Function string

// Functions that are computed here. Any other name is that of a tool, which is called with the submissions.
const (
	Count   Function = "count"   // How many there are.
	Sum     Function = "sum"     // Of a number.
	Average Function = "average" // Of a number.
	GroupBy Function = "group"   // How often each value was given.
	Ranking Function = "ranking" // Submissions by a number, the highest first.
	ByTool  Function = "tool"
)

// maxGroups and maxRanked bound a result.
const (
	maxGroups = 100
	maxRanked = 20
	maxValue  = 200 // Bytes of a value that is grouped by.
)

// Aggregate is the aggregate of a definition: "count"; a function and the place of a value, such as
// "average:output.score" or "group:input.choice"; or the slug of a tool. Empty is as "count".
type Aggregate struct {
	Function Function
	Tool     string   // Of [ByTool].
	Path     []string // Of the value: "input" or "output", then members.
}

// ParseAggregate fails with tool.Invalid for what is none.
func ParseAggregate(text string) (Aggregate, error) {
	name, place, placed := strings.Cut(text, ":")
	f := Function(name)
	switch {
	case text == "" || f == Count && !placed:
		return Aggregate{Function: Count}, nil
	case f == Sum || f == Average || f == GroupBy || f == Ranking:
		if !placed { // A result that is a number, or a text, by itself.
			place = "output"
		}
		path := strings.Split(place, ".")
		if path[0] != "input" && path[0] != "output" || slices.Contains(path, "") {
			return Aggregate{}, invalid(
				"/aggregate",
				"aggregate %.80q: expected a value of the input or the output, as in %s:output.score",
				text,
				f,
			)
		}
		return Aggregate{Function: f, Path: path}, nil
	case !placed && tool.ValidSlug(text):
		return Aggregate{Function: ByTool, Tool: text}, nil
	}
	return Aggregate{}, invalid(
		"/aggregate",
		"aggregate %.80q: expected count, sum, average, group or ranking with the place of a value, or the slug of a tool",
		text,
	)
}

// Joined is what submissions come to.
type Joined struct {
	Function Function `json:"function"`
	Of       string   `json:"of,omitempty"` // The place of the value.
	// Submissions counts those that ended with a result, and Left those of them without a value that can be joined.
	Submissions int             `json:"submissions"`
	Left        int             `json:"left_out,omitempty"`
	Value       json.RawMessage `json:"value,omitempty"` // A number, written out.
	Groups      []Group         `json:"groups,omitempty"`
	Ranked      []Ranked        `json:"ranked,omitempty"`
	More        int             `json:"more,omitempty"` // Groups or ranks that are not listed.
}

// Group is a value, and how often it was given.
type Group struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// Ranked is a submission with its number.
type Ranked struct {
	SubmissionID string          `json:"submission_id"`
	Value        json.RawMessage `json:"value"`
}

// Join computes an aggregate that no tool computes, of submissions that ended with a result. Numbers are exact, up to
// 12 decimals of an average.
func (a Aggregate) Join(of []Submission) Joined {
	out := Joined{Function: a.Function, Of: strings.Join(a.Path, ".")}
	var ended []Submission
	for i := range of {
		if of[i].Status == Done {
			ended = append(ended, of[i])
		}
	}
	out.Submissions = len(ended)
	switch a.Function {
	case Count, ByTool:
		out.Value, _ = json.Marshal(len(ended))
	case GroupBy:
		a.group(ended, &out)
	case Sum, Average, Ranking:
		a.numbers(ended, &out)
	}
	return out
}

func (a Aggregate) group(ended []Submission, out *Joined) {
	counts := map[string]int{}
	for i := range ended {
		raw, ok := a.value(&ended[i])
		if !ok || len(raw) > maxValue {
			out.Left++
			continue
		}
		var word string
		if json.Unmarshal(raw, &word) != nil {
			word = string(raw)
		}
		counts[word]++
	}
	for value, n := range counts {
		out.Groups = append(out.Groups, Group{value, n})
	}
	slices.SortFunc(out.Groups, func(x, y Group) int { return cmp.Or(y.Count-x.Count, cmp.Compare(x.Value, y.Value)) })
	if n := len(out.Groups); n > maxGroups {
		out.Groups, out.More = out.Groups[:maxGroups], n-maxGroups
	}
}

func (a Aggregate) numbers(ended []Submission, out *Joined) {
	type numbered struct {
		id  string
		n   *big.Rat
		raw json.RawMessage
	}
	var all []numbered
	sum := new(big.Rat)
	for i := range ended {
		raw, ok := a.value(&ended[i])
		n, is := numberOf(raw)
		if !ok || !is {
			out.Left++
			continue
		}
		all = append(all, numbered{ended[i].ID, n, raw})
		sum.Add(sum, n)
	}
	switch {
	case a.Function == Ranking:
		slices.SortStableFunc(all, func(x, y numbered) int { return cmp.Or(y.n.Cmp(x.n), cmp.Compare(x.id, y.id)) })
		for _, r := range all[:min(len(all), maxRanked)] {
			out.Ranked = append(out.Ranked, Ranked{r.id, r.raw})
		}
		out.More = max(0, len(all)-maxRanked)
	case a.Function == Sum:
		out.Value = written(sum)
	case len(all) > 0:
		out.Value = written(sum.Quo(sum, new(big.Rat).SetInt64(int64(len(all)))))
	}
}

// maxDigits bounds a number that is joined: one with a huge exponent would take all memory.
const maxDigits = 40

func numberOf(raw json.RawMessage) (*big.Rat, bool) {
	text := string(raw)
	if text == "" || len(text) > maxDigits || !strings.ContainsRune("-0123456789", rune(text[0])) {
		return nil, false
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 && len(text)-at > 4 { // At most two digits of an exponent.
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

func written(n *big.Rat) json.RawMessage {
	const decimals = 12
	text := n.FloatString(decimals)
	if strings.ContainsRune(text, '.') {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		text = "0"
	}
	return json.RawMessage(text)
}

// Trim drops of a submission what [Aggregate.Join] does not read: what people send is large.
func (a Aggregate) Trim(s *Submission) {
	var raw json.RawMessage
	if len(a.Path) > 0 {
		raw, _ = a.value(s)
	}
	s.Input, s.Output = nil, nil
	if len(raw) == 0 || len(raw) > maxValue {
		return
	}
	for _, name := range slices.Backward(a.Path[1:]) {
		raw, _ = json.Marshal(map[string]json.RawMessage{name: raw})
	}
	if a.Path[0] == "input" {
		s.Input = raw
	} else {
		s.Output = raw
	}
}

// value returns the value of a submission that is joined.
func (a Aggregate) value(s *Submission) (json.RawMessage, bool) {
	raw := s.Output
	if a.Path[0] == "input" {
		raw = s.Input
	}
	for _, name := range a.Path[1:] {
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return nil, false
		}
		raw = members[name]
	}
	raw = slices.Clone(raw)
	return raw, len(raw) > 0 && string(raw) != "null"
}
