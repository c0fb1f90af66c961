package project

import (
	"cmp"
	"runtime/debug"

	"relay/runners/version"
)

// RelayVersion returns the version of relay's module as the toolchain recorded it, with the commit it was built from if the program
// belongs to the module.
func RelayVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path != "relay" {
			continue
		}
		for m.Replace != nil {
			m = m.Replace
		}
		return cmp.Or(m.Version, "(devel)")
	}
	v := cmp.Or(info.Main.Version, "(devel)")
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return v + " " + s.Value[:12]
		}
	}
	return v
}

// CLIOf returns the kind of CLI that an agent is, and its version by where it is installed; "" for what is not known. It looks once
// for each agent.
func (p *Project) CLIOf(name string) (kind, installed string) {
	kind = p.Config.Relay.Agents[name].Type
	if kind == "scripted" {
		return "script", ""
	}
	known, ok := p.versions.Load(name)
	if !ok {
		program, err := p.Program(name)
		if err != nil {
			return kind, ""
		}
		known, _ = p.versions.LoadOrStore(name, version.Installed(program))
	}
	installed, _ = known.(string)
	return kind, installed
}
