package blueprint

import (
	"path"
	"slices"
	"strings"

	"relay/epic/pattern"
)

// mostFiles bounds what is taken from the text of a task.
const mostFiles = 30

var (
	lineRange = pattern.New(`(?::[0-9]+(?:[-–:][0-9]+)?|#L[0-9]+(?:-L?[0-9]+)?)$`)
	extension = pattern.New(`^\.[A-Za-z][A-Za-z0-9]{0,9}$`)
	sourceExt = pattern.New(`(?i)^\.(?:go|mod|[cm]?[jt]sx?|py|pyi|rs|java|kts?|rb|c|h|cc|cpp|hpp|cs|fs|swift|m|mm|md|mdx|rst|txt|jsonc?|jsonl|ya?ml|toml|ini|cfg|conf|s?css|less|html?|vue|svelte|astro|sql|sh|bash|ps1|bat|xml|tmpl|tpl|proto|php|lua|exs?|erl|dart|tf|csv|prisma|graphql|gql|ipynb|scala|clj|hs|zig|nix|r|jl|csproj|sln|gradle|properties|svg|plist)$`)
	fileNames = pattern.New(`^(?:Makefile|Dockerfile|Justfile|Procfile|Gemfile|Rakefile|LICENSE)$`)
	planFiles = pattern.New(`^(?:[\w./-]*/)?(?:plan|spec|research|data-model|quickstart|tasks|requirements|design|proposal)\.md$|^contracts/`)
	elsewhere = pattern.New(`^(?:[/~$@-]|\.\.)|://|[\\<>=|"']|\.\./`)

	listedBox = pattern.New(`^(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[[ xX-]\]`)
	command   = pattern.New(`^(?:npm|pnpm|yarn|bun|npx|deno|node|make|just|task|go|cargo|pytest|python3?|uv|poetry|tox|ruff|mypy|mvn|gradle|\./gradlew|dotnet|rake|rspec|bundle|composer|phpunit|swift|flutter|dart|mix|sbt|ctest|bazel|tsc|eslint|vitest|jest|playwright|bash|sh|\./[\w./-]+)(?:[ \t]+\S|$)`)
	passes    = pattern.New(`(?i)\b(?:pass(?:es|ing)?|succeeds?|green|clean|exits?|runs?|works?|without errors?|no errors?)\b`)
	bareRun   = pattern.New(`(?i)^(?:\W*|.*?\bthat )((?:(?:npm|pnpm|yarn|bun)(?: run)? [\w:-]+|go (?:test|vet|build)|cargo (?:test|build|check|clippy)|dotnet (?:test|build)|make [\w-]+|pytest|tox|ruff|mypy|tsc|eslint)(?: [\w./:@-]+){0,4}?) (?:still |all )?(?:pass(?:es)?|succeeds?|exits? (?:with )?0|is (?:green|clean))\b`)
	proseRun  = pattern.New(`(?i)^make (?:sure|it|the|this|that|a|an|all|every|them)\b`)
	runLine   = pattern.New("^[ \\t]*(?:[-*+][ \\t]+)?\\**(?:Run|Verify|Test|Command|Check)\\**:\\**[ \\t]*`([^`]+)`")
	verifies  = pattern.New(`(?s)<(?:verify|automated)>\s*([^<\n]+?)\s*</(?:verify|automated)>`)

	// person matches titles of work that an agent cannot do: a human is asked for, or people outside of the repository are.
	person = pattern.New(`(?i)\b(?:(?:requires?|needs?|by|waits? for) (?:a |an? )?(?:human|person)|human[- ](?:only|verif\w+|review|approval|action|task|check|required|needed)|manual(?:ly)? (?:[\w-]+ )?(?:test|tests|testing|qa|smoke|verif\w+|validation)\b)|^manual(?:ly)? (?:\w+ )?(?:check|verify|review|test|qa)\b|[\[(](?:human|manual|user action|needs? (?:an? )?(?:\w+ )?(?:account|credentials))[\])]|^(?:(?:run|perform|do|conduct) )?uat\W*$|\buat (?:sign-?off|with|by)\b|\bmanuel?l\w* (?:\S+ )?(?:test|prüf|verif|gransk|kontroll|valid|rök)|(?:手動|手动|人工)で?(?:での)?(?:確認|テスト|検証|测试|验证|确认|审核)|^(?:please )?notify (?:the |all |our |affected )?(?:users?|customers?|teams?|stakeholders?|observers?|clients?|members?|maintainers?|owners?|everyone|support|people|subscribers)\b(?: (?:about|of|by|via) [\w -]{1,40})?\W*$|^publish\b.{0,60}?\b(?:to|on|in) (?:the )?(?:\w+ )?(?:npm|pypi|registry|crates\.io|marketplace|store|docker hub|maven central|app store|play store|homebrew|rubygems|nuget)\b`)

	// aside matches headings of sections beside the work: what their boxes say holds of it, or was decided.
	aside = pattern.New(`(?i)^\W*(?:\d+[.)]\s*)?(?:success criteria|success metrics|acceptance(?: criteria| tests?| checks?| checklist)?|definition of (?:done|ready)|done when|exit criteria|dod|rollback(?: \w+)?|risks?(?: .*)?|mitigations?|compatibility requirements|(?:(?:key|technical|design|locked) )*decisions?(?: log)?|(?:open )?questions|out of scope|not in scope|non-goals|assumptions|constraints|(?:\w+ )?(?:background|context|overview|summary)|legend|how to (?:use|read)\b.*|glossary|references|self-review|known (?:issues|limitations)(?: .*)?|(?:approaches|alternatives|options)(?: considered)?|(?:(?:test(?:ing)?|verification|validation|rollback) )(?:strategy|approach)|(?:changes )?(?:delivered|shipped)\b.*|appendix\b.*|future (?:work|enhancements|improvements|ideas|considerations)|(?:final |quality |pre-\w+ |post-\w+ |review |validation |verification |testing |summary |success |completion |submission |deliverables )+checklist)(?:\s*\([^)]*\))?\W*$`)
)

