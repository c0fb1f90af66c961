//go:build unix

package support

import "golang.org/x/sys/unix"

// access returns an error when relay may not read a file, or not write into a folder.
func access(path string, folder bool) error {
	if folder {
		return unix.Access(path, unix.R_OK|unix.W_OK|unix.X_OK)
	}
	return unix.Access(path, unix.R_OK)
}
