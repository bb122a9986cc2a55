package bench

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

// Figure is one measured figure: a line of the output.
type Figure struct {
	Name  string  `json:"name"`
	Ratio float64 `json:"ratio"` // Ours to the floor: the median of the rounds' own ratios.
	Ours  float64 `json:"ours"`
	Floor float64 `json:"floor"` // Zero where there is none.
	Unit  string  `json:"unit"`

	Target string `json:"target,omitempty"` // What is to be reached; none for a figure that only explains.
	OK     *bool  `json:"ok,omitempty"`     // Whether it was.

	P50 float64 `json:"p50,omitempty"` // Of ours, over all rounds, in milliseconds.
	P99 float64 `json:"p99,omitempty"`
	N   int     `json:"n"` // Samples of ours behind the figure.

	CPU      float64 `json:"cpu_ms,omitempty"`       // Of a call of ours, this process and PostgreSQL.
	FloorCPU float64 `json:"floor_cpu_ms,omitempty"` // Of the floor's, with the processes of a peer.
	Note     string  `json:"note,omitempty"`
}

// bound is a target: which value of a figure, on which side of a limit.
type bound struct {
	of    string
	value func(Figure) float64
	most  bool
	limit float64
	unit  string
}

func ratioOf(f Figure) float64 { return f.Ratio }
func oursOf(f Figure) float64  { return f.Ours }
func p50Of(f Figure) float64   { return f.P50 }
func p99Of(f Figure) float64   { return f.P99 }

func atLeast(limit float64) bound { return bound{of: "ratio", value: ratioOf, limit: limit} }
func atMost(limit float64) bound  { return bound{of: "ratio", value: ratioOf, limit: limit, most: true} }

// aimed returns the figure with its target and whether it was reached.
func (f Figure) aimed(b bound) Figure {
	sign := "≥"
	if b.most {
		sign = "≤"
	}
	f.Target = fmt.Sprintf("%s %s %g", b.of, sign, b.limit)
	if b.unit != "" {
		f.Target += " " + b.unit
	}
	got := b.value(f)
	ok := b.most && got <= b.limit || !b.most && got >= b.limit
	f.OK = &ok
	return f
}

// rounded keeps a figure to the digits that mean something.
func (f Figure) rounded() Figure {
	for _, v := range []*float64{&f.Ratio, &f.Ours, &f.Floor, &f.P50, &f.P99, &f.CPU, &f.FloorCPU} {
		*v = significant(*v, 4)
	}
	return f
}

func significant(v float64, digits int) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	scale := math.Pow(10, float64(digits)-math.Ceil(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// percentile returns the value below which the share q of sorted values lies.
func percentile[T cmp.Ordered](sorted []T, q float64) T {
	var none T
	if len(sorted) == 0 {
		return none
	}
	at := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}
