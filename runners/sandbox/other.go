//go:build !linux

package sandbox

import (
	"context"
	"errors"
)

func tryNamespace(context.Context, string) error { return errors.New("only Linux has them") }

func tryLandlock(context.Context, string) (lacks []string, why string) {
	return nil, "only Linux has Landlock"
}

func restricted([]Rule, func() error) error { return errors.New("only Linux has Landlock") }
