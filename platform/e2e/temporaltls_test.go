package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// identity makes a certificate that signs itself, for 127.0.0.1, and its files.
func identity(t *testing.T) (pair tls.Certificate, cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "synthetic"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
	pair, err = tls.X509KeyPair(certPEM, keyPEM)
	require.NoError(t, err)
	cert, key = filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	require.NoError(t, os.WriteFile(cert, certPEM, 0o600))
	require.NoError(t, os.WriteFile(key, keyPEM, 0o600))
	return pair, cert, key
}

// guarded puts TLS in front of Temporal. It asks for a client certificate, or for an API
// key, as Temporal Cloud does.
func guarded(t *testing.T, own tls.Certificate, client *x509.CertPool, apiKey string) (address string) {
	t.Helper()
	var plain http.Protocols
	plain.SetUnencryptedHTTP2(true)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: server.Address()})
	proxy.Transport, proxy.FlushInterval = &http.Transport{Protocols: &plain}, -1
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if apiKey != "" && r.Header.Get("Authorization") != "Bearer "+apiKey {
			w.Header().Set("Content-Type", "application/grpc")
			w.Header().Set("Grpc-Status", "16")
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	front.EnableHTTP2 = true
	front.TLS = &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
	if client != nil {
		front.TLS.ClientAuth, front.TLS.ClientCAs = tls.RequireAndVerifyClientCert, client
	}
	front.StartTLS()
	t.Cleanup(front.Close)
	return front.Listener.Addr().String()
}

// Temporal behind TLS is reached with a client certificate or an API key, by flags or by
// the file of settings, and not without them.
func TestTemporalBehindTLS(t *testing.T) {
	t.Parallel()

	own, ca, _ := identity(t)
	mine, cert, key := identity(t)
	leaf, err := x509.ParseCertificate(mine.Certificate[0])
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	const apiKey = "synthetic-key"
	keyFile := filepath.Join(t.TempDir(), "api-key")
	require.NoError(t, os.WriteFile(keyFile, []byte(apiKey+"\n"), 0o600))
	mutual, byKey := guarded(t, own, pool, ""), guarded(t, own, nil, apiKey)
	settings := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(settings, []byte("temporal-address: "+byKey+"\ntemporal-namespace: default\n"+
		"TEMPORAL_API_KEY: {file: "+keyFile+"}\ntemporal-tls-server-ca-cert-path: "+ca+"\n"), 0o600))

	trust := []string{"--temporal-tls-server-ca-cert-path", ca}
	certificate := []string{"--temporal-tls-client-cert-path", cert, "--temporal-tls-client-key-path", key}
	keyed := append([]string{"--temporal-address", byKey}, trust...)
	for name, tt := range map[string]struct {
		args []string
		ok   bool
	}{
		"Certificate":         {append(append([]string{"--temporal-address", mutual}, trust...), certificate...), true},
		"NoCertificate":       {append([]string{"--temporal-address", mutual}, trust...), false},
		"UnknownServer":       {append([]string{"--temporal-address", mutual}, certificate...), false},
		"NoTLS":               {[]string{"--temporal-address", mutual}, false},
		"APIKey":              {append([]string{"--temporal-api-key-file", keyFile}, keyed...), true},
		"WrongAPIKey":         {append([]string{"--temporal-api-key-file", ca}, keyed...), false},
		"NoAPIKey":            {keyed, false},
		"SettingsFile":        {[]string{"--settings", settings}, true},
		"SettingsFileAndFlag": {[]string{"--settings", settings, "--temporal-address", mutual}, false},
		"Namespace":           {[]string{"--settings", settings, "--temporal-namespace", "missing"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, errs := deployment(t, append([]string{"list"}, tt.args...)...)
			require.Equal(t, tt.ok, code == cli.ExitOK, errs)
			require.NotContains(t, errs, apiKey)
		})
	}
}