// FilesIn adds the paths that a text names to a list, without the lines in them: a.ts:10-20 is a.ts. They stand in code; loose says
// that they may stand in the text as well.
func FilesIn(list []string, text string, loose bool) []string {
	fence := ""
	for raw := range strings.Lines(text) {
		if fence = fenceAfter(fence, strings.TrimRight(raw, "\r\n")); fence != "" {
			continue
		}
		for _, s := range spans(strings.TrimRight(raw, "\r\n")) {
			words := strings.Split(s.text, ",")
			if !s.code {
				words = strings.FieldsFunc(s.text, func(r rune) bool { return strings.ContainsRune(" \t,;()\"'*|`→；，、：（）", r) })
			}
			for _, word := range words {
				name := lineRange.ReplaceAllString(strings.TrimRight(strings.TrimSpace(word), ".,:;!?"), "")
				if (s.code || loose) && isFile(name, s.code) && !slices.Contains(list, pattern.CleanPath(name)) && len(list) < mostFiles {
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
	for _, m := range verifies.FindAllStringSubmatch(text, -1) {
		if command.MatchString(m[1]) {
			list = append(list, m[1])
		}
	}
	for raw := range strings.Lines(text) {
		raw = strings.TrimRight(raw, "\r\n")
		if m := runLine.FindStringSubmatch(raw); m != nil && command.MatchString(m[1]) {
			list = append(list, m[1])
			continue
		}
		parts := spans(raw)
		for _, s := range parts {
			if s.code && command.MatchString(s.text) && passes.MatchString(raw) {
				list = append(list, s.text)
			}
		}
		if m := bareRun.FindStringSubmatch(raw); m != nil && len(parts) == 1 && !proseRun.MatchString(m[1]) {
			list = append(list, m[1])
		}
	}
	return list
}

// Count counts the headings and boxes of a plan's file, but for those in blocks of code.
func (p *Plan) Count(src []byte) {
	fence := ""
	for text := range strings.Lines(string(src)) {
		text = strings.TrimSpace(text)
		switch fence = fenceAfter(fence, text); {
		case fence != "":
		case strings.HasPrefix(strings.TrimLeft(text, "#"), " ") && text[0] == '#':
			p.Headings++
		case listedBox.MatchString(text):
			p.Boxes++
		}
	}
}

// Offers are commands that a plan names, each once.
type Offers []Offered

// Add adds a command.
func (list *Offers) Add(more Offered) {
	if !slices.ContainsFunc(*list, func(o Offered) bool { return o.Run == more.Run }) && len(*list) < mostOffered {
		*list = append(*list, more)
	}
}

// AddFrom adds the commands that some texts in a line call for.
func (list *Offers) AddFrom(file string, line int, texts ...string) {
	for _, run := range CommandsIn(strings.Join(texts, "\n")) {
		list.Add(Offered{File: file, Line: line, Run: run})
	}
}

// IsAside reports whether a heading is that of a section whose boxes are not work.
func IsAside(heading string) bool { return aside.MatchString(plain(heading)) }
