// Package temporal has orders reach hosts by a Temporal server: each is an activity of its own, with the attempt's id as its id, in the
// queue of its host.
//
// jobs.go is the side that decides, worker.go and held.go are the host's. A host speaks to the server by the token of the task, so that
// it sees every answer: an attempt that the server does not know any more was given up.
package temporal

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"relay/attempts"
	"relay/cmd/relay-temporal/internal/settings"
)

// retryEvery is how long to wait before the server is tried again.
const retryEvery = time.Second

// callWithin bounds one call to the server.
const callWithin = 5 * time.Second

// Dial connects to the server, and tries again until the patience or ctx ends. It refuses a server that cannot do what is needed.
func Dial(ctx context.Context, s *settings.Temporal, patience time.Duration, identity string) (client.Client, error) {
	o := client.Options{
		HostPort: s.Address, Namespace: s.Namespace, Identity: identity,
		Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)), //nolint:forbidigo // it says nothing: errors are returned
	}
	if s.TLS != (settings.TLS{}) {
		of, err := secure(s.TLS)
		if err != nil {
			return nil, &attempts.RefusedError{Reason: "tls in machines.yml: " + err.Error(), Hint: "relay-temporal certs DIR"}
		}
		o.ConnectionOptions.TLS = of
	}
	end := time.Now().Add(patience)
	for {
		c, err := dial(ctx, o)
		if err == nil {
			return c, nil
		}
		_, refused := errors.AsType[*attempts.RefusedError](err)
		if refused || ctx.Err() != nil {
			return nil, err
		}
		if !time.Now().Before(end) {
			return nil, &attempts.RefusedError{
				Reason: fmt.Sprintf("the Temporal server %s was not reached for %s: %v", s.Address, patience, err),
				Hint:   "start it, or correct temporal in machines.yml",
			}
		}
		pause(ctx, retryEvery)
	}
}

// dial connects once, and asks for an activity that no server has: its answer says whether it knows activities on their own.
func dial(ctx context.Context, o client.Options) (client.Client, error) {
	within, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	c, err := client.DialContext(within, o)
	if err != nil {
		return nil, explain(err, o)
	}
	probe := c.GetActivityHandle(client.GetActivityHandleOptions{ActivityID: "relay-probe"})
	_, err = probe.Describe(within, client.DescribeActivityOptions{})
	if _, none := errors.AsType[*serviceerror.NotFound](err); none || err == nil {
		return c, nil
	}
	c.Close()
	return nil, explain(err, o)
}

// explain makes errors that trying again does not cure ones that say what to do.
func explain(err error, o client.Options) error {
	refused := func(why, hint string) error {
		return &attempts.RefusedError{Reason: fmt.Sprintf("the Temporal server %s %s: %v", o.HostPort, why, err), Hint: hint}
	}
	if _, ok := errors.AsType[*serviceerror.Unimplemented](err); ok {
		return refused("has no standalone activities",
			"use relay-temporal-server, or a Temporal of 1.31 or newer (in 1.31 set activity.enableStandalone in its dynamic configuration)")
	}
	if _, ok := errors.AsType[*serviceerror.NamespaceNotFound](err); ok {
		return refused("has no namespace "+o.Namespace, "make it, or correct namespace in machines.yml")
	}
	if _, ok := errors.AsType[*serviceerror.PermissionDenied](err); ok {
		return refused("permits nothing", "correct tls in machines.yml")
	}
	return err
}

func secure(s settings.TLS) (*tls.Config, error) {
	of := &tls.Config{ServerName: s.ServerName, MinVersion: tls.VersionTLS13}
	if s.CA != "" {
		text, err := os.ReadFile(s.CA)
		if err != nil {
			return nil, err
		}
		of.RootCAs = x509.NewCertPool()
		if !of.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate", s.CA)
		}
	}
	if s.Cert == "" {
		return of, nil
	}
	pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
	of.Certificates = []tls.Certificate{pair}
	return of, err
}

// pause waits for the next try. It reports whether ctx lasts.
func pause(ctx context.Context, every time.Duration) bool {
	within, cancel := context.WithTimeout(ctx, every)
	defer cancel()
	<-within.Done()
	return ctx.Err() == nil
}

// gone reports whether an error says that the server does not know the attempt any more.
func gone(err error) bool {
	_, task := errors.AsType[*serviceerror.NotFound](err)
	_, namespace := errors.AsType[*serviceerror.NamespaceNotFound](err)
	return task || namespace
}
