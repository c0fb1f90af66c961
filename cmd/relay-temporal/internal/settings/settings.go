// Package settings reads the user's own settings for other machines: machines.yml, beside agents.yml.
package settings

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"

	"relay/attempts"
	"relay/epic"
	"relay/epic/pattern"
	"relay/runners"
)

// Machines are the settings. A repository cannot change them.
type Machines struct {
	Remote       string              `yaml:"remote"`        // the git repository that the relay that decides and all hosts reach
	PublicRemote bool                `yaml:"public_remote"` // Remote may be one of the project's own remotes
	Patience     time.Duration       `yaml:"patience"`      // how long Remote is tried again when it is out of reach
	Hosts        []Host              `yaml:"hosts"`         // where attempts are carried out
	Needs        map[string][]string `yaml:"needs"`         // by label of hosts: globs of the files, ids and runners of tasks that need it
	Host         Own                 `yaml:"host"`          // of this machine, as a host
	Temporal     *Temporal           `yaml:"temporal"`      // by which orders reach hosts; nil: all hosts are processes on this machine
}

// Temporal is a Temporal server.
type Temporal struct {
	Address   string        `yaml:"address"`   // HOST:PORT
	Namespace string        `yaml:"namespace"` // default: default
	TLS       TLS           `yaml:"tls"`       // none: without
	Heartbeat time.Duration `yaml:"heartbeat"` // a host that is silent for so long is given up; longer than a restart of the server takes
	Beat      time.Duration `yaml:"beat"`      // how often a host tells that it is at work, and hears that it is to stop
	Queue     time.Duration `yaml:"queue"`     // an order that no worker has taken for so long goes to another host
}

// TLS are files by which both sides know each other.
type TLS struct {
	CA         string `yaml:"ca"`
	Cert       string `yaml:"cert"`
	Key        string `yaml:"key"`
	ServerName string `yaml:"server_name"` // in the server's certificate; "": that of Address
}

// Host is a machine that carries attempts out.
type Host struct {
	Name   string   `yaml:"name"`
	Jobs   int      `yaml:"jobs"` // attempts at a time
	Labels []string `yaml:"labels"`
	// Account is whose usage limits the runners there come to, if hosts share one: their name, or else that of the host.
	Account string `yaml:"account"`
	// TrustChecks: work whose checks have passed there is not checked here again, if nothing has landed meanwhile.
	TrustChecks bool `yaml:"trust_checks"`

	Home string `yaml:"home"` // of a host that is a process on this machine: its home folder
}

// Own are the settings of a host itself.
type Own struct {
	Name        string `yaml:"name"`
	Cache       string `yaml:"cache"`        // folder of the clones; "": the user's cache folder
	SendSecrets bool   `yaml:"send_secrets"` // work leaves this host even if it has what looks like a secret
}

// complete fills in what is not set. It returns what is wrong.
func (t *Temporal) complete(path string) (wrong string) {
	t.Namespace, t.Heartbeat = cmp.Or(t.Namespace, "default"), cmp.Or(t.Heartbeat, 90*time.Second)
	t.Beat, t.Queue = cmp.Or(t.Beat, 5*time.Second), cmp.Or(t.Queue, time.Minute)
	for _, file := range []*string{&t.TLS.CA, &t.TLS.Cert, &t.TLS.Key} {
		if *file != "" && !filepath.IsAbs(*file) {
			*file = filepath.Join(filepath.Dir(path), *file)
		}
	}
	switch {
	case t.Address == "":
		return "temporal needs the address of the server, HOST:PORT"
	case t.Beat < 0 || t.Queue < 0 || t.Heartbeat < 3*t.Beat:
		return "heartbeat of temporal must be at least three times its beat, and none may be negative"
	case (t.TLS.Cert == "") != (t.TLS.Key == ""):
		return "cert and key of temporal belong together"
	}
	return ""
}

// Path returns where the settings of the user are.
func Path(environ []string) string {
	return filepath.Join(folder(environ, "XDG_CONFIG_HOME", ".config"), "relay", "machines.yml")
}

// folder returns a folder of the user that a variable may name.
func folder(environ []string, variable, name string) string {
	if dir := runners.Variable(environ, variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(runners.Variable(environ, "HOME"), name)
}

// Read reads the settings. It returns a *attempts.RefusedError if there is nothing to work with.
func Read(environ []string) (*Machines, error) {
	path := Path(environ)
	refused := func(why string) (*Machines, error) {
		return nil, &attempts.RefusedError{
			Reason: path + ": " + why,
			Hint:   "write there\n  remote: ssh://HOST/relay.git\n  hosts: [{name: build1, jobs: 2}]\nand on each host remote, and host: {name: build1}",
		}
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return refused("there is no such file")
	} else if err != nil {
		return nil, err
	}
	m := &Machines{Patience: 10 * time.Minute}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(m); err != nil && !errors.Is(err, io.EOF) {
		return refused(err.Error())
	}
	if m.Remote == "" {
		return refused("remote is missing: the git repository by which orders and work travel")
	}
	if m.Temporal != nil {
		if wrong := m.Temporal.complete(path); wrong != "" {
			return refused(wrong)
		}
	}
	for label, globs := range m.Needs {
		if len(globs) == 0 || slices.ContainsFunc(globs, func(glob string) bool { return !doublestar.ValidatePattern(glob) }) {
			return refused(fmt.Sprintf("needs: %s must have globs, and well-formed ones: %q", label, globs))
		}
	}
	seen := map[string]bool{}
	for i := range m.Hosts {
		h := &m.Hosts[i]
		h.Jobs, h.Account = cmp.Or(h.Jobs, 1), cmp.Or(h.Account, h.Name)
		if h.Name == "" || h.Jobs < 0 || seen[h.Name] {
			return refused(fmt.Sprintf("host %d needs a name of its own, and jobs of at least 1", i+1))
		}
		seen[h.Name] = true
	}
	return m, nil
}

// Has reports whether a host has all of the labels.
func (h *Host) Has(labels []string) bool {
	return !slices.ContainsFunc(labels, func(label string) bool { return !slices.Contains(h.Labels, label) })
}

// LabelsOf returns the labels that a host needs for a task with a runner.
func (m *Machines) LabelsOf(t *epic.Task, runner string) (labels []string) {
	about := append([]string{t.ID, runner}, t.Files...)
	for label, globs := range m.Needs {
		if slices.ContainsFunc(globs, func(glob string) bool {
			return slices.ContainsFunc(about, func(name string) bool { return pattern.Covers(glob, name) })
		}) {
			labels = append(labels, label)
		}
	}
	return labels
}

// CacheDir returns the folder of a host's clones.
func (m *Machines) CacheDir(environ []string) string {
	return cmp.Or(m.Host.Cache, filepath.Join(folder(environ, "XDG_CACHE_HOME", ".cache"), "relay", "hosts"))
}
