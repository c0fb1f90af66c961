package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
)

// AddCompletion lets a command and those below it complete their arguments and flags.
func AddCompletion(cmd *cobra.Command, a *App) {
	c := completer{a}
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
		cmd.ValidArgsFunction = c.arguments(cmd)
	}
	flag := func(f *pflag.Flag) {
		if complete := c.flag(f); complete != nil && f.NoOptDefVal == "" {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // one that has a completion of its own keeps it
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(flag)
	cmd.PersistentFlags().VisitAll(flag)
	for _, below := range cmd.Commands() {
		AddCompletion(below, a)
	}
}

type completer struct{ app *App }

// offers returns what there is to choose from, each with what it is behind a tab.
type offers func(cmd *cobra.Command, args []string) []string

// arguments completes the arguments of a command, by the words of its usage line; nil leaves it to the shell, which knows files.
func (c completer) arguments(cmd *cobra.Command) cobra.CompletionFunc {
	_, words, _ := strings.Cut(cmd.Use, " ")
	many := strings.ContainsAny(words, "…") || strings.Contains(words, "...")
	var find offers
	switch {
	case names(words, "FILE", "PATH", "PLAN"):
		return nil
	case names(words, "TASK"):
		find = c.tasks
	}
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if find == nil || len(args) > 0 && !many {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return begin(find(cmd, args), "", typed, args), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// names reports whether a usage line has one of some words.
func names(usage string, wanted ...string) bool {
	words := strings.FieldsFunc(usage, func(r rune) bool { return strings.ContainsRune("[]|.… ", r) })
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(wanted, w) })
}

// flag completes the value of a flag, by its name and what the help calls the value; nil leaves it to the shell.
func (c completer) flag(f *pflag.Flag) cobra.CompletionFunc {
	value, _ := pflag.UnquoteUsage(f)
	var find offers
	switch {
	case value == "FILE" || value == "DIR" || strings.HasPrefix(value, "PATH"):
		return nil
	case f.Name == "runner":
		find = c.agents
	case f.Name == "task":
		find = c.tasks
	}
	several := f.Value.Type() == "stringSlice"
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if find == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		before := ""
		if at := strings.LastIndexByte(typed, ','); several && at >= 0 {
			before, typed = typed[:at+1], typed[at+1:]
		}
		return begin(find(cmd, args), before, typed, strings.Split(before, ",")), cobra.ShellCompDirectiveNoFileComp
	}
}

// begin returns the offers that begin with the typed text, without those that are there.
func begin(all []string, before, typed string, there []string) (list []string) {
	for _, offer := range all {
		name, what, _ := strings.Cut(offer, "\t")
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(typed)) && !slices.Contains(there, name) {
			list = append(list, before+name+"\t"+plaintext.Fit(plaintext.Escape(what), 60))
		}
	}
	return list
}

// tasks offers the tasks of the plan with their titles.
func (c completer) tasks(cmd *cobra.Command, _ []string) []string {
	p, err := c.app.LocateAnyhow(cmd.Context())
	if err != nil {
		return nil
	}
	plan, err := p.Plan()
	if err != nil {
		return nil
	}
	return each.Of(plan.Epic.Tasks, func(t epic.Task) string { return t.ID + "\t" + t.Title })
}

// agents offers the agents that the configuration describes, those of relay.runners first.
func (c completer) agents(cmd *cobra.Command, _ []string) (list []string) {
	p, err := c.app.LocateAnyhow(cmd.Context())
	if err != nil {
		return nil
	}
	r := p.Config.Relay
	for _, name := range append(slices.Clone(r.Runners), slices.Sorted(maps.Keys(r.Agents))...) {
		agent := r.Agents[name]
		what := agent.Type
		if agent.Model != "" {
			what += ", " + agent.Model
		}
		list = each.Added(list, name+"\t"+what)
	}
	return list
}
