package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"
)

// The certificate that listeners name, and its key. They are made anew each time and recorded nowhere.
func keyPair() (signed, key []byte, err error) {
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "example.com"}, DNSNames: []string{"*.example.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &pair.PublicKey, pair)
	if err != nil {
		return nil, nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(pair)
	if err != nil {
		return nil, nil, err
	}
	signed = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return signed, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), nil
}

var certificate = object{}

// The Secret with both that listeners of a namespace name.
func certificateOf(namespace string) object {
	if len(certificate) == 0 {
		signed, key, err := keyPair()
		if err != nil {
			fail(err)
		}
		certificate["tls.crt"], certificate["tls.key"] = signed, key
	}
	return object{
		"apiVersion": "v1", "kind": "Secret", "metadata": meta(namespace, "certificate"), "type": "kubernetes.io/tls",
		"data": certificate,
	}
}
