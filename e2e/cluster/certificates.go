package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificateLife is longer than any test, and short enough to make a forgotten state folder worthless.
const certificateLife = 24 * time.Hour

// The files of a state folder that hold keys and certificates.
const (
	caFile         = "ca.crt"
	serverCertFile = "server.crt"
	serverKeyFile  = "server.key"
	adminCertFile  = "admin.crt"
	adminKeyFile   = "admin.key"
	// signingKeyFile signs service account tokens. No test uses such tokens, but the server does not start without a key.
	signingKeyFile = "sa.key"
)

// writeCertificates creates a certificate authority and, signed by it, the server's certificate for 127.0.0.1 and a client
// certificate in the group system:masters.
func writeCertificates(dir string) error {
	ca, caKey, err := newAuthority()
	if err != nil {
		return fmt.Errorf("make the certificate authority: %w", err)
	}
	if err := writePEM(filepath.Join(dir, caFile), "CERTIFICATE", ca.Raw); err != nil {
		return err
	}
	server := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:    []string{"localhost"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if err := issue(dir, serverCertFile, serverKeyFile, server, ca, caKey); err != nil {
		return fmt.Errorf("make the server's certificate: %w", err)
	}
	admin := &x509.Certificate{
		Subject:     pkix.Name{CommonName: string(Admin), Organization: []string{mastersGroup}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if err := issue(dir, adminCertFile, adminKeyFile, admin, ca, caKey); err != nil {
		return fmt.Errorf("make the administrator's certificate: %w", err)
	}
	signing, err := newKey()
	if err != nil {
		return fmt.Errorf("make the token signing key: %w", err)
	}
	return writeKey(filepath.Join(dir, signingKeyFile), signing)
}

func newAuthority() (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "lockstep-e2e"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if err := complete(template); err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	ca, err := x509.ParseCertificate(der)
	return ca, key, err
}

// issue signs the template for a new key and writes both.
func issue(dir, certFile, keyFile string, template, ca *x509.Certificate, caKey *ecdsa.PrivateKey) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	if err := complete(template); err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, key.Public(), caKey)
	if err != nil {
		return err
	}
	if err := writePEM(filepath.Join(dir, certFile), "CERTIFICATE", der); err != nil {
		return err
	}
	return writeKey(filepath.Join(dir, keyFile), key)
}

// complete gives the template a random serial number and its validity. The validity begins a little in the past, for clocks that
// are set back while tests run.
func complete(template *x509.Certificate) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(certificateLife)
	return nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
