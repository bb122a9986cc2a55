// Package settings reads the settings file of servers and workers: a flat YAML
// mapping of the names of flags or environment variables to values.
package settings

import (
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/nearest"
)

// Kind is the type of a setting's value.
type Kind string

// The kinds of settings.
const (
	Text     Kind = "text"
	Bool     Kind = "true or false"
	Whole    Kind = "a whole number"
	Number   Kind = "a number"
	Duration Kind = "a duration, such as 30s, 5m or 720h"
	List     Kind = "a list of texts"
)

// Setting is what may be set, by flag, by environment variable or in the file.
type Setting struct {
	// Key names it in the file. A key that ends in * stands for all variables that
	// begin so.
	Key      string
	Variable string
	Kind     Kind
	Secret   bool     // The value is never printed.
	Default  string   // What help shows as the default; may be empty.
	Commands []string // The commands that have it as a flag.
}

// Value is a setting with what the file gives it.
type Value struct {
	Setting
	Text string // As an environment variable has it: lists with commas between.
	Line int
	From string // The file or variable that a reference names; empty for a literal value.
}

// Error is a mistake in a file of settings. It never quotes a value.
type Error struct {
	File string
	Line int // Counted from 1; zero for the file as a whole.
	Msg  string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

// Find returns the setting of a key among known ones, which may stand for many.
func Find(key string, known []Setting) (Setting, bool) {
	s, _, ok := find(key, known)
	return s, ok
}

// find returns the setting of a key, and otherwise what the message about an
// unknown one adds.
func find(key string, known []Setting) (s Setting, hint string, ok bool) {
	names := make([]string, 0, 2*len(known))
	for _, s := range known {
		if key == s.Key || key == s.Variable {
			return s, "", true
		}
		if stem, pattern := strings.CutSuffix(s.Key, "*"); pattern && strings.HasPrefix(key, stem) && len(key) > len(stem) {
			s.Key, s.Variable, s.Secret = key, key, secretName(key)
			return s, "", true
		}
		names = append(names, s.Key)
		if s.Variable != s.Key {
			names = append(names, s.Variable)
		}
	}
	if near := nearest.Name(key, names); near != "" {
		return Setting{}, ": did you mean " + near + "?", false
	}
	return Setting{}, "", false
}

// secretName reports whether the name of a variable is that of a secret.
func secretName(name string) bool {
	for _, part := range []string{"KEY", "SECRET", "TOKEN", "PASSWORD", "HEADERS", "META", "AUTH"} {
		if strings.Contains(strings.ToUpper(name), part) {
			return true
		}
	}
	return false
}

// check returns what is wrong with a text for the kind; empty for nothing.
func (k Kind) check(text string) string {
	var err error
	switch k {
	case Bool:
		_, err = strconv.ParseBool(text)
	case Whole:
		_, err = strconv.ParseInt(text, 10, 64)
	case Number:
		_, err = strconv.ParseFloat(text, 64)
	case Duration:
		_, err = time.ParseDuration(text)
	case Text, List:
	}
	if err != nil {
		return "expected " + string(k)
	}
	return ""
}

// Masked returns how a value is shown: a secret not at all, and an address
// without user, password and query.
func Masked(s Setting, text string) string {
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	private := err == nil && (u.User != nil || u.RawQuery != "") && !s.Secret
	if err == nil && u.Host != "" && (private || strings.HasPrefix(u.Scheme, "postgres")) {
		return u.Scheme + "://" + path.Join(u.Host, u.EscapedPath())
	}
	if s.Secret {
		return "(hidden)"
	}
	return text
}
