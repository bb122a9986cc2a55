package desk

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The shop's rules for refunds.
const (
	returnDays     = 30   // After delivery, for whatever reason.
	damageDays     = 90   // After delivery, for what came damaged.
	keptFeePercent = 20   // Of what the customer merely did not like.
	personCents    = 4000 // Refunds of more than this are paid by a person.
)

// RefundInput is what a refund is decided by. Dates are days, as 2026-03-02.
type RefundInput struct {
	DeliveredOn string `json:"delivered_on" jsonschema:"the day the order was delivered"`
	AskedOn     string `json:"asked_on" jsonschema:"the day the customer asked"`
	Reason      string `json:"reason" jsonschema:"damaged or unwanted"`
	PriceCents  int    `json:"price_cents" jsonschema:"what the customer paid for the item"`
}

// RefundDecision says what may be paid back, and by whom.
type RefundDecision struct {
	Allowed      bool   `json:"allowed"`
	RefundCents  int    `json:"refund_cents"`
	NeedsPerson  bool   `json:"needs_person"`
	DaysSince    int    `json:"days_since_delivery"`
	Because      string `json:"because"`
	AllowedUntil string `json:"allowed_until"`
}

func checkRefund(_ context.Context, in RefundInput) (RefundDecision, error) {
	delivered, err := time.Parse(time.DateOnly, in.DeliveredOn)
	if err != nil {
		return RefundDecision{}, errors.New("delivered_on is not a day such as 2026-03-02; an order that is on its way " +
			"can't be refunded yet")
	}
	asked, err := time.Parse(time.DateOnly, in.AskedOn)
	if err != nil {
		return RefundDecision{}, errors.New("asked_on is not a day such as 2026-03-02")
	}
	if asked.Before(delivered) {
		return RefundDecision{}, errors.New("asked_on lies before delivered_on")
	}
	window, refund := returnDays, in.PriceCents*(100-keptFeePercent)/100
	switch in.Reason {
	case "damaged":
		window, refund = damageDays, in.PriceCents
	case "unwanted":
	default:
		return RefundDecision{}, fmt.Errorf("the reason %q is neither damaged nor unwanted", in.Reason)
	}
	out := RefundDecision{
		DaysSince:    int(asked.Sub(delivered) / (24 * time.Hour)),
		AllowedUntil: delivered.AddDate(0, 0, window).Format(time.DateOnly),
	}
	if out.DaysSince > window {
		out.Because = fmt.Sprintf("%s goods may be sent back for %d days after delivery", in.Reason, window)
		return out, nil
	}
	out.Allowed, out.RefundCents, out.NeedsPerson = true, refund, refund > personCents
	out.Because = fmt.Sprintf("%s goods, %d of %d days after delivery", in.Reason, out.DaysSince, window)
	return out, nil
}
