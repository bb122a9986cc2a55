package desk

import (
	"context"
	"errors"
)

// ReplacementInput is what a replacement is priced by.
type ReplacementInput struct {
	PriceCents      int `json:"price_cents" jsonschema:"price of one item"`
	Quantity        int `json:"quantity" jsonschema:"how many items"`
	ShippingCents   int `json:"shipping_cents" jsonschema:"price of sending them"`
	GoodwillPercent int `json:"goodwill_percent,omitempty" jsonschema:"discount on the goods; none when omitted"`
}

// ReplacementQuote is what the customer pays.
type ReplacementQuote struct {
	GoodsCents    int    `json:"goods_cents"`
	DiscountCents int    `json:"discount_cents"`
	ShippingCents int    `json:"shipping_cents"`
	TotalCents    int    `json:"total_cents"`
	Currency      string `json:"currency"`
}

func quoteReplacement(_ context.Context, in ReplacementInput) (ReplacementQuote, error) {
	if in.PriceCents < 0 || in.ShippingCents < 0 || in.Quantity < 1 {
		return ReplacementQuote{}, errors.New("a replacement is of at least one item, and no price is negative")
	}
	if in.GoodwillPercent < 0 || in.GoodwillPercent > 100 {
		return ReplacementQuote{}, errors.New("goodwill_percent lies between 0 and 100")
	}
	goods := in.PriceCents * in.Quantity
	discount := goods * in.GoodwillPercent / 100
	return ReplacementQuote{
		GoodsCents: goods, DiscountCents: discount, ShippingCents: in.ShippingCents,
		TotalCents: goods - discount + in.ShippingCents, Currency: "EUR",
	}, nil
}
