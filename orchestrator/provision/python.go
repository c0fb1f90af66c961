package provision

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// sitePackages prints the folders in which a python looks for installed packages.
const sitePackages = `import site; print("\n".join(site.getsitepackages() + [site.getusersitepackages()]))`

// PythonFolders returns the folders of a checkout, from its root and with slashes, that the user's python finds packages in because they
// were installed from there (pip install --editable): in every checkout it would find those of the user's. It asks python3, or python, on
// the PATH of env.
func PythonFolders(ctx context.Context, root string, env []string) (folders []string) {
	if !slices.ContainsFunc([]string{"pyproject.toml", "setup.py", "setup.cfg"}, func(name string) bool {
		found, _ := filepath.Glob(filepath.Join(root, name)) // the checkout's own
		below, _ := filepath.Glob(filepath.Join(root, "*", name))
		return len(found)+len(below) > 0
	}) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, name := range []string{"python3", "python"} {
		ask := exec.CommandContext(ctx, "env", name, "-c", sitePackages) //nolint:forbidigo // the user's own program, of no run
		ask.Env, ask.Dir = env, os.TempDir()
		out, err := ask.Output()
		if err != nil {
			continue
		}
		for site := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n") {
			folders = append(folders, leadingBack(root, site)...)
		}
		break
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

// leadingBack returns the folders of a checkout that files in a folder of installed packages name.
func leadingBack(root, site string) (folders []string) {
	inside := regexp.MustCompile(regexp.QuoteMeta(root) + `(/[^\s'",:]*)?(?:$|[\s'",:])`)
	for _, pattern := range []string{"*.pth", "*.egg-link", "__editable__*.py"} {
		files, _ := filepath.Glob(filepath.Join(site, pattern)) // a folder that is not there has none
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				continue
			}
			for _, m := range inside.FindAllStringSubmatch(string(content), -1) {
				name := strings.Trim(m[1], "/")
				if strings.HasSuffix(file, ".py") { // it names packages and modules
					name = filepath.Dir(name)
				}
				if info, err := os.Stat(filepath.Join(root, name)); err == nil && info.IsDir() {
					folders = append(folders, filepath.ToSlash(filepath.Clean(name)))
				}
			}
		}
	}
	return folders
}
