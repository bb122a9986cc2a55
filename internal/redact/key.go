package redact

import (
	"slices"
	"strings"
	"unicode"
)

// SensitiveKey reports whether a member, header, parameter or variable of this name usually
// has a secret value, however it is spelled: api_key, apiKey, X-API-Key, smtppassword. Names
// of facts about a secret are not sensitive: max_tokens, secret_count, password_policy,
// primary_key, author.
func SensitiveKey(name string) bool {
	words := keyWords(name)
	if len(words) == 0 || speaksOf(words) {
		return false
	}
	token := false
	for i, word := range words {
		if sensitiveWords[word] || i > 0 && sensitivePairs[words[i-1]+"_"+word] {
			return true
		}
		token = token || word == "token" || word == "tokens"
	}
	last := words[len(words)-1]
	switch {
	case token:
		return !measuresTokens(words)
	case len(words) == 1:
		return sensitiveAlone[last]
	case last == "pass":
		return passOwners[words[len(words)-2]]
	case last == "signature" || slices.Contains(words, "signature") && isNumber(last):
		return slices.ContainsFunc(words, func(w string) bool { return signers[w] })
	case last == "sign":
		return slices.Contains(words, "access") || slices.Contains(words, "api") || slices.Contains(words, "bapi")
	default:
		return false
	}
}

// speaksOf reports whether a name is of a fact about a secret.
func speaksOf(words []string) bool {
	if len(words) < 2 {
		return false
	}
	first, last := words[0], words[len(words)-1]
	before := words[len(words)-2]
	if factBeginnings[first] || before == "allow" {
		return true
	}
	if isNumber(last) && len(words) > 2 {
		last, before = before, words[len(words)-3]
	}
	return factEndings[last] && !sensitivePairs[before+"_"+last]
}

// measuresTokens reports whether "token" in a name refers to text, or to a position in a
// list.
func measuresTokens(words []string) bool {
	for i, word := range words {
		switch {
		case tokenCompany[word]:
			return true
		case word == "tokens" && i > 0 && !tokenHolders[words[i-1]]:
			return true // completion_tokens and the like.
		}
	}
	return false
}

// keyWords splits a name into words: at punctuation, at changes of case, and between known
// words. Numbers at the ends of words are words.
func keyWords(name string) []string {
	var words []string
	for _, word := range splitWords(name) {
		letters := strings.TrimRight(word, "0123456789")
		if letters == "" || wholeWords[word] {
			words = append(words, word)
			continue
		}
		words = append(words, runTogether(letters)...)
		if letters != word {
			words = append(words, word[len(letters):])
		}
	}
	return words
}

// runTogether splits a word that consists of known words, one of which names a secret:
// accesskeyid gives access, key, id. From other words, it splits off a name of a secret at
// the end: smtppassword gives smtp, password.
func runTogether(word string) []string {
	if vocabulary[word] || len(word) < 6 || len(word) > 64 {
		return []string{word}
	}
	if !slices.ContainsFunc(strongWords, func(strong string) bool { return strings.Contains(word, strong) }) {
		return []string{word}
	}
	if parts := dissect(word); parts != nil {
		return parts
	}
	for _, strong := range strongWords {
		if rest, ok := strings.CutSuffix(word, strong); ok && rest != "" && strong != "key" {
			return []string{rest, strong}
		}
	}
	if rest, ok := strings.CutPrefix(word, "password"); ok && rest != "" {
		return []string{"password", rest}
	}
	return []string{word}
}

// dissect returns the fewest known words that make up word, or nil.
func dissect(word string) []string {
	best := make([][]string, len(word)+1)
	best[0] = []string{}
	for end := 1; end <= len(word); end++ {
		for start := range end {
			part := word[start:end]
			if best[start] == nil || !vocabulary[part] || best[end] != nil && len(best[end]) <= len(best[start])+1 {
				continue
			}
			best[end] = append(slices.Clip(best[start]), part)
		}
	}
	return best[len(word)]
}

// splitWords splits a name at punctuation and changes of case, in lower case:
// "X-APIKeyID2" gives x, api, key, id2.
func splitWords(name string) []string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte(' ')
			continue
		case i > 0 && unicode.IsUpper(r) && unicode.IsLower(runes[i-1]),
			i > 0 && i+1 < len(runes) && unicode.IsUpper(r) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1]):
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" }
