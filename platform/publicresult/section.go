package publicresult

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/platform/publicform"
	"github.com/toolcrib/toolcrib/tool"
)

// MaxResult is the largest result that is drawn, in bytes.
const MaxResult = 256 << 10

// Bounds of a page.
const (
	maxSections = 32
	maxRows     = 100
	maxColumns  = 24
	maxText     = 64 << 10 // Bytes of a text, and of all cells of a table.
	maxCell     = 2 << 10
)

// Section is a part of a result as a page shows it. One of its parts below the heading is set. In JSON it has no
// picture: what is drawn is in the table.
type Section struct {
	Heading string           `json:"heading"`
	Stats   []publicform.Row `json:"stats,omitempty"` // Values under their names.
	Text    string           `json:"text,omitempty"`
	Code    string           `json:"code,omitempty"` // JSON, as it is written.
	Chart   *Chart           `json:"-"`
	Radar   *Chart           `json:"-"`
	Ranking *Chart           `json:"-"`
	Table   *Table           `json:"table,omitempty"` // Of what is drawn too.
}

// Drawn reports whether the section has a picture, and so its table as what the picture shows.
func (s *Section) Drawn() bool { return s.Chart != nil || s.Radar != nil || s.Ranking != nil }

// Table has rows of texts.
type Table struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
	Numbers []bool     `json:"-"`              // The columns that hold numbers only.
	More    int        `json:"more,omitempty"` // Rows that are not shown.
}

// Read returns the parts of a result that the sections name, and the others as an object; nil where there are none.
// Without a section that fits, and of a result above [MaxResult], there are no parts, and rest is the result itself.
func Read(sections, result json.RawMessage) (out []Section, rest json.RawMessage) {
	var list []tool.OutputSection
	if len(sections) == 0 || len(result) > MaxResult || json.Unmarshal(sections, &list) != nil || len(list) > maxSections {
		return nil, result
	}
	whole, err := read(redact.JSON(result))
	if err != nil || whole.kind != object {
		return nil, result
	}
	drawn := map[string]bool{}
	for i := range list {
		part, ok := whole.get(list[i].Key)
		if !ok || drawn[list[i].Key] {
			continue
		}
		drawn[list[i].Key] = true
		out = append(out, sectionOf(&list[i], &part))
	}
	if len(out) == 0 {
		return nil, result
	}
	return out, without(&whole, drawn)
}

// without returns the members of an object that are not drawn; nil for none.
func without(whole *value, drawn map[string]bool) json.RawMessage {
	var b strings.Builder
	for _, m := range whole.members {
		if drawn[m.name] {
			continue
		}
		name, _ := json.Marshal(m.name)
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.raw)
	}
	if b.Len() == 0 {
		return nil
	}
	return json.RawMessage("{" + b.String() + "}")
}

func sectionOf(of *tool.OutputSection, part *value) Section {
	s := Section{Heading: clean(of.Label, maxCell)}
	if s.Heading == "" {
		s.Heading = clean(strings.ReplaceAll(of.Key, "_", " "), maxCell)
	}
	config, _ := read(of.Config) // Without one it is empty.
	switch of.Type {
	case tool.SectionSummary:
		s.summary(part, &config)
	case tool.SectionTable:
		s.generic(part, columnsOf(&config))
	case tool.SectionChart, tool.SectionRadar, tool.SectionRanking:
		s.picture(of.Type, part, &config)
	case tool.SectionCustom: // A view that a client has of its own.
		s.Code = clean(tool.ReadableJSON(part.raw), maxText)
	default:
		s.generic(part, nil)
	}
	return s
}

