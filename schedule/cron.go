package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cronField is a field of a cron expression.
type cronField struct {
	name     string
	min, max int
	names    []string // Of the values from min on, in lower case.
}

// Cron is a cron expression as the sets of values of its fields, in order and each once. Sunday is
// 0.
type Cron struct{ Minutes, Hours, Days, Months, Weekdays []int }

var (
	cronFields = []cronField{
		{name: "minute", max: 59},
		{name: "hour", max: 23},
		{name: "day of the month", min: 1, max: 31},
		{name: "month", min: 1, max: 12, names: []string{
			"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
		}},
		{name: "day of the week", max: 7, names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
	}
	cronMacros = []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
	macroCrons = []string{"0 0 1 1 *", "0 0 1 1 *", "0 0 1 * *", "0 0 * * 0", "0 0 * * *", "0 0 * * *", "0 * * * *"}
	monthDays  = []int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
)

const maxCron = 200

// CheckCron checks a cron expression: minute, hour, day of the month, month and day of the week,
// each a list of values, ranges and steps, months and days of the week also by the first three
// letters of their English names; or @hourly, @daily, @weekly, @monthly or @yearly. A time
// matches when all fields do, the day of the month and that of the week too. The error names the
// field and its position.
func CheckCron(cron string) error {
	_, err := ParseCron(cron)
	return err
}

// ParseCron is [CheckCron], and returns what the expression says.
func ParseCron(cron string) (Cron, error) {
	fields := strings.Fields(cron)
	switch {
	case len(cron) > maxCron:
		return Cron{}, fmt.Errorf("the expression has more than %d bytes", maxCron)
	case len(fields) == 0:
		return Cron{}, errors.New("the expression is empty: want five fields, such as 0 9 * * mon-fri")
	case strings.HasPrefix(fields[0], "TZ=") || strings.HasPrefix(fields[0], "CRON_TZ="):
		return Cron{}, errors.New("at position 1: the time zone has a field of its own, time_zone")
	case strings.HasPrefix(fields[0], "@every"):
		return Cron{}, errors.New("at position 1: an interval has a field of its own, every_s")
	case strings.HasPrefix(fields[0], "@"):
		if len(fields) > 1 || !slices.Contains(cronMacros, fields[0]) {
			return Cron{}, fmt.Errorf("at position 1: unknown %.40q: want one of %s", cron, strings.Join(cronMacros, ", "))
		}
		return ParseCron(macroCrons[slices.Index(cronMacros, fields[0])])
	case len(fields) != len(cronFields):
		return Cron{}, fmt.Errorf("%d fields: want 5: minute, hour, day of the month, month and day of the week", len(fields))
	}
	values := make([][]int, len(fields))
	at := 0
	for i, field := range fields {
		at += strings.Index(cron[at:], field)
		var err error
		if values[i], err = cronFields[i].parse(field); err != nil {
			return Cron{}, fmt.Errorf("at position %d, %s %.40q: %w", at+1, cronFields[i].name, field, err)
		}
		at += len(field)
	}
	for _, month := range values[3] {
		if slices.Min(values[2]) <= monthDays[month-1] {
			return Cron{each(values[0]), each(values[1]), each(values[2]), each(values[3]), weekdays(values[4])}, nil
		}
	}
	return Cron{}, fmt.Errorf("the expression never matches: no month of it has a day %d", slices.Min(values[2]))
}

// each returns values in order, each once.
func each(values []int) []int {
	slices.Sort(values)
	return slices.Compact(values)
}

// weekdays is each for days of the week, of which Sunday has two numbers.
func weekdays(values []int) []int {
	for i, v := range values {
		values[i] = v % 7
	}
	return each(values)
}

// parse returns the values of a field.
func (f *cronField) parse(field string) ([]int, error) {
	var values []int
	for part := range strings.SplitSeq(field, ",") {
		span, step, stepped := strings.Cut(part, "/")
		from, to, err := f.span(span, stepped)
		if err != nil {
			return nil, err
		}
		by := 1
		if stepped {
			if by, err = strconv.Atoi(step); err != nil || by < 1 || strings.HasPrefix(step, "+") {
				return nil, fmt.Errorf("the step %.20q is not a number from 1 on", step)
			}
		}
		for v := from; v <= to; v += by {
			values = append(values, v)
		}
	}
	return values, nil
}

// span returns the ends of a part of a field, without its step. A single value with a step begins
// a span that ends with the field.
func (f *cronField) span(span string, stepped bool) (from, to int, err error) {
	if span == "*" {
		return f.min, f.max, nil
	}
	first, last, ranged := strings.Cut(span, "-")
	if from, err = f.value(first); err != nil {
		return 0, 0, err
	}
	switch {
	case ranged:
		if to, err = f.value(last); err != nil {
			return 0, 0, err
		}
		if to < from {
			return 0, 0, fmt.Errorf("the range %.40q ends before it begins", span)
		}
	case stepped:
		to = f.max
	default:
		to = from
	}
	return from, to, nil
}

func (f *cronField) value(word string) (int, error) {
	if i := slices.Index(f.names, strings.ToLower(word)); i >= 0 {
		return f.min + i, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || strings.HasPrefix(word, "+") {
		if len(f.names) > 0 {
			return 0, fmt.Errorf("%.20q is neither a number nor one of %s", word, strings.Join(f.names, " "))
		}
		return 0, fmt.Errorf("%.20q is not a number", word)
	}
	if n < f.min || n > f.max {
		return 0, fmt.Errorf("%d is not from %d to %d", n, f.min, f.max)
	}
	return n, nil
}
