package store

import (
	"cmp"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// Limits bound what a principal may send. Zero is no limit.
type Limits struct {
	RequestsPerSecond int   `json:"requests_per_second,omitempty"`
	Burst             int   `json:"burst,omitempty"` // Requests at once; defaults to RequestsPerSecond.
	BytesPerMinute    int64 `json:"bytes_per_minute,omitempty"`
}

// The most that limits can be.
const (
	MaxRequestsPerSecond = 1_000_000
	MaxBytesPerMinute    = 1_000_000_000_000
)

// Check refuses limits out of range, with tool.Invalid.
func (l Limits) Check() error {
	const op = "store.Limits"
	invalid := func(path, msg string) error {
		return &tool.Error{Kind: tool.Invalid, Op: op, Path: "/limits/" + path, Msg: msg}
	}
	outside := func(n, most int64) bool { return n < 0 || n > most }
	switch {
	case outside(int64(l.RequestsPerSecond), MaxRequestsPerSecond):
		return invalid("requests_per_second", fmt.Sprintf("a key may send 1 to %d requests a second", MaxRequestsPerSecond))
	case outside(int64(l.Burst), MaxRequestsPerSecond):
		return invalid("burst", fmt.Sprintf("a burst is 1 to %d requests", MaxRequestsPerSecond))
	case outside(l.BytesPerMinute, MaxBytesPerMinute):
		return invalid("bytes_per_minute", fmt.Sprintf("a key may send 1 to %d bytes a minute", MaxBytesPerMinute))
	case l.Burst > 0 && l.RequestsPerSecond == 0:
		return invalid("burst", "a burst needs requests_per_second beside it")
	}
	return nil
}

// Any reports whether there is a limit at all.
func (l Limits) Any() bool { return l.RequestsPerSecond > 0 || l.BytesPerMinute > 0 }

// Or returns l with the limits of standard where it has none.
func (l Limits) Or(standard Limits) Limits {
	out := Limits{
		RequestsPerSecond: cmp.Or(l.RequestsPerSecond, standard.RequestsPerSecond),
		Burst:             cmp.Or(l.Burst, l.RequestsPerSecond, standard.Burst, standard.RequestsPerSecond),
		BytesPerMinute:    cmp.Or(l.BytesPerMinute, standard.BytesPerMinute),
	}
	if out.RequestsPerSecond == 0 {
		out.Burst = 0
	}
	return out
}

// Within returns the limits of a key that l are asked for, where its maker has limits of its own and
// standard ones beside them: what l leave open is as the maker has it. It fails with tool.Denied where
// l allow more than the maker may send.
func (l Limits) Within(maker, standard Limits) (Limits, error) {
	most := maker.Or(standard)
	for _, of := range []struct {
		name        string
		asked, most int64
	}{
		{"requests_per_second", int64(l.RequestsPerSecond), int64(most.RequestsPerSecond)},
		{"burst", int64(l.Burst), int64(most.Burst)},
		{"bytes_per_minute", l.BytesPerMinute, most.BytesPerMinute},
	} {
		if of.most > 0 && of.asked > of.most {
			return Limits{}, &tool.Error{
				Kind: tool.Denied, Op: "store.Limits", Path: "/limits/" + of.name,
				Msg: fmt.Sprintf("a key cannot send more than its creator: %s is %d, and that of its creator is %d; an operator "+
					"of the platform makes keys that send more", of.name, of.asked, of.most),
			}
		}
	}
	switch {
	case l.RequestsPerSecond == 0:
		l.RequestsPerSecond, l.Burst = maker.RequestsPerSecond, maker.Burst
	case l.Burst == 0 && most.Burst > 0:
		l.Burst = min(l.RequestsPerSecond, most.Burst)
	}
	l.BytesPerMinute = cmp.Or(l.BytesPerMinute, maker.BytesPerMinute)
	return l, nil
}

// Draw is what a server says and asks of a principal's limits.
type Draw struct {
	Standard Limits  // For principals without limits of their own.
	Take     bool    // Take requests from the bucket.
	Unused   float64 // Requests that were taken and not used.
	Bytes    float64 // Bytes that were sent and answered since.
}

// Allowance is what a principal may send.
type Allowance struct {
	Limits   Limits
	Taken    float64 // Requests that the server took.
	Requests float64 // Requests that are left beside them.
	Bytes    float64 // Bytes that are left; negative for a debt.
}

func allowance(limits Limits, taken []float64) Allowance {
	a := Allowance{Limits: limits}
	if len(taken) == 3 {
		a.Taken, a.Requests, a.Bytes = taken[0], taken[1], taken[2]
	}
	return a
}
