package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// parallelReads is the max_concurrency of the shop's tools.
const parallelReads = 8

// judge holds what happened against what the tools promise, and with the
// scripted model against its transcript: at the platform, and at the company,
// which counts for itself.
func (d *demo) judge() error {
	var errs []error
	if d.model.live {
		errs = append(errs, d.judgeLive())
	} else {
		errs = append(errs, d.judgeScripted())
	}
	requests := d.company.service.Requests()
	if n, approved := requests["POST /orders/{id}/refunds"], d.approvedRefunds(); n != approved {
		errs = append(errs, fmt.Errorf("%d refunds were approved, and %d reached the shop", approved, n))
	}
	if n := d.company.service.Peak(); n > parallelReads {
		errs = append(errs, fmt.Errorf("%d requests at once reached the shop; the limit is %d", n, parallelReads))
	}
	shown, err := json.Marshal(map[string]any{"run": d.run, "calls": d.calls})
	if err != nil {
		errs = append(errs, fmt.Errorf("encoding what the API showed: %w", err))
	}
	if strings.Contains(string(shown), d.company.token) {
		errs = append(errs, errors.New("the API shows the shop's token"))
	}
	return errors.Join(errs...)
}

// approvedRefunds is how many refunds a person approved.
func (d *demo) approvedRefunds() int {
	n := 0
	for _, inv := range d.calls {
		if inv.Tool == "refundOrder" && inv.ApprovalStatus == tool.ApprovalApproved {
			n++
		}
	}
	return n
}

// judgeScripted requires every call to be as the transcript has it.
func (d *demo) judgeScripted() error {
	var errs []error
	if d.run.Status != agent.RunCompleted {
		errs = append(errs, d.ended())
	}
	want := expected()
	errs = append(errs, check(d.calls, want))
	quotes := 0
	for _, o := range want {
		if strings.HasPrefix(o.tool, "quoteShipping@") {
			quotes += o.attempts
		}
	}
	if n := d.company.service.Requests()["GET /shipping/quotes"]; n != quotes {
		errs = append(
			errs,
			fmt.Errorf("the carrier was asked %d times instead of %d: for each quote once it is down, once it answers", n,
				quotes),
		)
	}
	if n := d.notes(); n != 1 {
		errs = append(errs, fmt.Errorf("%d notes were written instead of one", n))
	}
	return errors.Join(errs...)
}

func (d *demo) ended() error {
	return fmt.Errorf("the run is %s: %s: %s", d.run.Status, d.run.ErrorKind, d.run.Error)
}

// notes counts the notes of this run.
func (d *demo) notes() int { return len(d.company.notebook.Notes()) - d.notesBefore }
