package publicresult

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Chart is a picture, in the units of its viewBox.
type Chart struct {
	Label  string // What it shows, in words.
	Grid   []Mark
	Names  []Name
	Shapes []Shape
	Legend []Key     // Of several series.
	Places []Ranked  // Of a ranking.
	Rings  []Polygon // Of a radar.
}

// Mark is a line.
type Mark struct {
	X1, Y1, X2, Y2 string
	Axis           bool
}

// Name is a text in the picture.
type Name struct {
	X, Y, Anchor, Text string
}

// Shape is a bar, a line or an area, with the number of its series.
type Shape struct {
	Series           int
	Bar, Line, Area  bool
	X, Y, Wide, High string
	Points           string
	Title            string
}

// Key is an entry of the legend.
type Key struct {
	Series int
	Name   string
}

// Polygon has points.
type Polygon struct{ Points string }

// Ranked is a place of a ranking; Part is its share of the first, of 100.
type Ranked struct {
	Place             int
	Name, Value, Part string
}

// The box of a chart, and the room for its labels.
const (
	width, height = 640.0, 240.0
	left, under   = 56.0, 26.0
	above, right  = 8.0, 8.0
)

func n(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

// lines reports whether a configuration asks for a line instead of bars.
func lines(config *value) bool {
	for _, k := range []string{"type", "kind"} {
		if v, ok := config.get(k); ok && v.text == "line" {
			return true
		}
	}
	return false
}

// ticks are round numbers from a little below the least to a little above the most.
func ticks(least, most float64) []float64 {
	if most-least < 1e-100 {
		most = least + 1
	}
	raw := (most - least) / 4
	size := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * size
	for _, m := range []float64{5, 2.5, 2, 1} {
		if m*size >= raw {
			step = m * size
		}
	}
	first := math.Floor(least/step) * step
	var out []float64
	for i := range 12 {
		at := first + float64(i)*step
		out = append(out, at)
		if at >= most {
			break
		}
	}
	return out
}

// short is a number as an axis has it.
func short(f float64) string {
	for _, unit := range []struct {
		least float64
		name  string
	}{{1e9, "B"}, {1e6, "M"}, {1e4, "K"}} {
		if of := math.Abs(f); of >= unit.least && of < 1e15 {
			size := unit.least
			if unit.name == "K" {
				size = 1e3
			}
			return strconv.FormatFloat(math.Round(f/size*100)/100, 'f', -1, 64) + unit.name
		}
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// chart draws bars, or lines.
func chart(s *series, label string, asLines bool) *Chart {
	least, most := 0.0, 0.0
	for _, l := range s.lines {
		for _, p := range l.points {
			least, most = min(least, p.at), max(most, p.at)
		}
	}
	scale := ticks(least, most)
	bottom, top := scale[0], scale[len(scale)-1]
	y := func(f float64) float64 { return above + (height-under-above)*(1-(f-bottom)/(top-bottom)) }
	slot := (width - left - right) / float64(len(s.labels))
	x := func(i int) float64 { return left + slot*(float64(i)+0.5) }
	kind := "bar chart"
	if asLines {
		kind = "line chart"
	}
	c := &Chart{Label: words(label, kind, len(s.labels)), Legend: s.legend()}
	for _, t := range scale {
		c.Grid = append(c.Grid, Mark{n(left), n(y(t)), n(width - right), n(y(t)), t == 0})
		c.Names = append(c.Names, Name{n(left - 6), n(y(t) + 4), "end", short(t)})
	}
	every := int(math.Ceil(70 / slot))
	for i, l := range s.labels {
		if i%every == 0 {
			c.Names = append(c.Names, Name{n(x(i)), n(height - 8), "middle", shortened(l, 11)})
		}
	}
	for k, l := range s.lines {
		if asLines {
			c.Shapes = append(c.Shapes, Shape{Series: k, Line: true, Points: l.path(x, y)})
			continue
		}
		wide := min(44, slot*0.7/float64(len(s.lines)))
		for i, p := range l.points {
			if p.text == "" {
				continue
			}
			from, to := y(max(0, p.at)), y(min(0, p.at))
			c.Shapes = append(c.Shapes, Shape{
				Series: k, Bar: true, X: n(x(i) - wide*float64(len(s.lines))/2 + wide*float64(k)), Y: n(from),
				Wide: n(wide), High: n(max(1, to-from)), Title: s.labels[i] + ": " + p.text,
			})
		}
	}
	return c
}

func (l *line) path(x func(int) float64, y func(float64) float64) string {
	var points []string
	for i, p := range l.points {
		if p.text != "" {
			points = append(points, n(x(i))+","+n(y(p.at)))
		}
	}
	return strings.Join(points, " ")
}

// radar draws values on axes around a point.
func radar(s *series, label string) *Chart {
	const cx, cy, r = 210.0, 150.0, 100.0
	full := 0.0
	for _, l := range s.lines {
		for _, p := range l.points {
			full = max(full, p.at)
		}
	}
	if full == 0 {
		full = 1
	}
	at := func(i int, part float64) (x, y float64) {
		a := float64(i)/float64(len(s.labels))*2*math.Pi - math.Pi/2
		return cx + math.Cos(a)*r*part, cy + math.Sin(a)*r*part
	}
	around := func(part func(i int) float64) string {
		var points []string
		for i := range s.labels {
			x, y := at(i, part(i))
			points = append(points, n(x)+","+n(y))
		}
		return strings.Join(points, " ")
	}
	c := &Chart{Label: words(label, "radar", len(s.labels)), Legend: s.legend()}
	for _, ring := range []float64{0.25, 0.5, 0.75, 1} {
		c.Rings = append(c.Rings, Polygon{around(func(int) float64 { return ring })})
	}
	for i, l := range s.labels {
		x, y := at(i, 1)
		c.Grid = append(c.Grid, Mark{X1: n(cx), Y1: n(cy), X2: n(x), Y2: n(y)})
		x, y = at(i, 1.14)
		anchor := "middle"
		if x > cx+8 {
			anchor = "start"
		} else if x < cx-8 {
			anchor = "end"
		}
		c.Names = append(c.Names, Name{n(x), n(y + 4), anchor, shortened(l, 16)})
	}
	for k, l := range s.lines {
		c.Shapes = append(c.Shapes, Shape{Series: k, Area: true, Points: around(func(i int) float64 {
			return max(0, l.points[i].at) / full
		})})
	}
	return c
}

// ranking lists the first series in its order.
func ranking(s *series, label string) *Chart {
	full := 0.0
	for _, p := range s.lines[0].points {
		full = max(full, math.Abs(p.at))
	}
	if full == 0 {
		full = 1
	}
	c := &Chart{Label: label}
	for i, p := range s.lines[0].points {
		shown := p.text
		if shown == "" {
			shown = "–"
		}
		c.Places = append(c.Places, Ranked{i + 1, s.labels[i], shown, n(math.Abs(p.at) / full * 100)})
	}
	return c
}

func (s *series) legend() []Key {
	if len(s.lines) < 2 {
		return nil
	}
	var out []Key
	for i, l := range s.lines {
		out = append(out, Key{i, l.name})
	}
	return out
}

func words(label, kind string, values int) string {
	return fmt.Sprintf("%s: %s of %d values, which the table below has", label, kind, values)
}

func shortened(text string, most int) string {
	if len([]rune(text)) > most {
		return string([]rune(text)[:most-1]) + "…"
	}
	return text
}
