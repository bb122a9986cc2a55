package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// verifyPage is how many rows are read at a time. One may have half a megabyte.
const verifyPage = 100

// Report is what a verification found.
type Report struct {
	Verified Head   // The last row that was found whole.
	Complete bool   // Everything up to the recorded head was looked at; else go on from Verified.
	Broken   *Break // Nil where nothing is wrong so far.

	Unsealed int        // Rows that are not part of the chain yet.
	Oldest   *time.Time // When the first of them was written.
}

// Verify checks at most so many rows of a tenant's chain behind from, which is the zero head
// or one that was verified or exported before. A chain that is found whole from a head that
// was kept elsewhere is the one that had this head.
func Verify(ctx context.Context, log Log, tenant tool.TenantID, from Head, most int) (Report, error) {
	state, err := log.AuditState(ctx, tenant)
	if err != nil {
		return Report{}, err
	}
	v := Verifier{Head: from}
	report := func(broken *Break) (Report, error) {
		return Report{
			Verified: v.Head, Broken: broken, Complete: broken != nil || v.Head.Seq >= state.Seq,
			Unsealed: state.Unsealed, Oldest: state.Oldest,
		}, nil
	}
	if from.Seq > state.Seq {
		return report(&Break{
			Seq: state.Seq + 1,
			Reason: fmt.Sprintf("the row is missing: the recorded head is %d, and %d was given as verified", state.Seq,
				from.Seq),
		})
	}
	for left := most; v.Head.Seq < state.Seq; {
		if left <= 0 {
			return report(nil)
		}
		rows, err := log.AuditChain(ctx, tenant, v.Head.Seq, min(left, verifyPage))
		if err != nil {
			return Report{}, err
		}
		left -= len(rows)
		for _, e := range rows {
			if e.Seq > state.Seq {
				break // It was sealed since, or is behind the head.
			}
			if broken := v.Next(e); broken != nil {
				return report(broken)
			}
		}
		if len(rows) == 0 || rows[len(rows)-1].Seq > state.Seq {
			break // The end of the chain says what is missing.
		}
	}
	return report(v.End(state))
}
