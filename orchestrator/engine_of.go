package orchestrator

import "relay/orchestrator/engine"

// engine is what an engine needs to know of this run.
func (o *Options) engine() *engine.Options {
	return &engine.Options{
		Epic: o.Epic, Graph: o.Graph, Plan: o.Plan, Root: o.Root, Repo: o.Repo, Dir: o.Dir, Files: o.Files, Vault: o.Vault,
		Run: o.Run, Isolation: o.Isolation, Worktree: o.Worktree, Landing: o.Landing, Jobs: o.Jobs, SlowChecks: o.SlowChecks,
		NewRunner: o.NewRunner, Supervisor: o.Supervisor, Env: o.Env, CommandEnv: o.CommandEnv, Push: o.Push, Secrets: o.Secrets,
		Limits: o.Limits, Review: o.Review,
	}
}
