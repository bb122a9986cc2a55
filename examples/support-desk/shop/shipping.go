package shop

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// Quote is what sending a parcel costs, and how long it takes.
type Quote struct {
	Service    string `json:"service"`
	PriceCents int    `json:"price_cents"`
	Days       int    `json:"days"`
}

func (s *Service) getStock(w http.ResponseWriter, r *http.Request) {
	sku := r.PathValue("sku")
	i := slices.IndexFunc(s.catalog.items, func(item Item) bool { return item.SKU == sku })
	if i < 0 {
		refuse(w, http.StatusNotFound, "there is no item "+sku)
		return
	}
	reply(w, http.StatusOK, s.catalog.items[i])
}

func (s *Service) quoteShipping(w http.ResponseWriter, r *http.Request) {
	country, text := r.URL.Query().Get("country"), r.URL.Query().Get("weight_grams")
	weight, err := strconv.Atoi(text)
	switch {
	case country != "DE" && country != "US":
		refuse(w, http.StatusUnprocessableEntity, fmt.Sprintf("the carrier does not go to %q", country),
			"It goes to DE and US.")
	case err != nil || weight <= 0:
		refuse(w, http.StatusBadRequest, "weight_grams must be a positive number")
	case s.carrierDown(r.Header.Get("Idempotency-Key")):
		refuse(w, http.StatusServiceUnavailable, "the carrier does not answer")
	default:
		base, days := 490, 2
		if country == "US" {
			base, days = 1900, 7
		}
		price := base + 100*(weight/1000)
		reply(w, http.StatusOK, map[string]any{"currency": "EUR", "quotes": []Quote{
			{Service: "standard", PriceCents: price, Days: days},
			{Service: "express", PriceCents: 2 * price, Days: max(1, days/2)},
		}})
	}
}

// carrierDown fails the first requests with each key, so that whoever comes
// back with the same key is served.
func (s *Service) carrierDown(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed[key]++
	return s.failed[key] <= s.cfg.CarrierFailures
}
