package field

import (
	"encoding/json"
	"fmt"
	"math/big"
	"mime"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// checkDisplay checks the type and the display.
func checkDisplay(f *Field, path string) error {
	all, known := displays[f.Type]
	switch {
	case f.Type == "":
		return refuse(path+"/type", "expected a type: one of %s", list(Types()))
	case !known:
		return refuse(path+"/type", "unknown type %.40q: expected one of %s", f.Type, list(Types()))
	case f.Display != "" && !slices.Contains(all, f.Display):
		return refuse(path+"/display", "a field of type %s has no display %.40q: expected one of %s", f.Type, f.Display,
			list(all))
	}
	return nil
}

func list[T ~string](names []T) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ", ")
}

func checkTexts(f *Field, path string) error {
	for _, t := range []struct{ name, text string }{
		{"label", f.Label},
		{"description", f.Description},
		{"placeholder", f.Placeholder},
		{"help", f.Help},
		{"unit", f.Unit},
		{"section", f.Section},
		{"entity_type", f.Entity},
		{"format", f.Format},
	} {
		if len(t.text) > MaxText {
			return refuse(path+"/"+t.name, "longer than %d bytes", MaxText)
		}
	}
	for name := range f.Annotations {
		if !slices.Contains(annotations, name) {
			return refuse(path+"/annotations/"+jsonpointer.Escape(name), "expected one of %s", strings.Join(annotations, ", "))
		}
	}
	if slices.Contains([]string{"date", "date-time", "uri", "email"}, f.Format) {
		return refuse(path+"/format", "the format %q is a type's: expected type date, url or email instead", f.Format)
	}
	return nil
}

// checkMembers refuses members that a field of its type and display does not have.
func checkMembers(f *Field, path string) error {
	text := slices.Contains([]Type{Text, Date, URL, Email, Phone, Media, Relation}, f.Type)
	group := f.Type == Object && f.Display == Group
	several := f.Multiple || f.Type == Array
	for _, m := range []struct {
		name  string
		given bool
		has   bool
	}{
		{"min", f.Min != "", f.Type == Number},
		{"max", f.Max != "", f.Type == Number},
		{"above", f.Above != "", f.Type == Number},
		{"below", f.Below != "", f.Type == Number},
		{"step", f.Step != "", f.Type == Number},
		{"integer", f.Integer, f.Type == Number},
		{"unit", f.Unit != "", f.Type == Number},
		{"min_length", f.MinLength != nil, text},
		{"max_length", f.MaxLength != nil, text},
		{"pattern", f.Pattern != "", text},
		{"format", f.Format != "", f.Type == Text || f.Type == Relation},
		{"options", len(f.Options) > 0, f.Type == Enum},
		{"multiple", f.Multiple, slices.Contains([]Type{Enum, Media, Upload, Relation}, f.Type)},
		{"min_items", f.MinItems != nil, several || f.Type == Object && f.Display == Map},
		{"max_items", f.MaxItems != nil, several || f.Type == Object && f.Display == Map},
		{"unique", f.Unique, several},
		{"items", f.Items != nil, f.Type == Array || f.Type == Object && f.Display == Map},
		{"accept", len(f.Accept) > 0, f.Type == Media || f.Type == Upload},
		{"max_bytes", f.MaxBytes != 0, f.Type == Media || f.Type == Upload},
		{"entity_type", f.Entity != "", f.Type == Relation},
		{"fields", len(f.Fields) > 0, group},
		{"open", f.Open, group},
		{"schema", len(f.Schema) > 0, f.Type == Object && f.Display == JSON},
		{"nullable", f.Nullable, len(f.Schema) == 0},
	} {
		if m.given && !m.has {
			return refuse(path+"/"+m.name, "a field of type %s, shown as %s, has no %s", f.Type, f.Display, m.name)
		}
	}
	if group && len(f.Fields) == 0 && !f.Open {
		return refuse(
			path+"/fields", "expected fields: use display json for any object, or map for values under free names",
		)
	}
	return nil
}

func checkNumber(f *Field, path string) error {
	for name, n := range map[string]json.Number{
		"min": f.Min, "max": f.Max, "above": f.Above, "below": f.Below, "step": f.Step,
	} {
		if n != "" && rational(n) == nil {
			return refuse(path+"/"+name, "expected a number of reasonable size")
		}
	}
	least, most := rational(f.Min), rational(f.Max)
	if above := rational(f.Above); least == nil || above != nil && above.Cmp(least) > 0 {
		least = above
	}
	if below := rational(f.Below); most == nil || below != nil && below.Cmp(most) < 0 {
		most = below
	}
	switch step := rational(f.Step); {
	case step != nil && step.Sign() <= 0:
		return refuse(path+"/step", "expected more than 0")
	case least != nil && most != nil && least.Cmp(most) > 0:
		return refuse(path+"/max", "no number is accepted: the maximum is less than the minimum")
	case f.Display == Slider && (least == nil || most == nil):
		return refuse(path+"/display", "a slider needs min and max")
	case f.Display == Rating && most == nil:
		return refuse(path+"/display", "a rating needs max")
	}
	return nil
}

// rational returns a number exactly; nil for malformed ones, and for exponents too large for exact
// arithmetic.
func rational(n json.Number) *big.Rat {
	if i := strings.IndexAny(string(n), "eE"); n == "" || len(n) > 64 || i >= 0 && len(n)-i > 4 || !json.Valid([]byte(n)) {
		return nil
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return nil
	}
	return r
}

func checkCounts(f *Field, path string) error {
	for _, pair := range []struct {
		least, most *int
		name        string
	}{{f.MinLength, f.MaxLength, "length"}, {f.MinItems, f.MaxItems, "items"}} {
		for prefix, n := range map[string]*int{"min_": pair.least, "max_": pair.most} {
			if n != nil && (*n < 0 || *n > maxCount) {
				return refuse(path+"/"+prefix+pair.name, "expected 0 to %d", maxCount)
			}
		}
		if pair.least != nil && pair.most != nil && *pair.least > *pair.most {
			return refuse(path+"/max_"+pair.name, "nothing is accepted: the maximum is less than the minimum")
		}
	}
	return nil
}

func checkOptions(f *Field, path string) error {
	if f.Type != Enum {
		return nil
	}
	if n := len(f.Options); n == 0 || n > MaxOptions {
		return refuse(path+"/options", "%d options: expected 1 to %d", n, MaxOptions)
	}
	seen := make(map[string]bool)
	for i, o := range f.Options {
		at := fmt.Sprintf("%s/options/%d", path, i)
		v, err := decode(o.Value)
		switch {
		case err != nil || kindOf(v) == "":
			return refuse(at+"/value", "expected a string, a number, true or false")
		case seen[string(o.Value)]:
			return refuse(at+"/value", "the option is given twice")
		case len(o.Label) > MaxText:
			return refuse(at+"/label", "longer than %d bytes", MaxText)
		}
		seen[string(o.Value)] = true
	}
	return nil
}

func checkMedia(f *Field, path string) error {
	if f.MaxBytes < 0 {
		return refuse(path+"/max_bytes", "expected 0 for no bound, or more")
	}
	for i, accept := range f.Accept {
		kind, sub, ok := strings.Cut(accept, "/")
		if _, _, err := mime.ParseMediaType(accept); err != nil || !ok || kind == "" || sub == "" || len(accept) > 128 {
			return refuse(fmt.Sprintf("%s/accept/%d", path, i),
				`media type %.40q: expected one such as "image/png" or "image/*"`, accept)
		}
	}
	return nil
}
