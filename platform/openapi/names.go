package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/toolcrib/toolcrib/registry/definition"
)

var notInArgument = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// maxArgument bounds the name of an argument, as model providers do.
const maxArgument = 64

// nameArguments gives each argument a unique name that models accept. Arguments of
// the same name in several places get the place as a prefix or suffix.
func (b *builder) nameArguments() {
	count := make(map[string]int)
	for _, a := range b.arguments {
		a.name = argumentName(a.wire)
		count[a.name]++
	}
	taken := make(map[string]bool)
	for _, a := range b.arguments {
		if count[a.name] > 1 {
			a.name = shorten64(a.place + "_" + a.name)
		}
		free := a.name
		for n := 2; taken[free]; n++ {
			free = shorten64(a.name) + "_" + itoa(n)
		}
		a.name, taken[free] = free, true
	}
}

// comparisons map suffixes of parameters for one end of a range to suffixes of
// arguments.
var comparisons = []struct{ sign, word string }{
	{"<=", "_until"}, {">=", "_since"}, {"<", "_before"}, {">", "_after"},
}

func argumentName(wire string) string {
	for _, c := range comparisons {
		if base, ok := strings.CutSuffix(wire, c.sign); ok && base != "" {
			return argumentName(base + c.word)
		}
	}
	name := strings.Trim(notInArgument.ReplaceAllString(spelled(wire), "_"), "_")
	if strings.HasPrefix(wire, "_") && name != "" {
		name = "_" + name
	}
	if name == "" {
		name = "value"
	}
	return shorten64(name)
}

// letters are Latin letters that Unicode does not decompose into an ASCII letter
// and marks.
var letters = strings.NewReplacer("ß", "ss", "ẞ", "SS", "æ", "ae", "Æ", "AE", "œ", "oe", "Œ", "OE", "ø", "o", "Ø", "O",
	"ł", "l", "Ł", "L", "đ", "d", "Đ", "D", "þ", "th", "Þ", "Th", "ı", "i")

// spelled transliterates Latin letters with marks: größe becomes grosse. Other
// scripts are left unchanged.
func spelled(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(letters.Replace(name)) {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// saying returns the schema of an argument. If the API's name of it differs, the
// description starts with that name.
func (a *argument) saying() any {
	m, ok := a.schema.(map[string]any)
	if !ok || isASCII(a.wire) {
		return a.schema
	}
	m = maps.Clone(m)
	text, _ := m["description"].(string)
	m["description"] = strings.TrimSuffix(clip(a.wire, 100)+": "+text, ": ")
	return m
}

// isASCII reports whether a name has only letters that are allowed in arguments.
func isASCII(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII })
}

// shorten64 truncates a name to the length that models accept, and keeps it
// unique by a digest.
func shorten64(name string) string {
	if len(name) <= maxArgument-4 {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:maxArgument-13] + "_" + hex.EncodeToString(sum[:])[:8]
}

// splitWords splits a name into words, in lower case.
func splitWords(name string) []string {
	var words []string
	var word strings.Builder
	runes := []rune(spelled(name))
	flush := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	for i, r := range runes {
		switch {
		case r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush()
		}
		word.WriteRune(r)
	}
	flush()
	return words
}

var versionSegment = regexp.MustCompile(`^(?i:v[0-9]+[a-z0-9.]*|api|rest)$`)

// wordsOfPath derives a name from method and path.
func (b *builder) wordsOfPath() []string {
	var words []string
	segments := strings.Split(strings.Trim(b.path, "/"), "/")
	single := strings.Contains(segments[len(segments)-1], "{")
	for i, segment := range segments {
		if strings.Contains(segment, "{") || versionSegment.MatchString(segment) {
			continue
		}
		own := splitWords(segment)
		if len(own) > 0 && i+1 < len(segments) && strings.Contains(segments[i+1], "{") {
			own[len(own)-1] = singular(own[len(own)-1])
		}
		words = append(words, own...)
	}
	if len(words) == 0 {
		words = []string{"root"}
	}
	verb := b.methodVerb()
	switch last := words[len(words)-1]; {
	case b.out.Method == http.MethodPost && !single && len(words) > 1 && definition.IsVerb(last):
		return append([]string{last}, words[:len(words)-1]...) // POST /orders/{id}/cancel.
	case b.out.Method == http.MethodPost:
		words[len(words)-1] = singular(last)
	}
	return append([]string{verb}, words...)
}

func singular(word string) string {
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return strings.TrimSuffix(word, "ies") + "y"
	case strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"), strings.HasSuffix(word, "is"), len(word) < 4:
		return word
	default:
		return strings.TrimSuffix(word, "s")
	}
}

// camel joins words to a slug.
func camel(words []string) string {
	var b strings.Builder
	for _, word := range words {
		if b.Len() > 0 && word != "" {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		b.WriteString(word)
	}
	slug := strings.TrimLeft(b.String(), "0123456789_-")
	if slug == "" {
		slug = "call"
	}
	slug = strings.ToLower(slug[:1]) + slug[1:]
	if len(slug) > maxSlug {
		sum := sha256.Sum256([]byte(slug))
		slug = slug[:maxSlug-6] + hex.EncodeToString(sum[:])[:6]
	}
	return slug
}

// maxSlug bounds a slug, with room for a number that makes it unique.
const maxSlug = 60
