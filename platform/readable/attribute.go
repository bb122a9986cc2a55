package readable

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// Bounds of attributes.
const (
	maxAttributes = 64   // Of an element; the others are not looked at.
	maxURL        = 2048 // Bytes; a longer one is dropped.
	maxPhrase     = 1000 // Bytes of a title, an alternative text or a fact of the page.
	maxWord       = 200  // Bytes of a class or an id.
)

// attributes reads those of the tag at hand that are of use.
func (b *builder) attributes(more bool) map[string]string {
	if !more {
		return nil
	}
	out := make(map[string]string)
	for range maxAttributes {
		key, value, rest := b.z.TagAttr()
		if _, known := out[string(key)]; !known && wanted[string(key)] {
			out[string(key)] = string(value)
		}
		if !rest {
			break
		}
	}
	return out
}

var wanted = names(`alt aria-hidden class content data-src datetime hidden href id itemprop lang name property rel
	src start style title`)

// dress gives an element the attributes that are needed to read the page.
func (b *builder) dress(node *html.Node, attrs map[string]string) {
	for _, key := range []string{"class", "id", "itemprop", "rel"} { // They help to find the article.
		set(node, key, short(attrs[key], maxWord))
	}
	switch node.Data {
	case "a":
		set(node, "href", b.resolve(attrs["href"], true))
		set(node, "title", short(attrs["title"], maxPhrase))
	case "img":
		src := b.resolve(attrs["src"], false)
		if src == "" {
			src = b.resolve(attrs["data-src"], false)
		}
		set(node, "src", src)
		set(node, "alt", short(attrs["alt"], maxPhrase))
	case "time":
		set(node, "datetime", short(attrs["datetime"], maxWord))
	case "ol":
		if start := attrs["start"]; len(start) <= len("99999") && strings.Trim(start, "0123456789") == "" {
			set(node, "start", start)
		}
	}
}

// resolve returns a link as an absolute URL of the web, or of mail where that
// will do; the empty string for any other.
func (b *builder) resolve(raw string, mail bool) string {
	raw = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.TrimSpace(raw))
	if raw == "" || len(raw) > maxURL {
		return ""
	}
	ref, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	u := b.base.ResolveReference(ref)
	switch {
	case (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "":
		u.User = nil
		return u.String()
	case u.Scheme == "mailto" && mail && strings.Contains(u.Opaque, "@"):
		return "mailto:" + u.Opaque
	default:
		return ""
	}
}

// rebase heeds the first base element that leads somewhere.
func (b *builder) rebase(href string) {
	if b.based {
		return
	}
	if to, err := url.Parse(b.resolve(href, false)); err == nil && to.Host != "" {
		b.base, b.based = to, true
	}
}

// meta keeps a metadata element of the page.
func (b *builder) meta(attrs map[string]string) {
	content := attrs["content"]
	if content == "" || len(content) > maxPhrase || b.metas >= maxMetas {
		return
	}
	node := newNode("meta")
	for _, key := range []string{"name", "property", "itemprop"} {
		set(node, key, short(attrs[key], maxWord))
	}
	if len(node.Attr) == 0 {
		return
	}
	b.metas++
	set(node, "content", content)
	b.head.AppendChild(node)
}

func set(node *html.Node, key, value string) {
	if value != "" {
		node.Attr = append(node.Attr, html.Attribute{Key: key, Val: value})
	}
}

// short returns s, or nothing where it is too long to be what it says.
func short(s string, limit int) string {
	if len(s) > limit {
		return ""
	}
	return s
}
