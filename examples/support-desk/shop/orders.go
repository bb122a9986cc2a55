package shop

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
)

func (s *Service) findCustomers(w http.ResponseWriter, r *http.Request) {
	email := r.URL.Query().Get("email")
	if email == "" {
		refuse(w, http.StatusBadRequest, "the parameter email is missing")
		return
	}
	found := make([]Customer, 0, 1)
	for _, c := range s.catalog.customers {
		if strings.EqualFold(c.Email, email) {
			found = append(found, c)
		}
	}
	reply(w, http.StatusOK, map[string]any{"customers": found})
}

func (s *Service) listOrders(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if !slices.ContainsFunc(s.catalog.customers, func(c Customer) bool { return c.ID == id }) {
		refuse(w, http.StatusNotFound, "there is no customer "+id)
		return
	}
	found := make([]Order, 0)
	for _, o := range s.catalog.orders {
		if o.CustomerID == id {
			found = append(found, o)
		}
	}
	reply(w, http.StatusOK, map[string]any{"orders": found})
}

func (s *Service) getOrder(w http.ResponseWriter, r *http.Request) {
	if order, ok := s.order(w, r); ok {
		reply(w, http.StatusOK, order)
	}
}

// refundOrder pays an order back, once: all of it, or the amount_cents of the request.
func (s *Service) refundOrder(w http.ResponseWriter, r *http.Request) {
	order, ok := s.order(w, r)
	if !ok {
		return
	}
	asked := struct {
		AmountCents int `json:"amount_cents"`
	}{order.TotalCents}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil && !errors.Is(err, io.EOF) {
		refuse(w, http.StatusBadRequest, "the request is not JSON")
		return
	}
	if asked.AmountCents < 1 || asked.AmountCents > order.TotalCents {
		refuse(w, http.StatusBadRequest, "order "+order.ID+" was cheaper than that, or nothing is to be paid back")
		return
	}
	s.mu.Lock()
	twice := s.refunds[order.ID]
	s.refunds[order.ID] = true
	s.mu.Unlock()
	if twice {
		refuse(w, http.StatusConflict, "order "+order.ID+" was refunded before")
		return
	}
	reply(w, http.StatusCreated, map[string]any{"order_id": order.ID, "refunded_cents": asked.AmountCents})
}

// order returns the order of the path; it answers by itself when there is none.
func (s *Service) order(w http.ResponseWriter, r *http.Request) (Order, bool) {
	id := r.PathValue("id")
	i := slices.IndexFunc(s.catalog.orders, func(o Order) bool { return o.ID == id })
	if i < 0 {
		refuse(w, http.StatusNotFound, "there is no order "+id, "List the customer's orders and look for one like it.")
		return Order{}, false
	}
	return s.catalog.orders[i], true
}
