package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// Markup asks for marks on an image.
type Markup struct {
	Image   string `json:"image"`             // The id of a file that is an image, or an https address.
	Label   string `json:"label,omitempty"`   // What is to be marked; the title when empty.
	NoNotes bool   `json:"noNotes,omitempty"` //nolint:tagliatelle // As its siblings. The person is not asked for notes.
}

// Bounds of what is drawn.
const (
	maxShapes = 100
	maxPoints = 20_000 // Of all strokes.
	maxNote   = 500    // Characters of the note of a shape.
	// MaxDrawing bounds what is drawn as it is sent, in bytes.
	MaxDrawing = 1 << 20
	// FormRegions are the regions that a person describes in the form, without drawing.
	FormRegions = 3
)

// Keys of answers to a request for marks.
const (
	MarkupKey = "markup"
	ImageKey  = "image"
)

func (m *Markup) check() error {
	switch {
	case m.FileID() == "" && Host(m.Image) == "":
		return invalid("/markup/image",
			"expected the id of a file, or an https address, its host in ASCII, without a user name")
	case len(m.Label) > 4*maxLabel:
		return invalid("/markup/label", "the label is too long")
	}
	return nil
}

// FileID returns the id of the file that is shown; empty for an address.
func (m *Markup) FileID() string {
	if tool.ValidID(m.Image) {
		return m.Image
	}
	return ""
}

// drawingSchema describes what a program submits as marks.
const drawingSchema = `{
  "type": "object", "additionalProperties": false, "required": ["shapes"],
  "properties": {
    "shapes": {
      "type": "array", "maxItems": 100,
      "items": {
        "type": "object", "additionalProperties": false, "required": ["kind"],
        "properties": {
          "kind": {"type": "string", "enum": ["stroke", "box", "point"]},
          "points": {"type": "array", "maxItems": 20000, "items": {
            "type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number", "minimum": 0, "maximum": 1}
          }},
          "x": {"type": "number", "minimum": 0, "maximum": 1}, "y": {"type": "number", "minimum": 0, "maximum": 1},
          "width": {"type": "number", "minimum": 0, "maximum": 1}, "height": {"type": "number", "minimum": 0, "maximum": 1},
          "note": {"type": "string", "maxLength": 500}
        }
      }
    }
  }
}`

// fields returns the form: what is drawn, an annotated image instead or beside it, and notes.
func (m *Markup) fields(title string) []field.Field {
	label := m.Label
	if label == "" {
		label = title
	}
	fields := []field.Field{
		{
			Key: MarkupKey, Label: label, Type: field.Object, Display: field.JSON, Schema: json.RawMessage(drawingSchema),
			Help: "Shapes on the image, from 0 at its left and top to 1 at its right and bottom.",
		},
		{
			Key: ImageKey, Label: "The image with your marks, if you drew them elsewhere", Type: field.Upload,
			Display: field.Image, Accept: []string{file.PNG, file.JPEG, file.WebP},
		},
	}
	if !m.NoNotes {
		fields = append(fields, notes())
	}
	return fields
}

// Kinds of shapes.
const (
	Stroke = "stroke" // A line through points.
	Box    = "box"
	Point  = "point"
)

// Shape is what is drawn on an image. Coordinates are from 0 at the left and top of the image to 1 at
// its right and bottom.
type Shape struct {
	Kind   string       `json:"kind"`
	Points [][2]float64 `json:"points,omitempty"` // Of a stroke.
	X      float64      `json:"x"`                // Of a box its left, of a stroke that of all points.
	Y      float64      `json:"y"`
	Width  float64      `json:"width,omitempty"`
	Height float64      `json:"height,omitempty"`
	Note   string       `json:"note,omitempty"`
}

// Drawing is what a person marked.
type Drawing struct {
	Shapes []Shape `json:"shapes"`
}

