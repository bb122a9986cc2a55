// Package textcalltest has answers of models with the tool calls that their text contains, for
// tests of everything such an answer passes through.
package textcalltest

import (
	"embed"
	"path"
	"strings"
)

// files are answers of models, by shape. In a file, each begins with its name behind "===";
// behind "--- calls" are the calls in it, a line each with the arguments, and behind
// "--- text" what remains of it. An answer without "--- calls" has none.
//
//go:embed answers/*.txt
var files embed.FS

// Answer is a model's answer.
type Answer struct {
	// File is the name of the file it is from, and Name its name there.
	File, Name string
	Text       string
	// Calls are the calls in it, in order: the name and the arguments, as canonical JSON, with
	// a space between them.
	Calls []string
	// Rest is the text without the calls.
	Rest string
}

// Offered reports whether a tool is one of those that the answers call.
func Offered(name string) bool {
	switch name {
	case "getOrder", "searchOrders", "sendMail", "ping":
		return true
	default:
		return false
	}
}

// Answers returns all answers. It panics if they can't be read, which they always can.
func Answers() []Answer {
	entries, err := files.ReadDir("answers")
	if err != nil {
		panic(err)
	}
	var all []Answer
	for _, entry := range entries {
		raw, err := files.ReadFile(path.Join("answers", entry.Name()))
		if err != nil {
			panic(err)
		}
		name := strings.TrimSuffix(entry.Name(), ".txt")
		for part := range strings.SplitSeq("\n"+string(raw), "\n=== ") {
			if part = strings.TrimSpace(part); part != "" {
				all = append(all, parse(name, part))
			}
		}
	}
	return all
}

func parse(file, part string) Answer {
	title, body, _ := strings.Cut(part, "\n")
	text, expected, found := strings.Cut(body, "\n--- calls\n")
	a := Answer{File: file, Name: title, Text: text, Rest: text}
	if found {
		var calls string
		calls, a.Rest, _ = strings.Cut(expected, "\n--- text\n")
		a.Calls = strings.Split(calls, "\n")
	}
	return a
}
