package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// format names the digest's input; another input has another name.
const format = "toolcrib.audit.1"

// noHash is the hash before the first row.
var noHash = strings.Repeat("0", sha256.Size*2)

// timeLayout is how times stand in the digest's input: in UTC, to the microsecond.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// Digest returns the hash of a sealed row behind the one with the previous hash, as 64 hex
// digits; an empty previous one is that before the first row.
//
// It is the SHA-256 of a series of fields, each written as the number of its bytes, a colon,
// its text and a comma, and an absent one as a dash and a comma: the name of the format,
// previous, seq, id of the tenant (empty for the platform), id, at, kind of the actor, its
// subject, key id, action, kind, id and name of the object, request id, outcome, reason,
// before, after, sealed at. The text of before and after is that of the row, byte by byte.
func Digest(previous string, e Entry) string {
	if previous == "" {
		previous = noHash
	}
	var b strings.Builder
	for _, field := range []string{
		format, previous, strconv.FormatInt(e.Seq, 10), string(e.Tenant), e.ID, stamp(e.At), string(e.Actor.Kind),
		e.Actor.Subject,
	} {
		write(&b, field)
	}
	optional(&b, e.Actor.KeyID)
	for _, field := range []string{
		string(e.Action), e.Object.Kind, e.Object.ID, e.Object.Name, e.Actor.RequestID, string(e.Outcome), e.Reason,
	} {
		write(&b, field)
	}
	optional(&b, string(e.Before))
	optional(&b, string(e.After))
	write(&b, stamp(e.SealedAt))
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

func stamp(at time.Time) string { return at.UTC().Format(timeLayout) }

func write(b *strings.Builder, field string) {
	b.WriteString(strconv.Itoa(len(field)))
	b.WriteByte(':')
	b.WriteString(field)
	b.WriteByte(',')
}

func optional(b *strings.Builder, field string) {
	if field == "" {
		b.WriteString("-,")
		return
	}
	write(b, field)
}

// Break is where a chain is broken.
type Break struct {
	Seq    int64  // Number of the first row that is not as it was sealed, or is missing.
	ID     string // Its id; empty where it is missing.
	Reason string // What is wrong, for people.
}

// Verifier checks a chain row by row. Its zero value begins before the first row; with a head
// it begins behind that. It is not safe for concurrent use.
type Verifier struct {
	Head Head // The last row that was found whole.
}

// Next checks the row behind [Verifier.Head], and moves on. It returns nil where that is
// whole; after a break it must not be called again.
func (v *Verifier) Next(e Entry) *Break {
	want := v.Head.Seq + 1
	switch {
	case e.Seq > want:
		return &Break{Seq: want, Reason: fmt.Sprintf("the row is missing: behind %d comes %d", v.Head.Seq, e.Seq)}
	case e.Seq < want:
		return &Break{Seq: e.Seq, ID: e.ID, Reason: "the number is used twice"}
	case Digest(v.Head.Hash, e) != e.Hash:
		return &Break{
			Seq: e.Seq, ID: e.ID,
			Reason: "the hash does not fit the row and the one before: one of the two was changed",
		}
	}
	v.Head = Head{Seq: e.Seq, Hash: e.Hash}
	return nil
}

// End checks that the chain ends where its recorded head is, once [Verifier.Next] was called
// for every row up to that.
func (v *Verifier) End(s State) *Break {
	switch {
	case v.Head.Seq < s.Seq:
		return &Break{
			Seq: v.Head.Seq + 1, Reason: fmt.Sprintf("the row is missing: the recorded head is %d", s.Seq),
		}
	case s.LastSeq > s.Seq:
		return &Break{Seq: s.Seq + 1, Reason: fmt.Sprintf("the row is behind the recorded head, %d", s.Seq)}
	case v.Head.Seq == s.Seq && v.Head.Seq > 0 && v.Head.Hash != s.Hash:
		return &Break{Seq: s.Seq, Reason: "the recorded head has another hash than the row"}
	}
	return nil
}
