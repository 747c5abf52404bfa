//go:build unix

package e2e

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// guide is a page in docs/guides, tried in a project: a small application from testdata/guides, with the page's files.
type guide struct {
	project
	text string
}

// newGuide starts with the application for a page and files of that page: the blocks that begin with their names. The test is
// skipped unless the program that check runs succeeds, which it does where what install names is installed.
func newGuide(t *testing.T, name, install string, check []string, files ...string) guide {
	t.Helper()
	long(t)
	if out, err := exec.Command(check[0], check[1:]...).CombinedOutput(); err != nil {
		t.Skipf("needs %s: %v %s", install, err, out)
	}
	g := guide{newProject(t), page(t, "guides/"+name+".md")}
	root := filepath.Join("testdata", "guides", name)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		g.write(strings.TrimPrefix(path, root), string(text))
		return err
	})
	must(t, err)
	for _, file := range files {
		g.write(file, g.file(file))
	}
	return g
}

// write writes a file, which may be a program, in the project.
func (g guide) write(name, text string) {
	g.t.Helper()
	must(g.t, os.MkdirAll(filepath.Dir(filepath.Join(g.dir, name)), 0o755))
	g.project.write(name, text)
}

// file is the block of the page whose first comment is the name of a file.
func (g guide) file(name string) string {
	g.t.Helper()
	for _, block := range blocks(g.text, `\w+`) {
		if regexp.MustCompile(`^(<\?php\n)?(#|//) ` + regexp.QuoteMeta(name) + "\n").MatchString(block) {
			return block
		}
	}
	g.t.Fatalf("the page has no block for %s", name)
	return ""
}

// command is the page's command, in two parts: the service, and the application that it runs.
func (g guide) command() (service, application string) {
	g.t.Helper()
	command := regexp.MustCompile(`\n    ((?:npx \S+/)?mayfly exec (?:.*\\\n)*.*)\n`).FindStringSubmatch(g.text)
	if command == nil {
		g.t.Fatal("the page has no command with mayfly exec")
	}
	service, application, _ = strings.Cut(command[1], " -- ")
	return service + " -- ", strings.TrimPrefix(application, "\\\n")
}

// run runs the page's command twice. Its output must have want, and the second mail must be as the snapshot of the first.
func (g guide) run(want string) {
	g.t.Helper()
	service, application := g.command()
	g.write("run", "#!/bin/sh\n"+application+"\n")
	for range 2 {
		g.outputs(want, service+"sh -ec './run && mayfly snap signup'")
	}
	g.checkSnapshot("mails/signup.txt")
}

func (g guide) outputs(want, command string) {
	g.t.Helper()
	if out := g.exec(command); !strings.Contains(out, want) {
		g.t.Errorf("no %q in %s", want, out)
	}
}

// checkSnapshot checks that a snapshot has no code and no token, which differ in each run.
func (g guide) checkSnapshot(name string) {
	g.t.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir, name))
	must(g.t, err)
	if !strings.Contains(string(text), "«code»") && !strings.Contains(string(text), "«token»") {
		g.t.Errorf("nothing is masked:\n%s", text)
	}
}

func TestGuideDjango(t *testing.T) {
	t.Parallel()
	g := newGuide(t, "django", "the packages python3-django, python3-pytest and python3-pytest-django",
		[]string{"/usr/bin/python3", "-c", "import django, pytest_django"}, "settings.py", "test_signup.py", "tests.py")
	kit, err := filepath.Abs(filepath.Join("..", "clients", "python", "src"))
	must(t, err)
	g.write("bin/python", "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n")
	g.machine = g.with("PATH="+g.dir+"/bin:"+g.getenv("PATH"), "PYTHONPATH="+kit, "PYTHONDONTWRITEBYTECODE=1", "DJANGO_SETTINGS_MODULE=shop")
	if out := g.exec("python -m pytest -p mayfly.pytest_plugin test_signup.py"); !strings.Contains(out, "1 passed") {
		t.Error(out)
	}
	g.run("Ran 1 test")
}

