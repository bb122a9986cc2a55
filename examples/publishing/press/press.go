package press

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Where the two places listen by default.
const (
	BlogAddress     = "127.0.0.1:8791"
	NewsroomAddress = "127.0.0.1:8792"
)

// Config has the secrets of both places. All are required.
type Config struct {
	BlogUser, BlogPassword string // Of an application password of WordPress.
	NewsroomToken          string // Of the webhook, as a bearer token.
}

// Article is what arrived at one of the places.
type Article struct {
	Place  string // blog or newsroom.
	Title  string
	Body   string
	Status string // draft or publish.
}

// Press is both places. It is safe for concurrent use.
type Press struct {
	cfg      Config
	mu       sync.Mutex
	articles []Article
	arrived  func(Article)
}

// New returns places at which nothing has arrived; arrived, unless nil, is called for each article.
func New(cfg Config, arrived func(Article)) (*Press, error) {
	if cfg.BlogUser == "" || cfg.BlogPassword == "" || cfg.NewsroomToken == "" {
		return nil, errors.New("press: the user and password of the blog, and the token of the newsroom, are required")
	}
	if arrived == nil {
		arrived = func(Article) {}
	}
	return &Press{cfg: cfg, arrived: arrived}, nil
}

// Articles returns what arrived, in order.
func (p *Press) Articles() []Article {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.articles)
}

func (p *Press) add(a Article) (number int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.articles = append(p.articles, a)
	p.arrived(a)
	return len(p.articles)
}

// Blog serves POST /wp-json/wp/v2/posts as WordPress does.
func (p *Press) Blog() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /wp-json/wp/v2/posts", func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if !same(user, p.cfg.BlogUser) || !same(password, p.cfg.BlogPassword) {
			refuse(w, http.StatusUnauthorized, "rest_cannot_create", "Sorry, you are not allowed to create posts as this user.")
			return
		}
		var post struct{ Title, Content, Status string }
		if !read(w, r, &post) {
			return
		}
		if post.Status != "draft" && post.Status != "publish" {
			refuse(w, http.StatusBadRequest, "rest_invalid_param", "Invalid parameter(s): status")
			return
		}
		id := p.add(Article{"blog", post.Title, post.Content, post.Status})
		answer(w, http.StatusCreated, map[string]any{
			"id": id, "status": post.Status, "link": fmt.Sprintf("http://%s/?p=%d", r.Host, id),
			"title": map[string]string{"raw": post.Title}, "content": map[string]string{"raw": post.Content},
		})
	})
	return mux
}

// Newsroom serves POST /hooks/articles.
func (p *Press) Newsroom() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hooks/articles", func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !same(token, p.cfg.NewsroomToken) {
			refuse(w, http.StatusUnauthorized, "unauthorized", "this webhook wants a bearer token")
			return
		}
		var hook struct {
			Event string
			Data  struct{ Headline, Markdown, Mode string }
		}
		if !read(w, r, &hook) {
			return
		}
		if hook.Event != "article" {
			refuse(w, http.StatusBadRequest, "unknown_event", "this webhook takes articles")
			return
		}
		id := p.add(Article{"newsroom", hook.Data.Headline, hook.Data.Markdown, hook.Data.Mode})
		answer(w, http.StatusAccepted, map[string]any{
			"article": map[string]any{
				"number": id, "state": hook.Data.Mode, "address": fmt.Sprintf("http://%s/articles/%d", r.Host, id),
			},
		})
	})
	return mux
}

const maxBody = 1 << 20

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(io.LimitReader(r.Body, maxBody)).Decode(into); err != nil {
		refuse(w, http.StatusBadRequest, "rest_invalid_json", "the body is not the JSON that this takes")
		return false
	}
	return true
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func refuse(w http.ResponseWriter, status int, code, message string) {
	answer(w, status, map[string]any{"code": code, "message": message, "data": map[string]int{"status": status}})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
