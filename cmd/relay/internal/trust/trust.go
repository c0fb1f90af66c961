// Package trust asks a person once whether relay may run, and hand out, what the repository's own .agents.yml says.
//
// Each setting that grants something counts by its hash, kept for all checkouts of a repository in relay's folder for state. Without a
// question relay trusts what the user wrote: an edit, a file that git does not have, and a setting that a commit made here brought in. The
// reflog says which commits those are, since a clone brings no reflog. It also trusts what the last run used that ended.
package trust

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
	"gopkg.in/yaml.v3"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/configs"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// Ask makes sure that the user trusts all that the repository's files grant. It shows what is new to a person who can answer; agreed
// says that this person has typed relay trust, and need not be there to answer. Otherwise it fails with what to type.
func Ask(ctx context.Context, a *cli.App, p *project.Project, agreed bool) error {
	file := project.StatePath(p.Session.Environ, "trust", p.Git.CommonDir())
	known, unknown := os.ReadFile(file)
	fresh := slices.DeleteFunc(p.Config.Grants(), func(v configs.Value) bool { return strings.Contains(string(known), hash(v)) })
	if len(fresh) == 0 {
		return nil
	}
	foreign := slices.DeleteFunc(slices.Clone(fresh), func(v configs.Value) bool { return wrote(ctx, p, v) })
	if unknown != nil { // a relay without trust may have run here
		foreign = slices.DeleteFunc(foreign, usedBefore(ctx, p))
	}
	here := attended(a)
	project.RelativeOrigins(p, foreign)
	for _, v := range foreign {
		if text, _ := yaml.Marshal(v.Value); here || agreed { // it came from YAML
			fmt.Fprintf(a.Err, "%s (%s):\n%s", v.Key, v.Origin, text)
		}
	}
	if len(foreign) > 0 && (here && !a.Confirm("have relay run or hand out what this repository says?") || !here && !agreed) {
		return &terminal.Hinted{
			Err: errors.New("you have not trusted what this repository would have relay run or hand out: " +
				plaintext.Some(each.Of(foreign, func(v configs.Value) string { return v.Key + " (" + v.Origin + ")" }), 5)),
			Hint: "relay trust shows and trusts it",
		}
	}
	text := string(known) + strings.Join(each.Of(fresh, hash), "\n") + "\n"
	err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), project.ReplacePrivate(file, []byte(text)))
	if len(foreign) == 0 {
		return nil // the next command finds the same without a record
	}
	return err
}

// attended reports whether a person can see a question and answer it: a background job that reads the terminal is stopped.
func attended(a *cli.App) bool {
	in, _ := a.In.(*os.File)
	group, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCGPGRP) // only a terminal has one
	return err == nil && group == unix.Getpgrp() && terminal.IsTerminal(a.Err.Dest)
}

func hash(v configs.Value) string {
	text, _ := json.Marshal([]any{v.Key, v.Value}) // text, lists of it, and true
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// usedBefore returns whether the last run that ended used a setting. It reads what that run has left. Values of variables are hidden there:
// only their names are compared.
func usedBefore(ctx context.Context, p *project.Project) func(configs.Value) bool {
	then, _ := os.ReadFile(filepath.Join(project.LastEnded(ctx, p), "settings.yml"))
	now := string(project.EffectiveYAML(p))
	return func(v configs.Value) bool {
		key := "- key: " + v.Key + "\n"
		_, after, _ := strings.Cut(now, key)
		value, _, found := strings.Cut(after, "  origin: ")
		return found && strings.Contains(string(then), key+value+"  origin: ")
	}
}

// wrote reports whether the user wrote a setting into its file: as an edit, or with a commit made in this checkout. It is false where git
// keeps the file in another form than the checkout, or does not answer.
func wrote(ctx context.Context, p *project.Project, v configs.Value) bool {
	ask := func(args ...string) string {
		out, _ := p.Git.Run(ctx, git.Call{Args: args})
		return string(out)
	}
	path, _, _ := strings.Cut(v.Origin, ":")
	name := p.Rel(path)
	info, err := os.Lstat(path)
	kept := strings.Count(ask("check-attr", "filter", "ident", "working-tree-encoding", "--", name), ": unspecified\n") == 3
	state := ask("ls-files", "-cotz", "--", ":(icase)"+name) // on some systems another spelling is the same file
	if known := state == "H "+name+"\x00"; err != nil || !info.Mode().IsRegular() || !known || !kept {
		return err == nil && info.Mode().IsRegular() && state == "? "+name+"\x00"
	}
	commits := strings.Fields(ask("log", "--first-parent", "--format=%H", "HEAD", "--", name))
	had := func(at int) bool { // nothing is printed of a commit that lacks the file
		if at >= len(commits) {
			return false
		}
		return slices.Contains(each.Of(configs.GrantsOf([]byte(ask("show", commits[at]+":"+name))), hash), hash(v))
	}
	if ask("status", "--porcelain", "--", name) != "" && !had(0) {
		return true
	}
	at := 0
	for had(at + 1) {
		at++
	}
	return at < len(commits) && madeHere(ask("log", "--walk-reflogs", "--format=%H %gs", "HEAD"), commits[at])
}

// madeHere returns whether git commit made a commit in this checkout, by its reflog, the newest entry first. An amended commit counts if
// the one before it does: else it may be somebody else's with a new name.
func madeHere(reflog, commit string) bool {
	here, before := map[string]bool{}, ""
	for _, line := range slices.Backward(strings.Split(strings.TrimSpace(reflog), "\n")) {
		at, what, _ := strings.Cut(line, " ")
		action, _, _ := strings.Cut(what, ":")
		here[at] = here[at] || action == "commit" || action == "commit (initial)" || action == "commit (amend)" && here[before]
		before = at
	}
	return here[commit]
}
