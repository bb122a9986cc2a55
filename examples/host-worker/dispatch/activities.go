package dispatch

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

// Parcel is what the warehouse sends.
type Parcel struct {
	ID      string   `json:"id"` // Names the workflow too.
	Country string   `json:"country"`
	Items   []string `json:"items"`
}

// Booking is what was agreed with the carrier.
type Booking struct {
	ParcelID    string `json:"parcel_id"`
	WeightGrams int    `json:"weight_grams"`
	Service     string `json:"service"`
	PriceCents  int    `json:"price_cents"`
	Days        int    `json:"days"`
}

// weights are the warehouse's own, in grams.
var weights = map[string]int{"TEAPOT-BLUE": 1150, "CUP-BLUE": 280, "TEA-ASSAM": 270}

// Weigh returns the weight of a packed parcel in grams.
func Weigh(_ context.Context, p Parcel) (int, error) {
	grams := 120 // The box.
	for _, sku := range p.Items {
		weight, ok := weights[sku]
		if !ok {
			return 0, temporal.NewNonRetryableApplicationError(fmt.Sprintf("the weight of %s is unknown", sku),
				"warehouse.UnknownItem", nil)
		}
		grams += weight
	}
	return grams, nil
}

// Label prints the parcel's label.
func Label(ctx context.Context, b Booking) (string, error) {
	activity.GetLogger(ctx).Info("printing a label", "parcel", b.ParcelID)
	return fmt.Sprintf("%s · %s · %d g · %d days", b.ParcelID, b.Service, b.WeightGrams, b.Days), nil
}
