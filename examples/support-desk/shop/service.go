package shop

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/examples/handbook/lexical"
	"github.com/toolcrib/toolcrib/examples/support-desk/carrier"
)

// Address is where the example's tools look for the shop.
const Address = "127.0.0.1:8780"

// Config configures a [Service].
type Config struct {
	// Token is the bearer token that every request must carry but those for
	// pages; the loyalty programme takes it as a client's secret. Required.
	Token string
	// Latency is how long each answer takes. Defaults to none.
	Latency time.Duration
	// CarrierFailures is how often the carrier is down, with 503, before it
	// answers a request for shipping quotes: counted for each Idempotency-Key
	// anew. Defaults to 0.
	CarrierFailures int
}

// Service is the shop's API, an [http.Handler]. It is safe for concurrent use.
type Service struct {
	cfg     Config
	catalog catalog
	mux     *http.ServeMux
	public  map[string]bool // Routes that want no token, or one of their own.

	mu       sync.Mutex
	requests map[string]int  // By route.
	failed   map[string]int  // By Idempotency-Key.
	refunds  map[string]bool // By order.
	tokens   map[string]bool // Of the loyalty programme.
	inFlight int
	peak     int
}

// New returns a shop that nobody has called yet.
func New(cfg Config) (*Service, error) {
	if cfg.Token == "" {
		return nil, errors.New("shop: Config.Token is required")
	}
	s := &Service{
		cfg: cfg, catalog: seed(), mux: http.NewServeMux(),
		requests: make(map[string]int), failed: make(map[string]int), refunds: make(map[string]bool),
		tokens: make(map[string]bool), public: make(map[string]bool),
	}
	s.mux.HandleFunc("GET /customers", s.findCustomers)
	s.mux.HandleFunc("GET /customers/{id}/orders", s.listOrders)
	s.mux.HandleFunc("GET /orders/{id}", s.getOrder)
	s.mux.HandleFunc("GET /stock/{sku}", s.getStock)
	s.mux.HandleFunc("GET /shipping/quotes", s.quoteShipping)
	s.mux.HandleFunc("POST /orders/{id}/refunds", s.refundOrder)
	s.mux.Handle("/carrier/mcp", carrier.Handler())
	s.mux.Handle("POST /v1/embeddings", lexical.Handler())
	for route, serve := range map[string]http.HandlerFunc{
		"GET /pages/returns": returns, "POST /oauth/token": s.issueToken, "GET /loyalty/{customer}": s.getLoyalty,
	} {
		s.public[route] = true
		s.mux.HandleFunc(route, serve)
	}
	return s, nil
}

// ServeHTTP implements [http.Handler].
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, route := s.mux.Handler(r)
	defer s.enter(route)()
	if !s.public[route] && !s.authorized(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "this API wants a bearer token")
		return
	}
	select {
	case <-time.After(s.cfg.Latency):
	case <-r.Context().Done():
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Requests returns how often each route was called, such as "GET /orders/{id}".
func (s *Service) Requests() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.requests)
}

// Peak returns the most requests that were served at once.
func (s *Service) Peak() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

// Reset forgets what was counted, and what was paid back: orders can be paid back once more.
func (s *Service) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.requests)
	clear(s.refunds)
	s.peak = s.inFlight
}

// enter counts a request in; the returned function counts it out.
func (s *Service) enter(route string) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[route]++
	s.inFlight++
	s.peak = max(s.peak, s.inFlight)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight--
	}
}

func (s *Service) authorized(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	given, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.cfg.Token))
	return ok && subtle.ConstantTimeCompare(given[:], want[:]) == 1
}

// problem is the answer "no".
type problem struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"` // What to do instead.
}

func refuse(w http.ResponseWriter, status int, reason string, hint ...string) {
	reply(w, status, problem{Error: reason, Hint: strings.Join(hint, " ")})
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // A caller that is gone needs no answer.
}
