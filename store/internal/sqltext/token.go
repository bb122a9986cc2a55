// Package sqltext parses SQL well enough for tests of queries: it splits a file of sqlc
// queries and distinguishes names, parameters and punctuation from comments and strings.
package sqltext

import "strings"

// Kind classifies a [Token].
type Kind int

// Kinds of token.
const (
	Word      Kind = iota // A keyword or an identifier, in lower case.
	Parameter             // @name, sqlc.arg('name') or sqlc.narg('name').
	String                // A literal, dollar quotes included.
	Number
	Symbol // An operator or punctuation.
)

// Token is a lexical unit.
type Token struct {
	Kind Kind
	Text string // Of a parameter, its name; of a string, what stands in the quotes.
}

// Is reports whether t is the given word or symbol.
func (t Token) Is(text string) bool {
	return (t.Kind == Word || t.Kind == Symbol) && t.Text == text
}

// Tokens splits sql. Comments are dropped.
func Tokens(sql string) []Token {
	var out []Token
	s := scanner{rest: sql}
	for {
		t, ok := s.next()
		if !ok {
			return parameters(out)
		}
		out = append(out, t)
	}
}

// parameters joins the tokens of sqlc.arg('name') and sqlc.narg('name').
func parameters(in []Token) []Token {
	out := in[:0]
	for i := 0; i < len(in); i++ {
		if i+5 < len(in) && in[i].Is("sqlc") && in[i+1].Is(".") && (in[i+2].Is("arg") || in[i+2].Is("narg")) {
			out = append(out, Token{Kind: Parameter, Text: in[i+4].Text})
			i += 5
			continue
		}
		out = append(out, in[i])
	}
	return out
}

type scanner struct{ rest string }

func (s *scanner) next() (Token, bool) {
	for {
		s.rest = strings.TrimLeft(s.rest, " \t\r\n")
		switch {
		case s.rest == "":
			return Token{}, false
		case strings.HasPrefix(s.rest, "--"):
			s.skipThrough("\n")
		case strings.HasPrefix(s.rest, "/*"):
			s.skipThrough("*/")
		default:
			return s.token(), true
		}
	}
}

func (s *scanner) skipThrough(end string) {
	if _, after, found := strings.Cut(s.rest, end); found {
		s.rest = after
		return
	}
	s.rest = ""
}

func (s *scanner) token() Token {
	c := s.rest[0]
	switch {
	case c == '\'':
		return Token{Kind: String, Text: s.quoted('\'')}
	case c == '"':
		return Token{Kind: Word, Text: s.quoted('"')}
	case c == '$' && dollarQuote(s.rest) != "":
		quote := dollarQuote(s.rest)
		s.rest = s.rest[len(quote):]
		body, after, _ := strings.Cut(s.rest, quote)
		s.rest = after
		return Token{Kind: String, Text: body}
	case c == '@' && len(s.rest) > 1 && letter(s.rest[1]):
		s.rest = s.rest[1:]
		return Token{Kind: Parameter, Text: s.take(wordPart)}
	case letter(c):
		return Token{Kind: Word, Text: strings.ToLower(s.take(wordPart))}
	case digit(c):
		return Token{Kind: Number, Text: s.take(func(c byte) bool { return digit(c) || c == '.' })}
	default:
		s.rest = s.rest[1:]
		return Token{Kind: Symbol, Text: string(c)}
	}
}

// quoted reads a quoted string, in which a doubled quote is a literal quote.
func (s *scanner) quoted(quote byte) string {
	var text strings.Builder
	for i := 1; i < len(s.rest); i++ {
		if s.rest[i] != quote {
			text.WriteByte(s.rest[i])
			continue
		}
		if i+1 < len(s.rest) && s.rest[i+1] == quote {
			text.WriteByte(quote)
			i++
			continue
		}
		s.rest = s.rest[i+1:]
		return text.String()
	}
	s.rest = ""
	return text.String()
}

// dollarQuote returns the $tag$ that text begins with, if it does.
func dollarQuote(text string) string {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '$':
			return text[:i+1]
		case !wordPart(text[i]):
			return ""
		}
	}
	return ""
}

func (s *scanner) take(part func(byte) bool) string {
	end := 0
	for end < len(s.rest) && part(s.rest[end]) {
		end++
	}
	taken := s.rest[:end]
	s.rest = s.rest[end:]
	return taken
}

func letter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
func digit(c byte) bool    { return c >= '0' && c <= '9' }
func wordPart(c byte) bool { return letter(c) || digit(c) }
