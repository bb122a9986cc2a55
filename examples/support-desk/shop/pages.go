package shop

import "net/http"

// returnsPage is a page of the shop's site, as people read it.
const returnsPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Returns and damaged goods</title>
<style>nav { float: right }</style>
<script>window.visits = (window.visits || 0) + 1;</script></head>
<body>
<nav><a href="/">Home</a> <a href="/pages/tea">Tea</a></nav>
<main><article>
<h1>Returns and damaged goods</h1>
<p>You may send anything back within <strong>30 days</strong> of its arrival, unused and in its box.</p>
<h2>It came broken</h2>
<p>Write to us within <strong>14 days</strong>. A broken article is paid back in full, and you need not send it in.
A colleague looks at every refund before it is paid.</p>
<ul><li>Tell us the order number.</li><li>A photograph helps, but is not needed.</li></ul>
<p>The whole of it stands in our <a href="/pages/terms">terms</a>.</p>
</article></main>
<footer>Tea &amp; Teapots, Speicherstadt, Hamburg</footer>
</body>
</html>
`

func returns(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(returnsPage)) // A reader that is gone needs no page.
}
