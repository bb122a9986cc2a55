package builtins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/builtins/internal/calendar"
)

// reckoning computes one answer. The texts of package calendar's errors become error
// results.
type reckoning struct {
	*datetimeInput

	loc   *time.Location
	notes []string
}

func (in *datetimeInput) answer(clock func() time.Time) (*datetimeOutput, error) {
	loc, err := calendar.Zone(in.Timezone)
	if err != nil {
		return nil, err
	}
	r := &reckoning{datetimeInput: in, loc: loc}
	out, err := r.answer(clock)
	if err != nil {
		return nil, err
	}
	out.Notes = r.notes
	return out, nil
}

func (r *reckoning) answer(clock func() time.Time) (*datetimeOutput, error) {
	switch r.Operation {
	case "now":
		return r.moment(clock())
	case "duration":
		return r.duration()
	}
	value, err := r.read("value", r.Value)
	if err != nil {
		return nil, err
	}
	weekStart := time.Monday
	if r.WeekStart == "sunday" {
		weekStart = time.Sunday
	}
	switch r.Operation {
	case "parse", "convert":
	case "format":
		return r.format(value)
	case "diff", "between":
		return r.compare(value)
	case "add":
		value, err = r.add(value)
	case "start_of":
		value, err = calendar.StartOf(value, r.Unit, weekStart)
	case "end_of":
		value, err = calendar.EndOf(value, r.Unit, weekStart)
	default:
		return nil, fmt.Errorf(
			"operation: %q is none of now, parse, format, add, diff, between, duration, convert, start_of, end_of", r.Operation,
		)
	}
	if err != nil {
		return nil, err
	}
	return r.moment(value)
}

func (r *reckoning) format(value time.Time) (*datetimeOutput, error) {
	if r.Format == "" {
		return nil, errors.New("format: required for this operation")
	}
	out, err := r.moment(value)
	if err != nil {
		return nil, err
	}
	out.Formatted, err = calendar.Format(value, r.Format)
	return out, err
}

func (r *reckoning) add(value time.Time) (time.Time, error) {
	amount := calendar.Amount{
		Years: r.Years, Months: r.Months, Weeks: r.Weeks, Days: r.Days,
		Hours: r.Hours, Minutes: r.Minutes, Seconds: r.Seconds,
	}
	if r.Duration != "" {
		if amount != (calendar.Amount{}) {
			return value, errors.New("duration: years … seconds are given too: want either")
		}
		var err error
		if amount, err = calendar.ParseDuration(r.Duration); err != nil {
			return value, fmt.Errorf("duration: %w", err)
		}
	}
	sum, odd, err := calendar.Add(value, amount)
	r.note("the result", odd)
	return sum, err
}

// compare computes the difference between two times.
func (r *reckoning) compare(start time.Time) (*datetimeOutput, error) {
	end, err := r.read("end", r.End)
	if err != nil {
		return nil, err
	}
	if r.Operation == "between" {
		amount, err := calendar.Until(start, end)
		if err != nil {
			return nil, err
		}
		return inFull(amount, calendar.Elapsed(start, end)), nil
	}
	unit := r.Unit
	if unit == "" {
		unit = calendar.Second
	}
	n, err := calendar.Between(start, end, unit)
	if err != nil {
		return nil, err
	}
	return &datetimeOutput{Amount: &n, Unit: string(unit)}, nil
}

func (r *reckoning) duration() (*datetimeOutput, error) {
	if r.Duration == "" {
		return nil, errors.New("duration: required for this operation")
	}
	amount, err := calendar.ParseDuration(r.Duration)
	if err != nil {
		return nil, fmt.Errorf("duration: %w", err)
	}
	return inFull(amount, amount), nil
}

// inFull returns a duration, and its exact length.
func inFull(amount, measured calendar.Amount) *datetimeOutput {
	out := &datetimeOutput{Duration: amount.String()}
	if seconds, ok := measured.InSeconds(); ok {
		out.Seconds = json.Number(seconds)
	}
	out.Clock, _ = measured.Clock()
	return out
}

// read parses a time written as text or as a number of seconds. Only value is parsed by
// the format.
func (r *reckoning) read(name string, raw json.RawMessage) (time.Time, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return time.Time{}, fmt.Errorf("%s: required for this operation", name)
	}
	if raw[0] != '"' {
		t, err := fromSeconds(string(raw))
		if err != nil {
			return t, fmt.Errorf("%s: %w", name, err)
		}
		return t.In(r.loc), nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", name, err)
	}
	var t time.Time
	var odd calendar.Oddity
	var err error
	if r.Operation == "parse" && r.Format != "" {
		t, odd, err = calendar.ParseFormat(text, r.Format, r.loc)
	} else {
		t, odd, err = calendar.Parse(text, r.loc)
	}
	if err != nil {
		return t, fmt.Errorf("%s: %w", name, err)
	}
	r.note(name, odd)
	return t, nil
}

// note adds a note about a clock change.
func (r *reckoning) note(name string, odd calendar.Oddity) {
	switch odd {
	case calendar.Plain:
	case calendar.Gap:
		r.notes = append(r.notes, "clocks skip the local time of "+name+": it was moved forward by the length of the gap")
	case calendar.Fold:
		r.notes = append(r.notes, "clocks show the local time of "+name+" twice: the first was taken")
	}
}

// fromSeconds parses seconds since 1970, with fractions to the nanosecond.
func fromSeconds(number string) (time.Time, error) {
	if exponent := strings.IndexAny(number, "eE"); exponent >= 0 && len(number)-exponent > 4 {
		return time.Time{}, fmt.Errorf("%.32s seconds since 1970 is outside the years 1 to 9999", number)
	}
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return time.Time{}, errors.New("want a text or a number of seconds")
	}
	nanos := new(big.Int).Quo(new(big.Int).Mul(r.Num(), big.NewInt(1e9)), r.Denom())
	seconds, rest := new(big.Int).DivMod(nanos, big.NewInt(1e9), new(big.Int))
	if !seconds.IsInt64() || seconds.Int64() < -62135596800 || seconds.Int64() > 253402300799 {
		return time.Time{}, fmt.Errorf("%.32s seconds since 1970 is outside the years 1 to 9999: are these milliseconds",
			number)
	}
	return time.Unix(seconds.Int64(), rest.Int64()), nil
}

// moment formats a time in the zone of the answer.
func (r *reckoning) moment(t time.Time) (*datetimeOutput, error) {
	t = t.In(r.loc)
	if t.Year() < 1 || t.Year() > 9999 {
		return nil, fmt.Errorf("the result is outside the years 1 to 9999 in %s", r.loc)
	}
	unix := t.Unix()
	if _, offset := t.Zone(); offset%60 != 0 {
		r.notes = append(r.notes, "the offset of that day had seconds, which datetime leaves out: unix is exact")
	}
	week, err := calendar.Format(t, "iso_week")
	if err != nil {
		return nil, err
	}
	return &datetimeOutput{
		Datetime: t.Format(time.RFC3339Nano), Unix: &unix, Timezone: r.loc.String(), UTCOffset: t.Format("-07:00"),
		Weekday: t.Weekday().String(), ISOWeek: week,
	}, nil
}