func TestGuideRails(t *testing.T) {
	t.Parallel()
	g := newGuide(t, "rails", "the package ruby-rails", []string{"ruby", "-e", "require 'rails'"}, "test/integration/signup_test.rb")
	// What the guide says for development is read as well, before what it says for tests.
	settings := g.file("config/environments/development.rb") + g.file("config/environments/test.rb")
	g.write("config/environments/test.rb", "Rails.application.configure do\n"+settings+"end\n")
	g.run("1 runs, 1 assertions, 0 failures, 0 errors")
}

func TestGuideLaravel(t *testing.T) {
	t.Parallel()
	g := newGuide(t, "laravel", "the packages php-laravel-framework and phpunit",
		[]string{"sh", "-c", "phpunit --version && ls /usr/share/php/Illuminate/Foundation"}, ".env", "tests/Feature/SignupTest.php")
	for _, dir := range []string{"bootstrap/cache", "storage/framework/views", "resources/views"} {
		must(t, os.MkdirAll(filepath.Join(g.dir, dir), 0o755))
	}
	g.run("OK (1 test, 2 assertions)")
}

func TestGuidePHP(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("php"); err != nil {
		t.Skip("needs the package php-cli")
	}
	g := guide{newProject(t), page(t, "guides/php.md")}
	g.write("signup.php", g.file("signup.php"))
	g.run("the code arrived")
}

func TestGuideSpring(t *testing.T) {
	t.Parallel()
	g := newGuide(t, "spring", "the packages default-jdk-headless, libspring-context-support-java and libmail-java",
		[]string{"sh", "-c", "javac -version && ls /usr/share/java/spring3-context.support.jar /usr/share/java/javax.mail.jar"}, "application-dev.properties")
	var jars []string
	for _, name := range []string{"spring3-core", "spring3-beans", "spring3-context", "spring3-context.support", "commons-logging", "javax.mail", "javax.activation"} {
		jars = append(jars, "/usr/share/java/"+name+".jar")
	}
	g.machine = g.with("CLASSPATH=" + strings.Join(jars, ":"))
	g.run("passed")
}

func TestGuideNext(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("MAYFLY_NEXT")
	g := newGuide(t, "nextjs", "Next.js: run `clients/js/pack DIR` and in an empty folder `npm install next react react-dom nodemailer typescript "+
		"@types/node @types/nodemailer @types/react @playwright/test DIR/{mayfly,playwright}-*.tgz`, and set MAYFLY_NEXT to the folder "+
		"and CHROMIUM to the path of a Chromium", []string{"test", "-d", modules + "/node_modules/next"}, "lib/mail.ts", "tests/signup.spec.ts")
	port := strconv.Itoa(20_000 + rand.IntN(10_000)) // the system gives none of these away while Next.js starts
	g.write("guide.config.ts", strings.ReplaceAll(g.file("playwright.config.ts"), "3100", port))
	g.write("playwright.config.ts", `import guide from './guide.config';

export default {
  ...guide,
  use: { ...guide.use, launchOptions: { executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] } },
};
`)
	// Next.js follows no link to its modules: the application has to be in a folder below theirs.
	below, err := os.MkdirTemp(modules, "guide")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(below) })
	must(t, os.CopyFS(below, os.DirFS(g.dir)))
	g.dir = below
	g.machine = g.with("CHROMIUM="+os.Getenv("CHROMIUM"), "NEXT_TELEMETRY_DISABLED=1")
	g.write("tests/mail.spec.ts", `import { expect, test } from '@.example/playwright';

test('mails as before', async ({ page, inbox }) => {
  await page.goto('/');
  await page.getByLabel('E-mail').fill(inbox.email);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await expect(inbox).toMatchMailSnapshot('signup');
});
`)
	service, application := g.command()
	for range 2 {
		g.outputs("2 passed", service+application)
	}
	g.checkSnapshot("tests/mails/signup.txt")
}
