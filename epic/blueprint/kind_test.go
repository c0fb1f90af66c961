package blueprint

import (
	"testing"

	"relay/epic"
)

func TestHeadingsInOtherLanguages(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"已完成摘要", "✅ ГОТОВО (працює)", "Erledigt", "2. Completadas"} {
		if !IsDone(name) {
			t.Errorf("%q does not mean done", name)
		}
	}
	if !IsDeferred("In progress") || IsDeferred("In progress: the parser") || IsDeferred("Open the file") {
		t.Error("a state alone is not a task")
	}
	if IsDone("Hechos de la API") || !IsAside("当前边界") || IsAside("风险引擎") || !IsAside("验收检查项") {
		t.Error("a heading is misread")
	}
	if IsAside("2. Theme context") || !IsAside("Business context") || !IsAside("Milestone Summary") {
		t.Error("a heading in English is misread")
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]epic.Kind{
		"Deploy to staging (needs credentials)": epic.KindPerson, "Perform UAT": epic.KindPerson, "UAT sign-off": epic.KindPerson,
		"A login that needs an account id": epic.KindFeature, "The client needs credentials in its header": epic.KindFeature,
		"Prueba manual de extremo a extremo": epic.KindPerson, "Test on a real device": epic.KindPerson, "在真机上验收": epic.KindPerson,
		"In-headset check (user-performed)": epic.KindPerson, "Submit the build to the App Store": epic.KindPerson,
		"Auf echtem iOS testen": epic.KindPerson, "Probar en dispositivos reales": epic.KindPerson, "APNs-Zertifikat in Apple Developer Portal erstellen": epic.KindPerson,
		"Medir em telefone físico e rede móvel real": epic.KindPerson,
		"Fix crash in Play Console export parser":    epic.KindFeature, "Parse reviews in App Store Connect API client": epic.KindFeature,
		"Soporte para dispositivos reales": epic.KindFeature, "Implement search in developer portal": epic.KindFeature,
		"Echte Hardware-Erkennung implementieren": epic.KindFeature, "Erkenne echte Geräte in der Liste": epic.KindFeature,
		"Write a manual test procedure in docs/test.md":         epic.KindFeature,
		"Add the UAT environment":                               epic.KindFeature,
		"Checkpoint: all user stories work":                     epic.KindVerify,
		"✅ Checkpoint 3":                                        epic.KindVerify,
		"Run quickstart.md validation":                          epic.KindVerify,
		"Run all tests":                                         epic.KindVerify,
		"Verify that all tests pass":                            epic.KindVerify,
		"Ensure the build is green":                             epic.KindVerify,
		"Verify email addresses at signup":                      epic.KindFeature,
		"Run tests in parallel":                                 epic.KindFeature,
		"Check passwords":                                       epic.KindFeature,
		"Ensure that retries pass the tests' deadline on":       epic.KindFeature,
		"Checkpoint saving for the trainer":                     epic.KindFeature,
		"Checkpoint/restore of VMs":                             epic.KindFeature,
		"Run migrations automatically before tests":             epic.KindFeature,
		"Run the linters on commit before the tests":            epic.KindFeature,
		"Verify webhook signatures so that the e2e test passes": epic.KindFeature,
		"Check types in the build so that CI is green":          epic.KindFeature,
		"Ensure the flaky login test works":                     epic.KindFeature,
		"Ensure failing tests pass":                             epic.KindFeature,
		"Write tests that pass":                                 epic.KindFeature,
	} {
		if got := KindOf(title); got != want {
			t.Errorf("%q: got %s, want %s", title, got, want)
		}
	}
}
