package inline

import (
	"path"
	"slices"
	"strings"

	"relay/epic/each"
	"relay/epic/pattern"
)

// mostFiles bounds what is taken from the text of a task.
const mostFiles = 30

var (
	// LineRange matches the lines that a path may end in.
	LineRange = pattern.New(`(?::[0-9]+(?:[-–:][0-9]+)?|#L[0-9]+(?:-L?[0-9]+)?)$`)
	extension = pattern.New(`^\.[A-Za-z][A-Za-z0-9]{0,9}$`)
	sourceExt = pattern.New(`(?i)^\.(?:go|mod|[cm]?[jt]sx?|py|pyi|rs|java|kts?|rb|c|h|cc|cpp|hpp|cs|fs|swift|m|mm|md|mdx|rst|txt|jsonc?|jsonl|ya?ml|toml|ini|cfg|conf|s?css|less|html?|vue|svelte|astro|sql|sh|bash|ps1|bat|xml|tmpl|tpl|proto|php|lua|exs?|erl|dart|tf|csv|prisma|graphql|gql|ipynb|scala|clj|hs|zig|nix|r|jl|csproj|sln|gradle|properties|svg|plist)$`)
	fileNames = pattern.New(`^(?:Makefile|Dockerfile|Justfile|Procfile|Gemfile|Rakefile|LICENSE)$`)
	planFiles = pattern.New(`^(?:[\w./-]*/)?(?:plan|spec|research|data-model|quickstart|tasks|requirements|design|proposal)\.md$|^contracts/`)
	elsewhere = pattern.New(`^(?:[/~$@-]|\.\.)|://|[\\<>=|"']|\.\./`)

	command  = pattern.New(`^(?:npm|pnpm|yarn|bun|npx|deno|node|make|just|task|go|cargo|pytest|python3?|uv|poetry|tox|ruff|mypy|mvn|gradle|\./gradlew|dotnet|rake|rspec|bundle|composer|phpunit|swift|flutter|dart|mix|sbt|ctest|bazel|tsc|eslint|vitest|jest|playwright|bash|sh|\./[\w./-]+)(?:[ \t]+\S|$)`)
	passes   = pattern.New(`(?i)\b(?:pass(?:es|ing)?|succeeds?|green|clean|exits?|runs?|works?|without errors?|no errors?)\b`)
	bareRun  = pattern.New(`(?i)^(?:\W*|.*?\bthat )((?:(?:npm|pnpm|yarn|bun)(?: run)? [\w:-]+|go (?:test|vet|build)|cargo (?:test|build|check|clippy)|dotnet (?:test|build)|make [\w-]+|pytest|tox|ruff|mypy|tsc|eslint)(?: [\w./:@-]+){0,4}?) (?:still |all )?(?:pass(?:es)?|succeeds?|exits? (?:with )?0|is (?:green|clean))\b`)
	proseRun = pattern.New(`(?i)^make (?:sure|it|the|this|that|a|an|all|every|them)\b`)
	runLine  = pattern.New("^[ \\t]*(?:[-*+][ \\t]+)?\\**(?:Run|Verify|Test|Command|Check)\\**:\\**[ \\t]*`([^`]+)`")
	verifies = pattern.New(`(?s)<(?:verify|automated)>\s*([^<\n]+?)\s*</(?:verify|automated)>`)
)

// FilesIn adds the paths that a text names to a list, without the lines in them: a.ts:10-20 is a.ts. They stand in code; loose says
// that they may stand in the text as well.
func FilesIn(list []string, text string, loose bool) []string {
	fence := ""
	for raw := range strings.Lines(text) {
		if fence = FenceAfter(fence, strings.TrimRight(raw, "\r\n")); fence != "" {
			continue
		}
		for _, s := range Spans(strings.TrimRight(raw, "\r\n")) {
			words := strings.Split(s.Text, ",")
			if !s.Code {
				words = strings.FieldsFunc(s.Text, func(r rune) bool { return strings.ContainsRune(" \t,;()\"'*|`→；，、：（）", r) })
			}
			for _, word := range words {
				name := LineRange.ReplaceAllString(strings.TrimRight(strings.TrimSpace(word), ".,:;!?"), "")
				if (s.Code || loose) && isFile(name, s.Code) && !slices.Contains(list, pattern.CleanPath(name)) && len(list) < mostFiles {
					list = append(list, pattern.CleanPath(name))
				}
			}
		}
	}
	return list
}

// isFile reports whether a word is the path of a file in the repository.
func isFile(name string, code bool) bool {
	base, ext := path.Base(name), path.Ext(name)
	odd := len(name) > 200 || strings.ContainsAny(name, " \t{}") || strings.HasSuffix(name, "/") || base == ext
	if odd || elsewhere.MatchString(name) || planFiles.MatchString(name) {
		return false
	}
	if strings.Contains(name, "/") {
		return sourceExt.MatchString(ext) || code && (extension.MatchString(ext) || fileNames.MatchString(base))
	}
	return code && (sourceExt.MatchString(ext) || fileNames.MatchString(base))
}

// CommandsIn returns the commands that a text calls for: code that is to pass, and what stands behind Run.
func CommandsIn(text string) (list []string) {
	list = each.Where(verifies.FindAllStringSubmatch(text, -1), func(m []string) (string, bool) { return m[1], command.MatchString(m[1]) })
	for raw := range strings.Lines(text) {
		raw = strings.TrimRight(raw, "\r\n")
		if m := runLine.FindStringSubmatch(raw); m != nil && command.MatchString(m[1]) {
			list = append(list, m[1])
			continue
		}
		parts := Spans(raw)
		for _, s := range parts {
			if s.Code && command.MatchString(s.Text) && passes.MatchString(raw) {
				list = append(list, s.Text)
			}
		}
		if m := bareRun.FindStringSubmatch(raw); m != nil && len(parts) == 1 && !proseRun.MatchString(m[1]) {
			list = append(list, m[1])
		}
	}
	return list
}
