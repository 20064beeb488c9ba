package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The certificate that HTTPS listeners name, in every namespace.
var ofListeners = must(certificates())

func must(secrets []*corev1.Secret, err error) []*corev1.Secret {
	if err != nil {
		fail(err)
	}
	return secrets
}

func certificates() ([]*corev1.Secret, error) {
	signed, key, err := keyPair()
	if err != nil {
		return nil, err
	}
	var out []*corev1.Secret
	for _, namespace := range []string{"infra", "shop"} {
		out = append(out, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "certificate"}, Type: corev1.SecretTypeTLS,
			Data: map[string][]byte{corev1.TLSCertKey: signed, corev1.TLSPrivateKeyKey: key},
		})
	}
	return out, nil
}
