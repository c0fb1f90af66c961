// Package awake keeps the machine from sleeping while relay works.
package awake