// picture draws numbers with labels, and shows them as a table too. What has none is shown as any value is.
func (s *Section) picture(as tool.SectionType, part, config *value) {
	data, ok := seriesOf(part, config)
	if !ok || as == tool.SectionRadar && len(data.labels) < 3 {
		s.generic(part, nil)
		return
	}
	s.Table = data.table()
	switch as { //nolint:exhaustive // Those that are drawn.
	case tool.SectionRadar:
		s.Radar = radar(&data, s.Heading)
	case tool.SectionRanking:
		s.Ranking = ranking(&data, s.Heading)
	default:
		s.Chart = chart(&data, s.Heading, lines(config))
	}
}

// summary shows a few values, each under its name.
func (s *Section) summary(part, config *value) {
	switch {
	case part.kind == object && len(part.members) > 0 && part.flat():
		for _, m := range part.members[:min(len(part.members), maxRows)] {
			s.Stats = append(s.Stats, publicform.Row{
				Name: clean(strings.ReplaceAll(m.name, "_", " "), maxCell), Value: cell(&m.value),
			})
		}
	case part.plain():
		s.Text = cellOf(part, maxText)
		if unit, ok := config.get("unit"); ok && unit.plain() && part.kind == number {
			s.Text += " " + clean(unit.text, maxCell)
		}
	default:
		s.generic(part, nil)
	}
}

// generic shows any value: rows as a table, members as rows, and JSON where it is deep.
func (s *Section) generic(part *value, columns []string) {
	switch {
	case part.plain():
		s.Text = cellOf(part, maxText)
	case part.objects():
		s.Table = rows(part, columns)
	case part.kind == object && len(part.members) > 0 && len(part.members) <= maxRows:
		t := &Table{Columns: []string{"Name", "Value"}, Numbers: []bool{false, false}}
		for i := range part.members {
			m := &part.members[i]
			t.Rows = append(t.Rows, []string{clean(m.name, maxCell), cell(&m.value)})
		}
		s.Table = t
	}
	if s.Table == nil && s.Text == "" {
		s.Code = clean(tool.ReadableJSON(part.raw), maxText)
	}
}

// rows returns a list of objects as a table; nil where it has too many columns.
func rows(part *value, columns []string) *Table {
	if len(columns) == 0 {
		for i := range part.items[:min(len(part.items), maxRows)] {
			for _, m := range part.items[i].members {
				if !slices.Contains(columns, m.name) {
					if columns = append(columns, m.name); len(columns) > maxColumns {
						return nil
					}
				}
			}
		}
	}
	if len(columns) == 0 || len(columns) > maxColumns {
		return nil
	}
	t, left := &Table{}, maxText
	for _, c := range columns {
		t.Columns = append(t.Columns, clean(strings.ReplaceAll(c, "_", " "), maxCell))
		t.Numbers = append(t.Numbers, true)
	}
	for i := range part.items {
		row := make([]string, len(columns))
		for k, c := range columns {
			v, ok := part.items[i].get(c)
			if row[k] = "–"; ok {
				row[k] = cell(&v)
				t.Numbers[k] = t.Numbers[k] && v.kind == number
			}
			left -= len(row[k])
		}
		if i == maxRows || left < 0 {
			t.More = len(part.items) - i
			break
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func columnsOf(config *value) []string {
	asked, _ := config.get("columns")
	return names(&asked, "key", "name")
}

// names returns texts, or the members of objects that name them.
func names(v *value, keys ...string) []string {
	if v.plain() {
		if v.text == "" {
			return nil
		}
		return []string{v.text}
	}
	var out []string
	for i := range v.items {
		of := v.items[i]
		for _, k := range keys {
			if named, ok := of.get(k); ok {
				of = named
				break
			}
		}
		if of.text != "" {
			out = append(out, of.text)
		}
	}
	return out
}

func cell(v *value) string { return cellOf(v, maxCell) }

func cellOf(v *value, most int) string {
	switch v.kind {
	case null:
		return "–"
	case number, scalar:
		return clean(v.text, most)
	case list, object:
	}
	return clean(tool.ReadableJSON(v.raw), most)
}

func clean(text string, most int) string { return publicform.Clean(tool.Clip(text, most)) }
