package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/binding"
)

// maxNamed bounds the failed items that a text names.
const maxNamed = 20

// gather returns the result of a map, and a text that counts its items and names those that failed.
func (e *evaluation) gather() (json.RawMessage, string) {
	path := flow.Join(e.step.Frame, e.n.ID)
	var outputs []json.RawMessage
	var failed []string
	total, succeeded := 0, 0
	for ; ; total++ {
		r := e.record(flow.Join(path, strconv.Itoa(total)))
		if r == nil {
			break
		}
		if r.Status == Completed {
			succeeded++
			outputs = append(outputs, r.value())
			continue
		}
		failed = append(failed, fmt.Sprintf("item %d: %s", total, r.Error))
		if e.n.Failed == Null {
			outputs = append(outputs, json.RawMessage("null"))
		}
	}
	text := fmt.Sprintf("%d of %d items succeeded.", succeeded, total)
	if len(failed) > 0 {
		text += " Failed: " + strings.Join(failed[:min(len(failed), maxNamed)], "; ")
		if len(failed) > maxNamed {
			text += fmt.Sprintf("; and %d more", len(failed)-maxNamed)
		}
		text += "."
	}
	return reduce(e.n.Reduce, outputs, succeeded), text
}

// reduce joins the outputs of items. What does not fit its reducer is left out.
func reduce(how Reducer, outputs []json.RawMessage, succeeded int) json.RawMessage {
	switch how {
	case Count:
		return json.RawMessage(strconv.Itoa(succeeded))
	case Sum:
		return sum(outputs)
	case Concat:
		var all []json.RawMessage
		for _, o := range outputs {
			var items []json.RawMessage
			if json.Unmarshal(o, &items) == nil {
				all = append(all, items...)
			}
		}
		return array(all)
	case Merge:
		all := map[string]json.RawMessage{}
		for _, o := range outputs {
			var members map[string]json.RawMessage
			if json.Unmarshal(o, &members) == nil {
				maps.Copy(all, members)
			}
		}
		out, err := binding.Marshal(all)
		if err != nil {
			return json.RawMessage("{}")
		}
		return out
	case List, "":
		return array(outputs)
	default:
		return array(outputs)
	}
}

// sum adds numbers without loss, as decimals.
func sum(outputs []json.RawMessage) json.RawMessage {
	total := new(big.Rat)
	places := 0
	for _, o := range outputs {
		text := plain(string(bytes.TrimSpace(o)))
		v, ok := new(big.Rat).SetString(text)
		if !ok {
			continue
		}
		total.Add(total, v)
		if _, after, found := strings.Cut(text, "."); found {
			places = max(places, len(after))
		}
	}
	if total.IsInt() {
		return json.RawMessage(total.Num().String())
	}
	return json.RawMessage(strings.TrimRight(total.FloatString(max(places, 1)+6), "0"))
}

// plain returns a JSON number without an exponent; "" for what is none, or too long to add.
func plain(text string) string {
	const most = 100
	if text == "" || len(text) > most || !strings.ContainsAny(text[:1], "-0123456789") {
		return ""
	}
	if !strings.ContainsAny(text, "eE") {
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(f) > 1e18 {
		return ""
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func array(items []json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(item)
	}
	out.WriteByte(']')
	return out.Bytes()
}

// branches returns the result of a parallel node: the outputs of its branches by id.
func (e *evaluation) branches() json.RawMessage {
	path := flow.Join(e.step.Frame, e.n.ID)
	var out bytes.Buffer
	out.WriteByte('{')
	for i, b := range e.n.bodies {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(strconv.Quote(b.branch) + ":")
		out.Write(e.record(flow.Join(path, b.branch)).value())
	}
	out.WriteByte('}')
	return out.Bytes()
}