// region is a shape as the model gets it: where it is, not how it is drawn.
type region struct {
	Kind   string  `json:"kind"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Note   string  `json:"note,omitempty"`
}

// marked is the answer to a request for marks as the model gets it.
type marked struct {
	Regions []region        `json:"regions"`
	File    *file.Reference `json:"file,omitempty"` // With all that was drawn.
}

// ReadDrawing reads and checks what was drawn. It returns nil for nothing, or a problem.
func ReadDrawing(raw json.RawMessage) (*Drawing, string) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, ""
	}
	if len(raw) > MaxDrawing {
		return nil, "too much was drawn"
	}
	var d Drawing
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&d) != nil || decoder.More() {
		return nil, `expected shapes, such as {"shapes":[{"kind":"box","x":0.1,"y":0.1,"width":0.2,"height":0.2}]}`
	}
	if len(d.Shapes) > maxShapes {
		return nil, fmt.Sprintf("%d shapes are too many: at most %d are expected", len(d.Shapes), maxShapes)
	}
	points := 0
	for i := range d.Shapes {
		points += len(d.Shapes[i].Points)
		if points > maxPoints {
			return nil, "too much was drawn"
		}
		if problem := d.Shapes[i].check(); problem != "" {
			return nil, fmt.Sprintf("shape %d: %s", i+1, problem)
		}
	}
	if len(d.Shapes) == 0 {
		return nil, ""
	}
	return &d, ""
}

// check checks a shape, and rounds its coordinates.
func (s *Shape) check() string {
	s.Note = strings.TrimSpace(strings.ReplaceAll(s.Note, "\r\n", "\n"))
	switch {
	case s.Kind != Stroke && s.Kind != Box && s.Kind != Point:
		return `expected kind "stroke", "box" or "point"`
	case utf8.RuneCountInString(s.Note) > maxNote:
		return fmt.Sprintf("the note has more than %d characters", maxNote)
	case strings.ContainsRune(s.Note, 0):
		return sayCannotBe
	case s.Kind == Stroke && len(s.Points) == 0:
		return "a stroke has points"
	case s.Kind != Stroke && len(s.Points) > 0:
		return "only a stroke has points"
	case s.Kind == Point && (s.Width != 0 || s.Height != 0):
		return "a point has no width and height"
	case s.Kind == Box && (s.Width <= 0 || s.Height <= 0):
		return "a box has a width and a height"
	}
	if s.Kind == Stroke {
		return s.measure()
	}
	for _, n := range []*float64{&s.X, &s.Y, &s.Width, &s.Height} {
		if !within(n) {
			return sayWithin
		}
	}
	if s.X+s.Width > 1+rounding || s.Y+s.Height > 1+rounding {
		return sayWithin
	}
	return ""
}

// measure sets where a stroke is from its points.
func (s *Shape) measure() string {
	left, top, right, bottom := 1.0, 1.0, 0.0, 0.0
	for i := range s.Points {
		p := &s.Points[i]
		if !within(&p[0]) || !within(&p[1]) {
			return sayWithin
		}
		left, right = min(left, p[0]), max(right, p[0])
		top, bottom = min(top, p[1]), max(bottom, p[1])
	}
	s.X, s.Y = left, top
	s.Width, s.Height = round(right-left), round(bottom-top)
	return ""
}

const (
	sayWithin = "coordinates are from 0 to 1"
	rounding  = 1e-4 // Of coordinates.
)

// within rounds a coordinate, and reports whether it is on the image.
func within(n *float64) bool {
	if math.IsNaN(*n) || *n < 0 || *n > 1 {
		return false
	}
	*n = round(*n)
	return true
}

func round(n float64) float64 { return math.Round(n/rounding) / (1 / rounding) }

// readDrawn reads what was drawn on the page, and the regions that were described in the form in
// percent of the image: region_1_x, region_1_y, region_1_width, region_1_height and region_1_note.
func readDrawn(sent url.Values) (*Drawing, string) {
	drawing, problem := ReadDrawing(json.RawMessage(sent.Get(MarkupKey)))
	if problem != "" {
		return nil, problem
	}
	if drawing == nil {
		drawing = &Drawing{}
	}
	for i := 1; i <= FormRegions; i++ {
		box, given, problem := readRegion(sent, i)
		if problem != "" {
			return nil, fmt.Sprintf("region %d: %s", i, problem)
		}
		if given {
			drawing.Shapes = append(drawing.Shapes, box)
		}
	}
	if len(drawing.Shapes) == 0 {
		return nil, ""
	}
	if len(drawing.Shapes) > maxShapes {
		return nil, fmt.Sprintf("more than %d shapes", maxShapes)
	}
	return drawing, ""
}

// RegionParts are the parts of a region in the form.
func RegionParts() []string { return []string{"x", "y", "width", "height"} }

// RegionKey is the name of a part of a region in the form.
func RegionKey(i int, part string) string { return "region_" + strconv.Itoa(i) + "_" + part }

func readRegion(sent url.Values, i int) (s Shape, given bool, problem string) {
	s = Shape{Kind: Box, Note: sent.Get(RegionKey(i, "note"))}
	for k, into := range []*float64{&s.X, &s.Y, &s.Width, &s.Height} {
		text := strings.ReplaceAll(strings.TrimSpace(sent.Get(RegionKey(i, RegionParts()[k]))), ",", ".")
		if text == "" {
			continue
		}
		percent, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil || math.IsNaN(percent) || percent < 0 || percent > 100 {
			return s, false, "left, top, width and height are numbers from 0 to 100, in percent of the image"
		}
		given, *into = true, percent/100
	}
	if !given && strings.TrimSpace(s.Note) == "" {
		return s, false, ""
	}
	if s.Width == 0 && s.Height == 0 && given {
		s.Kind = Point
	}
	if !given {
		return s, false, "say where it is, in percent of the image, or write it into the notes"
	}
	if s.X+s.Width > 1 || s.Y+s.Height > 1 {
		return s, false, "it ends outside of the image: left and width, and top and height, are at most 100 together"
	}
	return s, true, s.check()
}

// regions returns what the model gets of a drawing.
func (d *Drawing) regions() []region {
	out := make([]region, len(d.Shapes))
	for i, s := range d.Shapes {
		out[i] = region{Kind: s.Kind, X: s.X, Y: s.Y, Width: s.Width, Height: s.Height, Note: s.Note}
	}
	return out
}
