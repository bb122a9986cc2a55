package publicresult

import (
	"slices"
	"strconv"
)

const (
	maxPoints = 60 // That are drawn, and in the table.
	maxSeries = 6
)

// series are numbers with labels.
type series struct {
	labels []string
	lines  []line
	more   int // Points that are left out.
}

type line struct {
	name   string
	points []point
}

// point is a number as it was written; without a text there is none.
type point struct {
	text string
	at   float64
}

var (
	labelKeys = []string{"label", "name", "title", "key", "x", "date", "day", "month", "category", "id"}
	rowKeys   = []string{"rows", "items", "data", "points"}
)

// seriesOf reads numbers with labels out of a part of a result: rows, a map of numbers, or a list of them. The
// configuration may name the keys: x or label, and y, value or series.
func seriesOf(v, config *value) (series, bool) {
	switch {
	case v.kind == object:
		return ofObject(v, config)
	case v.kind != list || len(v.items) == 0:
		return series{}, false
	case v.objects():
		s, ok := ofRows(v.items[:min(len(v.items), maxPoints)], config)
		s.more = len(v.items) - len(s.labels)
		return s, ok
	}
	var s series
	of := line{}
	for i := range v.items[:min(len(v.items), maxPoints)] {
		item, label := v.items[i], strconv.Itoa(i+1)
		if item.kind == list && len(item.items) == 2 && item.items[0].plain() {
			label, item = item.items[0].text, item.items[1]
		}
		p, ok := pointOf(&item)
		if !ok || p.text == "" {
			return series{}, false
		}
		s.labels, of.points = append(s.labels, clean(label, maxCell)), append(of.points, p)
	}
	s.lines, s.more = []line{of}, len(v.items)-len(s.labels)
	return s, true
}

func ofObject(v, config *value) (series, bool) {
	labels, ok := v.get("labels")
	if lines, both := v.get("series"); ok && both && labels.kind == list && lines.objects() {
		return ofLines(&labels, &lines)
	}
	for _, k := range rowKeys {
		if rows, ok := v.get(k); ok && rows.kind == list {
			return seriesOf(&rows, config)
		}
	}
	var s series
	of := line{}
	for i := range v.members[:min(len(v.members), maxPoints)] {
		p, ok := pointOf(&v.members[i].value)
		if !ok || p.text == "" {
			return series{}, false
		}
		s.labels, of.points = append(s.labels, clean(v.members[i].name, maxCell)), append(of.points, p)
	}
	s.lines, s.more = []line{of}, len(v.members)-len(s.labels)
	return s, len(s.labels) > 0
}

// ofLines reads {"labels": […], "series": [{"name": …, "values": […]}]}.
func ofLines(labels, lines *value) (series, bool) {
	var s series
	for i := range labels.items[:min(len(labels.items), maxPoints)] {
		s.labels = append(s.labels, clean(labels.items[i].text, maxCell))
	}
	for i := range lines.items[:min(len(lines.items), maxSeries)] {
		l := line{name: "Series " + strconv.Itoa(i+1), points: make([]point, len(s.labels))}
		for _, k := range []string{"label", "name"} {
			if name, ok := lines.items[i].get(k); ok && name.text != "" {
				l.name = clean(name.text, maxCell)
			}
		}
		values, ok := lines.items[i].get("values")
		if !ok {
			values, _ = lines.items[i].get("data")
		}
		for k := range values.items[:min(len(values.items), len(s.labels))] {
			if l.points[k], ok = pointOf(&values.items[k]); !ok {
				return series{}, false
			}
		}
		s.lines = append(s.lines, l)
	}
	s.more = len(labels.items) - len(s.labels)
	return s, len(s.labels) > 0
}

// ofRows reads a list of objects.
func ofRows(rows []value, config *value) (series, bool) {
	var keys []string
	for i := range rows {
		for _, m := range rows[i].members {
			if len(keys) < maxColumns && !slices.Contains(keys, m.name) {
				keys = append(keys, m.name)
			}
		}
	}
	label := labelOf(rows, keys, config)
	var numeric []string
	for _, k := range keys {
		if k != label && isNumeric(rows, k) {
			numeric = append(numeric, k)
		}
	}
	wanted := asked(config)
	if len(wanted) == 0 {
		wanted = numeric
	}
	if len(wanted) == 0 || slices.ContainsFunc(wanted, func(k string) bool { return !slices.Contains(numeric, k) }) {
		return series{}, false
	}
	var s series
	for _, k := range wanted[:min(len(wanted), maxSeries)] {
		l := line{name: clean(k, maxCell)}
		for i := range rows {
			v, _ := rows[i].get(k)
			p, _ := pointOf(&v)
			l.points = append(l.points, p)
		}
		s.lines = append(s.lines, l)
	}
	for i := range rows {
		name := strconv.Itoa(i + 1)
		if v, ok := rows[i].get(label); ok && v.kind != null {
			name = cell(&v)
		}
		s.labels = append(s.labels, name)
	}
	return s, true
}

// labelOf returns the key of the labels: as the configuration says, one that is called so, or the first text.
func labelOf(rows []value, keys []string, config *value) string {
	for _, k := range []string{"x", "label", "label_key", "category"} {
		if v, ok := config.get(k); ok && v.kind == scalar {
			return v.text
		}
	}
	for _, k := range labelKeys {
		if slices.Contains(keys, k) {
			return k
		}
	}
	for _, k := range keys {
		if slices.ContainsFunc(rows, func(r value) bool { v, _ := r.get(k); return v.kind == scalar }) {
			return k
		}
	}
	return ""
}

// asked returns the keys of the numbers that the configuration names.
func asked(config *value) []string {
	for _, k := range []string{"y", "value", "value_key", "series"} {
		if v, ok := config.get(k); ok && v.kind != null {
			return names(&v, "key")
		}
	}
	return nil
}

// isNumeric reports whether a member is a number, or missing, in each row, and there is one.
func isNumeric(rows []value, key string) bool {
	some := false
	for i := range rows {
		v, _ := rows[i].get(key)
		p, ok := pointOf(&v)
		if !ok {
			return false
		}
		some = some || p.text != ""
	}
	return some
}

// pointOf reads a number. There is none for null.
func pointOf(v *value) (point, bool) {
	if v.kind == null {
		return point{}, true
	}
	f, ok := v.float()
	return point{clean(v.text, maxCell), f}, ok
}

// table returns what is drawn, as a table.
func (s *series) table() *Table {
	t := &Table{Columns: []string{"Name"}, Numbers: []bool{false}, More: s.more}
	for _, l := range s.lines {
		name := l.name
		if name == "" {
			name = "Value"
		}
		t.Columns, t.Numbers = append(t.Columns, name), append(t.Numbers, true)
	}
	for i, label := range s.labels {
		row := []string{label}
		for _, l := range s.lines {
			text := l.points[i].text
			if text == "" {
				text = "–"
			}
			row = append(row, text)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
