package shop_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/examples/support-desk/shop"
)

const token = "for-tests-only"

func newShop(t *testing.T, failures int) *shop.Service {
	t.Helper()
	s, err := shop.New(shop.Config{Token: token, CarrierFailures: failures})
	require.NoError(t, err)
	return s
}

func get(s *shop.Service, method, target, key string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestAnswers(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		method, target string
		status         int
		contains       string
	}{
		"Customer":        {"GET", "/customers?email=ADA@example.com", 200, `"C-100"`},
		"NoCustomer":      {"GET", "/customers?email=x@example.com", 200, `{"customers":[]}`},
		"NoEmail":         {"GET", "/customers", 400, "email"},
		"Orders":          {"GET", "/customers/C-100/orders", 200, `"SO-1017"`},
		"UnknownCustomer": {"GET", "/customers/C-9/orders", 404, "no customer C-9"},
		"Order":           {"GET", "/orders/SO-1007", 200, `"total_cents":6780`},
		"NoOrder":         {"GET", "/orders/SO-1071", 404, `"hint":"List the customer's orders`},
		"Stock":           {"GET", "/stock/TEAPOT-BLUE", 200, `"available":3`},
		"NoStock":         {"GET", "/stock/SPOON", 404, "no item SPOON"},
		"Quotes":          {"GET", "/shipping/quotes?country=DE&weight_grams=1150", 200, `"price_cents":590`},
		"NoWeight":        {"GET", "/shipping/quotes?country=DE", 400, "weight_grams"},
		"Elsewhere":       {"GET", "/shipping/quotes?country=ZZ&weight_grams=1", 422, "does not go to"},
		"Page":            {"GET", "/pages/returns", 200, "14 days"},
		"NoLoyaltyToken":  {"GET", "/loyalty/C-100", 401, "none of ours"},
		"Refund":          {"POST", "/orders/SO-1007/refunds", 201, `"refunded_cents":6780`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := get(newShop(t, 0), tt.method, tt.target, "")
			require.Equal(t, tt.status, w.Code, w.Body)
			require.Contains(t, w.Body.String(), tt.contains)
		})
	}
}

// Every order's total is that of its lines, so that what agents compute adds up.
func TestTotalsAddUp(t *testing.T) {
	t.Parallel()

	w := get(newShop(t, 0), "GET", "/customers/C-100/orders", "")
	var body struct{ Orders []shop.Order }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
	require.NotEmpty(t, body.Orders)
	for _, o := range body.Orders {
		sum := 0
		for _, line := range o.Lines {
			sum += line.Quantity * line.PriceCents
		}
		require.Equal(t, sum, o.TotalCents, o.ID)
	}
}

func TestCarrierComesBack(t *testing.T) {
	t.Parallel()

	s := newShop(t, 1)
	const target = "/shipping/quotes?country=DE&weight_grams=100"
	require.Equal(t, http.StatusServiceUnavailable, get(s, "GET", target, "a").Code)
	require.Equal(t, http.StatusServiceUnavailable, get(s, "GET", target, "b").Code, "each key on its own")
	require.Equal(t, http.StatusOK, get(s, "GET", target, "a").Code)
	require.Equal(t, map[string]int{"GET /shipping/quotes": 3}, s.Requests())
	require.Equal(t, 1, s.Peak())
	s.Reset()
	require.Empty(t, s.Requests())
	require.Zero(t, s.Peak())
}

func TestWantsItsToken(t *testing.T) {
	t.Parallel()

	_, err := shop.New(shop.Config{})
	require.ErrorContains(t, err, "Token")
	for _, header := range []string{"", token, "Bearer other"} {
		r := httptest.NewRequest(http.MethodGet, "/orders/SO-1007", nil)
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		newShop(t, 0).ServeHTTP(w, r)
		require.Equal(t, http.StatusUnauthorized, w.Code)
	}
}

func TestRefundsOnce(t *testing.T) {
	t.Parallel()

	s := newShop(t, 0)
	require.Equal(t, http.StatusCreated, get(s, "POST", "/orders/SO-1007/refunds", "").Code)
	require.Equal(t, http.StatusConflict, get(s, "POST", "/orders/SO-1007/refunds", "").Code)
	s.Reset()
	require.Equal(t, http.StatusCreated, get(s, "POST", "/orders/SO-1007/refunds", "").Code)
}

// The loyalty programme takes tokens that it issued to the shop's client.
func TestLoyaltyWantsATokenOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newShop(t, 0)
	issue := func(grant, id, secret string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/oauth/token", strings.NewReader("grant_type="+grant))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.SetBasicAuth(id, secret)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	require.Equal(t, http.StatusUnauthorized, issue("client_credentials", shop.ClientID, "wrong").Code)
	require.Equal(t, http.StatusBadRequest, issue("password", shop.ClientID, token).Code)
	issued := issue("client_credentials", shop.ClientID, token)
	require.Equal(t, http.StatusOK, issued.Code)
	var body struct {
		AccessToken string `json:"access_token"`
	}
	require.NoError(t, json.Unmarshal(issued.Body.Bytes(), &body))

	ask := func(customer string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/loyalty/"+customer, nil)
		r.Header.Set("Authorization", "Bearer "+body.AccessToken)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	require.Contains(t, ask("C-100").Body.String(), `"tier":"gold"`)
	require.Equal(t, http.StatusNotFound, ask("C-9").Code)
}
