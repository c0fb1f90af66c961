package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"relay/cmd/relay/internal/terminal"
	"relay/epic"
)

// tidy makes every command complain of its arguments and flags in relay's own words, and of an unknown subcommand too.
func tidy(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		tidy(c)
		check := c.Args
		if check == nil {
			check = cobra.NoArgs
		}
		if c.HasSubCommands() {
			c.SuggestionsMinimumDistance = 2
			c.Args = cobra.ArbitraryArgs
			if c.RunE == nil {
				c.RunE = cmd.RunE
			}
			continue
		}
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				wanted := strings.Fields(cmd.Use)[1:]
				e := &terminal.UsageError{Message: cmd.CommandPath() + " needs " + strings.Join(wanted, " "), Hint: "type " + cmd.UseLine()}
				if len(args) > len(wanted) {
					e.Message = fmt.Sprintf("%s takes no argument %s", cmd.CommandPath(), terminal.Quote(args[len(wanted)]))
				}
				return e
			}
			if err := cmd.ValidateFlagGroups(); err != nil {
				return exclusiveMistake(cmd)
			}
			return nil
		}
	}
}

// exclusiveMistake names the flags that were given and exclude each other.
func exclusiveMistake(cmd *cobra.Command) error {
	var given []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if len(f.Annotations) > 0 {
			given = append(given, "--"+f.Name)
		}
	})
	return &terminal.UsageError{
		Message: strings.Join(given, " and ") + " exclude each other", Hint: "leave one of them out: " + cmd.CommandPath() + " --help",
	}
}

// FlagMistake returns the usage error for a flag that pflag has refused with err.
func FlagMistake(cmd *cobra.Command, err error) error {
	e := &terminal.UsageError{Message: err.Error(), Hint: cmd.CommandPath() + " --help lists the flags"}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near, ok := epic.Nearest(unknown.GetSpecifiedName(), names); ok {
			e.Hint = "did you mean --" + near + "?"
		}
	}
	if value, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		e.Message = fmt.Sprintf("--%s cannot be %s", value.GetFlag().Name, terminal.Quote(value.GetValue()))
	}
	return e
}

// UnknownCommand returns the usage error for a command that does not exist, with the nearest one.
func UnknownCommand(cmd *cobra.Command, name string) error {
	e := &terminal.UsageError{
		Message: fmt.Sprintf("%s has no command %s", cmd.CommandPath(), terminal.Quote(name)),
		Hint:    cmd.CommandPath() + " --help lists the commands",
	}
	if cmd == cmd.Root() {
		e.Hint = cmd.Name() + " help --all lists the commands"
	}
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		e.Hint = fmt.Sprintf("did you mean %s %s?", cmd.CommandPath(), strings.Join(near, " or "))
	}
	return e
}

// AddHelpers adds the commands of cobra to a group, and checks the arguments of all commands.
func AddHelpers(root *cobra.Command, group string) {
	root.SetHelpCommandGroupID(group)
	root.SetCompletionCommandGroupID(group)
	root.InitDefaultCompletionCmd()
	tidy(root)
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Short, c.Long = "Print a script that completes commands in your shell", "Print a script that completes commands and flags in your shell."
			for _, shell := range c.Commands() {
				shell.Short, shell.Long = "For "+shell.Name(), narrow(shell.Long)
			}
		case "help":
			c.Short, c.Long = "Explain a command, or list all", "Explain a command: relay help work is relay work --help.\n--all lists every command."
			c.Use, c.RunE = "help [COMMAND]", explain
			c.Flags().Bool(allFlag, false, "list every command")
		}
	}
}

// Daily is the group of the commands that a user types every day: relay --help lists only these.
const Daily = "daily"

// allFlag of the help command lists every command.
const allFlag = "all"

// All reports whether the help command was asked for every command.
func All(root *cobra.Command) bool {
	help, _, err := root.Find([]string{"help"})
	return err == nil && help.Flags().Changed(allFlag)
}

// explain shows the help of a command that was named in several words, if there is one.
func explain(help *cobra.Command, args []string) error {
	c, rest, err := help.Root().Find(args)
	switch {
	case err != nil:
		return err
	case len(rest) > 0 && (c == help.Root() || c.HasSubCommands()):
		return UnknownCommand(c, rest[0])
	}
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	return c.Help()
}

// narrow breaks rows that are wider than a small terminal.
func narrow(text string) string {
	rows := strings.Split(strings.TrimSpace(text), "\n")
	for i, row := range rows {
		if len(row) > 80 {
			rows[i] = terminal.Wrap(row, 80, "")
		}
	}
	return strings.Join(rows, "\n")
}

// ShortUsage is the usage of the root command, with the commands of every day.
const ShortUsage = `Usage: {{.CommandPath}} COMMAND
{{range .Commands}}{{if eq .GroupID "` + Daily + `"}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}

All commands: {{.CommandPath}} help --all

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}
`

// UsageTemplate is that of cobra, in fewer lines and never wider than 80 columns.
const UsageTemplate = `Usage: {{if .HasAvailableSubCommands}}{{.CommandPath}} COMMAND{{else}}{{.UseLine}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{$cmds := .Commands}}{{if and .HasAvailableSubCommands (eq (len .Groups) 0)}}

Commands:{{range $cmds}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Everywhere:
{{.InheritedFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}
`
