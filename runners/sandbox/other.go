//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"net"
	"sync"
)

func tryNamespace(context.Context, string) error { return errors.New("only Linux has them") }

func tryLandlock(context.Context, string) (lacks []string, why string) {
	return nil, "only Linux has Landlock"
}

func restricted(*Wall, func() error) error { return errors.New("only Linux has Landlock") }

func listenInside(sync.Locker, int, int) (net.Listener, error) {
	return nil, errors.New("only Linux has networks of its own")
}
