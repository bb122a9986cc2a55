package shop

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
)

// ClientID is who asks for tokens; the secret is [Config.Token].
const ClientID = "support-desk"

// tokenLife is how long a token of the loyalty programme lasts, in seconds.
const tokenLife = 300

// issueToken grants client credentials a token (RFC 6749, section 4.4).
func (s *Service) issueToken(w http.ResponseWriter, r *http.Request) {
	id, secret, ok := r.BasicAuth()
	if !ok {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case r.PostFormValue("grant_type") != "client_credentials":
		reply(w, http.StatusBadRequest, map[string]string{"error": "unsupported_grant_type"})
		return
	case id != ClientID || subtle.ConstantTimeCompare([]byte(secret), []byte(s.cfg.Token)) != 1:
		reply(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
		return
	}
	token := rand.Text()
	s.mu.Lock()
	s.tokens[token] = true
	s.mu.Unlock()
	reply(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": tokenLife})
}

// getLoyalty tells how loyal a customer is, for a token of issueToken's.
func (s *Service) getLoyalty(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	known := s.tokens[token]
	s.mu.Unlock()
	id := r.PathValue("customer")
	switch {
	case !known:
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		refuse(w, http.StatusUnauthorized, "the token is none of ours")
	case !slices.ContainsFunc(s.catalog.customers, func(c Customer) bool { return c.ID == id }):
		refuse(w, http.StatusNotFound, "there is no customer "+id)
	default:
		reply(w, http.StatusOK, map[string]any{
			"customer_id": id, "tier": "gold", "points": 1240, "goodwill_percent": 10,
			"rules_url": "http://" + r.Host + "/pages/returns",
		})
	}
}
