package shop

// Customer is who buys.
type Customer struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Email   string `json:"email"`
	Country string `json:"country"` // ISO 3166-1 alpha-2.
}

// Line is one item of an order.
type Line struct {
	SKU        string `json:"sku"`
	Name       string `json:"name"`
	Quantity   int    `json:"quantity"`
	PriceCents int    `json:"price_cents"`
}

// Order is what a customer bought. Dates are calendar days, as 2026-03-02.
type Order struct {
	ID          string `json:"id"`
	CustomerID  string `json:"customer_id"`
	PlacedOn    string `json:"placed_on"`
	DeliveredOn string `json:"delivered_on,omitempty"` // Empty while it is on its way.
	Status      string `json:"status"`
	Currency    string `json:"currency"`
	Lines       []Line `json:"lines"`
	TotalCents  int    `json:"total_cents"`
}

// Item is something the shop sells.
type Item struct {
	SKU         string `json:"sku"`
	Name        string `json:"name"`
	Available   int    `json:"available"`
	PriceCents  int    `json:"price_cents"`
	WeightGrams int    `json:"weight_grams"`
}

// catalog is all the shop knows. It never changes.
type catalog struct {
	customers []Customer
	orders    []Order
	items     []Item
}

func seed() catalog {
	return catalog{
		customers: []Customer{
			{ID: "C-100", Name: "Ada Lovelace", Email: "ada@example.com", Country: "DE"},
			{ID: "C-101", Name: "Grace Hopper", Email: "grace@example.com", Country: "US"},
		},
		orders: []Order{
			{
				ID: "SO-1007", CustomerID: "C-100", PlacedOn: "2026-02-24", DeliveredOn: "2026-03-02",
				Status: "delivered", Currency: "EUR", TotalCents: 6780,
				Lines: []Line{
					{SKU: "TEAPOT-BLUE", Name: "Teapot, blue, 1.2 l", Quantity: 1, PriceCents: 4900},
					{SKU: "CUP-BLUE", Name: "Cup, blue", Quantity: 2, PriceCents: 940},
				},
			},
			{
				ID: "SO-1017", CustomerID: "C-100", PlacedOn: "2026-03-09",
				Status: "shipped", Currency: "EUR", TotalCents: 1250,
				Lines: []Line{{SKU: "TEA-ASSAM", Name: "Assam tea, 250 g", Quantity: 1, PriceCents: 1250}},
			},
			{
				ID: "SO-1021", CustomerID: "C-101", PlacedOn: "2026-03-10",
				Status: "packing", Currency: "EUR", TotalCents: 4900,
				Lines: []Line{{SKU: "TEAPOT-GREEN", Name: "Teapot, green, 1.2 l", Quantity: 1, PriceCents: 4900}},
			},
		},
		items: []Item{
			{SKU: "TEAPOT-BLUE", Name: "Teapot, blue, 1.2 l", Available: 3, PriceCents: 4900, WeightGrams: 1150},
			{SKU: "TEAPOT-GREEN", Name: "Teapot, green, 1.2 l", Available: 0, PriceCents: 4900, WeightGrams: 1150},
			{SKU: "CUP-BLUE", Name: "Cup, blue", Available: 41, PriceCents: 940, WeightGrams: 280},
			{SKU: "TEA-ASSAM", Name: "Assam tea, 250 g", Available: 12, PriceCents: 1250, WeightGrams: 270},
		},
	}
}
