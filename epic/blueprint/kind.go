package blueprint

import (
	"relay/epic"
	"relay/epic/blueprint/inline"
	"relay/epic/pattern"
)

// verifying matches titles of steps that make nothing: checkpoints, and runs of what is there already.
var verifying = pattern.New(`(?i)^[^\pL\d]*(?:checkpoint(?:\s+\d+)?\s*(?:$|[:\x{2013}\x{2014}-]\s)|(?:re-?)?run (?:(?:all|the|full|whole|entire|complete|unit|integration|e2e|existing) )*(?:tests?|test suite|suite|checks|linters?|quickstart\S*)(?: validation| again)?[^\pL\d]*$|(?:verify|ensure|check|confirm|validate)(?: that)? (?:(?:all|the|full|whole|entire|unit|integration|e2e|existing) )*(?:tests?|test suite|suite|build|builds|lint|linters?|checks|quickstart\S*) (?:still )?(?:is |are )?(?:pass|passes|passing|green|succeeds?|works?|clean)[^\pL\d]*$)`)

var (
	// person matches titles of work that an agent cannot do: a human is asked for, or people outside of the repository are.
	person = pattern.New(`(?i)\b(?:(?:requires?|needs?|by|waits? for) (?:a |an? )?(?:human|person)|human[- ](?:only|verif\w+|review|approval|action|task|check|required|needed)|manual(?:ly)? (?:[\w-]+ )?(?:test|tests|testing|qa|smoke|verif\w+|validation)\b)|^manual(?:ly)? (?:\w+ )?(?:check|verify|review|test|qa)\b|[\[(](?:human|manual|manuell|user action|user[- ]performed|needs? (?:an? )?(?:\w+ )?(?:account|credentials))[\])]|^(?:(?:run|perform|do|conduct) )?uat[^\pL\d]*$|\buat (?:sign-?off|with|by)\b|\b(?:tests?|testes?|pruebas?|v[eé]rifi\w+) manu[ae]l\w*|\b(?:on|with|to) (?:an? |the )?(?:real|physical) (?:\w+ )?(?:devices?|hardware|phones?|servers?|machines?)\b|\b(?:auf|an|mit) (?:einem |dem |den )?echte[mnr]? (?:\w+-)?(?:gerät|hardware|android|ios|iphone)|\be[nm] (?:un |el |los |um |o |os )?(?:dispositivos?|tel[eé]fonos?|telefones?) (?:real|reales|reais|físicos?)\b|\bsur (?:un |des |les )?appareils? (?:réels?|physiques?)\b|\b(?:in|im|en) (?:the |dem )?(?:app store connect|apple developer portal|(?:google )?play console)(?: (?:anlegen|erstellen|einrichten|hinterlegen))?[^\pL\d]*(?:\([^()]*\))?[^\pL\d]*$|真机|実機|\bmanuel?l\w* (?:\S+ )?(?:test|prüf|verif|gransk|kontroll|valid|rök)|(?:手動|手动|人工)で?(?:での)?(?:動作)?(?:確認|テスト|検証|测试|验证|确认|审核)|^(?:please )?notify (?:the |all |our |affected )?(?:users?|customers?|teams?|stakeholders?|observers?|clients?|members?|maintainers?|owners?|everyone|support|people|subscribers)\b(?: (?:about|of|by|via) [\w -]{1,40})?[^\pL\d]*$|\b(?:app|play) store submission\b|^(?:publish|submit)\b.{0,60}?\b(?:to|on|in) (?:the )?(?:\w+ )?(?:npm|pypi|registry|crates\.io|marketplace|store|docker hub|maven central|app store|play store|homebrew|rubygems|nuget)\b`)
	// writing matches titles of work on texts about such work.
	writing = pattern.New(`(?i)^[^\pL\d]*(?:create|write|add|update|document|draft)\b`)
	// aside matches headings of sections beside the work: what their boxes say holds of it, or was decided.
	aside = pattern.New(`(?i)^[^\pL\d]*(?:\d+[.)]\s*)?(?:success criteria|success metrics|acceptance(?: criteria| tests?| checks?| checklist)?|definition of (?:done|ready)|done when|exit criteria|dod|rollback(?: \w+)?|risks?(?: .*)?|mitigations?|compatibility requirements|(?:(?:key|technical|design|locked) )*decisions?(?: log)?|(?:open )?questions|out of scope|not in scope|non-goals|assumptions|constraints|(?:\w+ )?(?:background|overview|summary|legend)|(?:(?:project|business|technical|current|high-level) )?context|how to (?:use|read)\b.*|glossary|references|self-review|known (?:issues|limitations)(?: .*)?|(?:approaches|alternatives|options)(?: considered)?|(?:(?:test(?:ing)?|verification|validation|rollback) )(?:strategy|approach)|(?:changes )?(?:delivered|shipped)\b.*|appendix\b.*|future (?:work|enhancements|improvements|ideas|considerations)|(?:final |quality |pre-\w+ |post-\w+ |review |validation |verification |testing |summary |success |completion |submission |deliverables )+checklist)(?:\s*\([^)]*\))?[^\pL\d]*$|^\P{L}*(?:当前)?(?:边界|约束|非目标|背景|概述|风险|原则|注意事项|备注|参考|(?:验收|完成|成功)(?:标准|检查项?|清单))\P{L}*$`)

	ended      = pattern.New(`(?i)[ \t*_]*(?:[—–-]+[ \t]*|[\[(])?(?:[✅✓✔][ \t]*(?:(?:\pL+[ +]+){0,3}(?:done|completed?|shipped|merged|validated|verified|delivered|implemented)\b[^()]{0,30})?(?:[ \t]*\([^()]*\))?|(?:—|–|\[|\()[ \t]*(?:done|completed?|delivered|shipped)(?: [^()\[\]]{1,30}[\])])?)[\])]?[ \t*_]*$`)
	finished   = pattern.New(`(?i)^[^\pL\d]*(?:(?:completed|finished|shipped|resolved|implemented)\b|(?:complete|done|archived?)\b[^a-z]*(?:tasks?|items?|work)?[^\pL\d]*$)|^\s*✅|^\P{L}*(?:已完成|完了済み|(?i:erledigt|hecho|completad[oa]s|terminad[oa]s|concluíd[oa]s|готово)(?:$|\P{L}))`)
	tickedHead = pattern.New(`^[*\s]*(?:✅|☑|✔|\[[xX]\])`)
	deferred   = pattern.New(`(?i:[\[(](?:deferred|postponed|cancel+ed|skipped|won't do|wontfix|on hold)\b[^\])]*[\])][^\pL\d]*$)|[—–~:-]\s*(?:DEFERRED|SKIPPED|CANCELLED)[^\pL\d]*$|^~~.+~~|^[^\pL\pN]*(?i:to-?do|pending|in[ -]progress|remaining|not (?:yet )?started|open|planned|blocked|待办|未开始|进行中|offen|pendiente|pendente|à faire)[^\pL\pN]*$`)
	statusLine = pattern.New(`(?i)^[-*\s]*\**status\**\s*:\**(?:\s*(?:✅|☑|\[x\])\s*$|\W*(?:completed?|done|shipped|implemented|delivered|closed|fixed|resolved)(?:[^\pL\d]*$|\s*[(\[\d—–:,.;-]|\s+(?:on|in|by|at|since|and)\b))`)
)

// Ended takes ✅ or (done) off the end of a title, and reports whether it was there.
func Ended(title string) (rest string, done bool) {
	rest = ended.ReplaceAllString(title, "")
	return rest, rest != title
}

// IsDone reports whether a heading says that the work below it is done.
func IsDone(heading string) bool { return finished.MatchString(heading) }

// IsDeferred reports whether a title says that its task is not to be done now, or is a state alone, as in a legend of boxes.
func IsDeferred(title string) bool { return deferred.MatchString(title) }

// IsTicked reports whether a heading begins with a mark of what is done.
func IsTicked(heading string) bool { return tickedHead.MatchString(heading) }

// SaysDone reports whether a line says that the work is done: **Status:** ✅ Complete.
func SaysDone(text string) bool { return statusLine.MatchString(text) }

// KindOf returns the kind that a task has by its title if the plan does not say one.
func KindOf(title string) epic.Kind {
	switch {
	case person.MatchString(title) && !writing.MatchString(title):
		return epic.KindPerson
	case verifying.MatchString(title):
		return epic.KindVerify
	}
	return epic.KindFeature
}

// IsAside reports whether a heading is that of a section whose boxes are not work.
func IsAside(heading string) bool { return aside.MatchString(inline.Plain(heading)) }
