// Command webhook is a webhook server as most are written, in Go on controller-runtime. It looks at nothing and
// allows everything with one warning: `cargo bench --bench load -- --peer PROGRAM` asks it what it asks attache.
// It prints the address that it serves at on stdout.
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func main() {
	allow := func(context.Context, admission.Request) admission.Response {
		return admission.Allowed("").WithWarnings("nothing was looked at")
	}
	webhook := &admission.Webhook{Handler: admission.HandlerFunc(allow)}
	handler, err := admission.StandaloneWebhook(webhook, admission.StandaloneOptions{})
	if err != nil {
		log.Fatal(err)
	}
	// Its certificate is for tests: the client of the bench trusts any.
	certificates := httptest.NewTLSServer(nil).TLS.Certificates
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certificates})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr())
	mux := http.NewServeMux()
	mux.Handle("/validate", handler)
	log.Fatal(http.Serve(listener, mux))
}
