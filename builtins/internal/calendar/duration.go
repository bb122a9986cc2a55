package calendar

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var isoDuration = regexp.MustCompile(`^([+-]?)P(?:(\d{1,9})Y)?(?:(\d{1,9})M)?(?:(\d{1,9})W)?(?:(\d{1,9})D)?` +
	`(T(?:(\d{1,12})(?:[.,](\d{1,9}))?H)?(?:(\d{1,12})(?:[.,](\d{1,9}))?M)?(?:(\d{1,12})(?:[.,](\d{1,9}))?S)?)?$`)

var errDuration = errors.New("not a known duration format: write it as P1Y2M10DT2H30M or as 1h30m")

// ParseDuration parses an ISO 8601 duration, P1Y2M3W4DT5H6M7.5S with any part missing, a
// fraction in the last of hours, minutes and seconds, and an optional sign; or a Go duration,
// 1h30m, 1.5h, -90s, 250ms, of up to 292 years. It is case-sensitive: M is months before the T
// and minutes after, m is minutes. Days and longer units depend on the calendar, so Go's form
// has none.
func ParseDuration(text string) (Amount, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxText {
		return Amount{}, fmt.Errorf("%.32q… is %w", text, errDuration)
	}
	if m := isoDuration.FindStringSubmatch(text); m != nil {
		return readISO(text, m)
	}
	if d, err := time.ParseDuration(text); err == nil {
		return Amount{Seconds: int64(d / time.Second), Nanos: int64(d % time.Second)}, nil
	}
	return Amount{}, fmt.Errorf("%.64q is %w", text, errDuration)
}

func readISO(text string, m []string) (Amount, error) {
	if strings.HasSuffix(text, "P") || strings.HasSuffix(text, "T") {
		return Amount{}, fmt.Errorf("%q is %w", text, errDuration)
	}
	number := func(i int) int64 {
		n, _ := strconv.ParseInt("0"+m[i], 10, 64) // Few digits.
		return n
	}
	a := Amount{
		Years: number(2), Months: number(3), Weeks: number(4), Days: number(5),
		Hours: number(7), Minutes: number(9), Seconds: number(11),
	}
	switch { // A fraction of n digits is as many billionths of its unit.
	case m[8] != "" && m[9]+m[11] != "", m[10] != "" && m[11] != "":
		return a, fmt.Errorf("%q has a fraction before its last part", text)
	case m[8] != "":
		a.Nanos = int64(nanos(m[8])) * 3600
	case m[10] != "":
		a.Nanos = int64(nanos(m[10])) * 60
	case m[12] != "":
		a.Nanos = int64(nanos(m[12]))
	}
	if err := a.check(); err != nil {
		return a, err
	}
	if m[1] == "-" {
		a = a.negated()
	}
	return a, nil
}

func (a Amount) negated() Amount {
	return Amount{
		Years: -a.Years, Months: -a.Months, Weeks: -a.Weeks, Days: -a.Days,
		Hours: -a.Hours, Minutes: -a.Minutes, Seconds: -a.Seconds, Nanos: -a.Nanos,
	}
}

// exact returns the hours, minutes and seconds of a.
func (a Amount) exact() (seconds, nanos int64) {
	seconds = a.Hours*3600 + a.Minutes*60 + a.Seconds + a.Nanos/1e9
	nanos = a.Nanos % 1e9
	if seconds > 0 && nanos < 0 {
		seconds, nanos = seconds-1, nanos+1e9
	} else if seconds < 0 && nanos > 0 {
		seconds, nanos = seconds+1, nanos-1e9
	}
	return seconds, nanos
}

// InSeconds returns the length of a in seconds, as a decimal number; not ok for an amount with
// days or longer units, whose length depends on its start.
func (a Amount) InSeconds() (string, bool) {
	if a.Years != 0 || a.Months != 0 || a.Weeks != 0 || a.Days != 0 {
		return "", false
	}
	seconds, nanos := a.exact()
	if seconds < 0 || nanos < 0 {
		return "-" + decimal(-seconds, -nanos), true
	}
	return decimal(seconds, nanos), true
}

// decimal writes seconds and nanoseconds.
func decimal(seconds, nanos int64) string {
	if nanos == 0 {
		return strconv.FormatInt(seconds, 10)
	}
	return strings.TrimRight(fmt.Sprintf("%d.%09d", seconds, nanos), "0")
}

// Clock formats a as a Go duration, such as 49h30m0s; not ok for an amount with days or longer
// units, or of more than 292 years.
func (a Amount) Clock() (string, bool) {
	const most = 292 * 365 * 24 * 3600
	seconds, nanos := a.exact()
	if _, ok := a.InSeconds(); !ok || seconds > most || seconds < -most {
		return "", false
	}
	return (time.Duration(seconds)*time.Second + time.Duration(nanos)).String(), true
}

// String formats a, all of whose members have one sign, as ISO 8601: weeks as days, twelve
// months as a year, sixty seconds as a minute and so on, but no hours as days, nor days as
// months, whose lengths vary.
func (a Amount) String() string {
	months, days := a.Years*12+a.Months, a.Weeks*7+a.Days
	seconds, nanos := a.exact()
	sign := ""
	if min(months, days, seconds, nanos) < 0 {
		sign, months, days, seconds, nanos = "-", -months, -days, -seconds, -nanos
	}
	var date, clock strings.Builder
	write := func(b *strings.Builder, n int64, unit string) {
		if n != 0 {
			fmt.Fprintf(b, "%d%s", n, unit)
		}
	}
	write(&date, months/12, "Y")
	write(&date, months%12, "M")
	write(&date, days, "D")
	write(&clock, seconds/3600, "H")
	write(&clock, seconds/60%60, "M")
	if s := decimal(seconds%60, nanos); s != "0" {
		clock.WriteString(s + "S")
	}
	switch {
	case clock.Len() > 0:
		return sign + "P" + date.String() + "T" + clock.String()
	case date.Len() > 0:
		return sign + "P" + date.String()
	default:
		return "PT0S"
	}
}

// Until returns the amount that [Add] needs from start to end: as many months as do not pass
// end, then as many days, on the calendar of start's zone, then the rest on the clock. It is
// negative if end is before start.
func Until(start, end time.Time) (Amount, error) {
	sign := int64(1)
	if end.Before(start) {
		sign = -1
	}
	months := betweenCalendar(start, end, Amount{}, Month, sign)
	days := betweenCalendar(start, end, Amount{Months: months}, Day, sign)
	at, _, err := Add(start, Amount{Months: months, Days: days})
	if err != nil {
		return Amount{}, err
	}
	rest := Elapsed(at, end)
	return Amount{Years: months / 12, Months: months % 12, Days: days, Seconds: rest.Seconds, Nanos: rest.Nanos}, nil
}

// Elapsed returns the exact time from start to end.
func Elapsed(start, end time.Time) Amount {
	return Amount{Seconds: end.Unix() - start.Unix(), Nanos: int64(end.Nanosecond() - start.Nanosecond())}
}
