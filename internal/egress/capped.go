package egress

import (
	"fmt"
	"io"

	"github.com/toolcrib/toolcrib/tool"
)

// cappedBody ends with an error at its limit.
type cappedBody struct {
	io.ReadCloser
	limit, left int64 // Left is negative beyond the limit.
	tell        func(error)
}

// Read implements [io.Reader].
func (b *cappedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, b.tooLong()
	}
	if int64(len(p)) > b.left+1 { // One more byte, to detect a longer body.
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		n = int(b.left)
		b.left = -1
		err = b.tooLong()
		b.tell(err)
		return n, err
	}
	b.left -= int64(n)
	return n, err
}

func (b *cappedBody) tooLong() error {
	return &tool.Error{
		Kind: tool.Denied, Op: "egress", Msg: fmt.Sprintf("the upstream answered more than the limit of %d bytes", b.limit),
		Sent: true, Answered: true, Err: errSize,
	}
}
