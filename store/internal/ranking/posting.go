package ranking

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// Sizes of parts of postings, in bytes. See the table word_postings.
const (
	groupHeader = 12 // The document's number, 8, and the bytes of its entries, 4.
	entryHeader = 4  // Position, 2, length class, 1, places, 1.
	placeSize   = 2
)

// inHeadings is the first place in headings; places in the title are negative.
const inHeadings = 1 << 14

// cursor walks through the postings of one word in one block, document by
// document.
type cursor struct {
	word     int
	rest     []byte // Documents after this one.
	document int64
	entries  []byte // Of this document, in the order of positions.
	ahead    []byte // Those that find has not read yet.
}

// entry is the posting of a word in a passage.
type entry struct {
	position int
	length   byte   // Class.
	places   []byte // Of the word in the passage.
}

// inOrder returns postings sorted by document. Merging blocks may have changed the
// order.
func inOrder(postings []byte) []byte {
	ordered := true
	var last int64
	for rest := postings; len(rest) >= groupHeader; {
		document, _, after := cutGroup(rest)
		ordered = ordered && document > last
		last, rest = document, after
	}
	if ordered {
		return postings
	}
	var groups [][]byte
	for rest := postings; len(rest) >= groupHeader; {
		_, _, after := cutGroup(rest)
		groups = append(groups, rest[:len(rest)-len(after)])
		rest = after
	}
	slices.SortFunc(groups, func(a, b []byte) int {
		return cmp.Compare(binary.BigEndian.Uint64(a), binary.BigEndian.Uint64(b))
	})
	return bytes.Join(groups, nil)
}

// cutGroup splits off the entries of the first document. The header is complete.
func cutGroup(postings []byte) (document int64, entries, rest []byte) {
	document = int64(binary.BigEndian.Uint64(postings)) //nolint:gosec // It was an int64.
	size := min(int(binary.BigEndian.Uint32(postings[8:])), len(postings)-groupHeader)
	return document, postings[groupHeader : groupHeader+size], postings[groupHeader+size:]
}

// nextDocument goes on to the next document.
func (c *cursor) nextDocument() bool {
	if len(c.rest) < groupHeader {
		return false
	}
	c.document, c.entries, c.rest = cutGroup(c.rest)
	c.ahead = c.entries
	return true
}

// cutEntry splits off the first entry. The header is complete.
func cutEntry(entries []byte) (e entry, rest []byte) {
	end := min(entryHeader+placeSize*int(entries[3]), len(entries))
	return entry{int(binary.BigEndian.Uint16(entries)), entries[2], entries[entryHeader:end]}, entries[end:]
}

// frequency returns how many times the passage has the word: headings count twice, the
// title three times.
func (e *entry) frequency() float64 {
	if len(e.places) == 0 {
		return 1
	}
	n := 0
	for i := 0; i+placeSize <= len(e.places); i += placeSize {
		switch place := int16(binary.BigEndian.Uint16(e.places[i:])); { //nolint:gosec // It was an int16.
		case place < 0:
			n += 3
		case place >= inHeadings:
			n += 2
		default:
			n++
		}
	}
	return float64(n)
}

// appendPlaces appends the places of the word in the passage, in ascending order.
func (e *entry) appendPlaces(all []int) []int {
	for i := 0; i+placeSize <= len(e.places); i += placeSize {
		place := int(int16(binary.BigEndian.Uint16(e.places[i:]))) //nolint:gosec // It was an int16.
		switch {
		case place < 0:
			place = -place
		case place >= inHeadings:
			place -= inHeadings
		}
		all = append(all, place)
	}
	return all
}
