package changes

import "testing"

// Of a script that a check runs, lines that only speak may go, and one shell may stand for another; no line that can fail may.
func TestLostLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"-echo done":            true,
		"-echo \"in ${PWD}\"":   true,
		"-printf '%s\\n' $name": true,
		"-echo ${X:?not built}": false,
		"-echo $(make test)":    false,
		"-echo x | grep y":      false,
		"-#!/bin/sh":            false,
		"-make test":            false,
	} {
		if idle.MatchString(line) != want {
			t.Errorf("%q: idle is %v", line, !want)
		}
	}
	for line, want := range map[string]bool{
		"+#!/bin/bash": true, "-#!/bin/sh": true, "+#!/usr/bin/env bash": true, "+#!/bin/true": false, "+#!/bin/bash -e": false, "-#!/bin/bash -e": false,
	} {
		if shell.MatchString(line) != want {
			t.Errorf("%q: a shell is %v", line, !want)
		}
	}
}
