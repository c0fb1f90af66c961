package temporal

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// lasts is how long certificates are good.
const lasts = 2 * 365 * 24 * time.Hour

// Certs makes an authority, and certificates of a server at the addresses and of its clients, in a folder. It keeps files that are there.
func Certs(dir string, addresses []string, now time.Time) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ca := x509.Certificate{
		Subject: pkix.Name{CommonName: "relay authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	signer, err := makePair(dir, "ca", &ca, nil, now)
	if err != nil {
		return err
	}
	// The services of the server are clients of each other.
	server := x509.Certificate{
		Subject: pkix.Name{CommonName: "relay server"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage:    x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, address := range addresses {
		if ip := net.ParseIP(address); ip != nil {
			server.IPAddresses = append(server.IPAddresses, ip)
			continue
		}
		server.DNSNames = append(server.DNSNames, address)
	}
	client := x509.Certificate{
		Subject: pkix.Name{CommonName: "relay client"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	_, err = makePair(dir, "server", &server, signer, now)
	_, failed := makePair(dir, "client", &client, signer, now)
	return errors.Join(err, failed)
}

// makePair makes NAME.pem and NAME-key.pem, signed by signer or by itself, unless they are there.
func makePair(dir, name string, of *x509.Certificate, signer *tls.Certificate, now time.Time) (*tls.Certificate, error) {
	certFile, keyFile := filepath.Join(dir, name+".pem"), filepath.Join(dir, name+"-key.pem")
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return &pair, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	number, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	of.SerialNumber, of.NotBefore, of.NotAfter = number, now.Add(-time.Hour), now.Add(lasts)
	parent, by := of, any(key)
	if signer != nil {
		parent, by = signer.Leaf, signer.PrivateKey
	}
	cert, err := x509.CreateCertificate(rand.Reader, of, parent, &key.PublicKey, by)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	err = os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
	if err = errors.Join(err, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600)); err != nil {
		return nil, err
	}
	pair, err = tls.LoadX509KeyPair(certFile, keyFile)
	return &pair, err
}
