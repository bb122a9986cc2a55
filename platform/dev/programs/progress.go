package programs

import (
	"fmt"
	"io"
)

// progress reports a download in lines, one for each tenth of it.
type progress struct {
	to          io.Writer
	what        string
	have, total int64
	reported    int64 // Tenths.
}

// begin says that the rest is about to come; its length may be unknown, -1.
func (p *progress) begin(have, rest int64) {
	if p.total == 0 {
		p.say("downloading %s", p.what)
	}
	p.have, p.total = have, -1
	if rest >= 0 {
		p.total = have + rest
	}
}

func (p *progress) add(n int) {
	p.have += int64(n)
	if p.total <= 0 {
		return
	}
	if tenth := p.have * 10 / p.total; tenth > p.reported {
		p.reported = tenth
		p.say("%3d%% of %.1f MB", tenth*10, float64(p.total)/1e6)
	}
}

func (p *progress) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.to, format+"\n", args...) // Progress is optional.
}
