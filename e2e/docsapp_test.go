//go:build unix

package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/smtp"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// appVariable makes the test binary the application that the examples of docs/ci.md test; its value
// is what to do, see runApp.
const appVariable = "MAYFLY_TEST_APP"

// runApp does one thing that the application can do, and returns its exit status. The application
// keeps what it knows in its working directory, and sends mail through SMTP_ADDR.
//
//	send ADDRESS          mails a new code, in the background, as a queue does
//	mail ADDRESS CODE     mails that code
//	confirm ADDRESS CODE  takes only the code that was sent last
//	site HOST:PORT        a site with forms for all that
//	trap FILE SIGNAL...   writes the signals it gets to the file, until SIGTERM
func runApp(command string, args []string) int {
	var err error
	switch command {
	case "send":
		err = sendCode(args[0])
	case "mail":
		message := strings.ReplaceAll(strings.ReplaceAll(signup(args[0]), "482913", args[1]), "\n", "\r\n")
		err = smtp.SendMail(os.Getenv("SMTP_ADDR"), nil, "no-reply@acme.example", args[:1], []byte(message))
	case "confirm":
		err = confirmCode(args[0], args[1])
	case "site":
		err = http.ListenAndServe(args[0], signupSite())
	case "trap":
		return trap(args[0], args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// trap is no shell: dash stops for ever where a ctrl+z meets it between vfork and exec.
func trap(log string, names []string) int {
	file, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer file.Close()
	received := make(chan os.Signal, 16)
	signal.Notify(received, syscall.SIGTERM)
	for _, name := range names {
		signal.Notify(received, unix.SignalNum("SIG"+name))
	}
	for line := "ready"; ; {
		fmt.Fprintln(file, line)
		if line == "TERM" {
			return 7
		}
		number, _ := (<-received).(syscall.Signal) // there are no others
		line = strings.TrimPrefix(unix.SignalName(number), "SIG")
	}
}

func codeFile(address string) string { return "code-" + filepath.Base(address) }

func sendCode(address string) error {
	code := fmt.Sprintf("%06d", 100_000+rand.IntN(900_000))
	if err := os.WriteFile(codeFile(address), []byte(code), 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	queued := exec.Command(self, address, code)
	queued.Env = append(os.Environ(), appVariable+"=mail")
	return queued.Start()
}

func confirmCode(address, code string) error {
	sent, err := os.ReadFile(codeFile(address))
	if err != nil {
		return err
	}
	if code != string(sent) {
		return fmt.Errorf("%s got the code %s, not %s", address, sent, code)
	}
	confirmed, err := os.OpenFile("confirmed", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer confirmed.Close()
	_, err = fmt.Fprintln(confirmed, address, code)
	return err
}

// signupSite has a form for an address and one for the code mailed there.
func signupSite() http.Handler {
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, err error, page string, args ...any) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, "<!doctype html>"+page, args...)
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, nil, `<form method="post" action="/send"><label>E-mail <input name="address"></label><button>Sign up</button><button>Log in</button></form>`)
	})
	mux.HandleFunc("POST /send", func(w http.ResponseWriter, r *http.Request) {
		answer(w, sendCode(r.FormValue("address")), `<form method="post" action="/confirm"><input type="hidden" name="address" value="%s">`+
			`<label>Code <input name="code"></label><button>Confirm</button></form>`, r.FormValue("address"))
	})
	mux.HandleFunc("POST /confirm", func(w http.ResponseWriter, r *http.Request) {
		answer(w, confirmCode(r.FormValue("address"), r.FormValue("code")), "<p>Welcome</p>")
	})
	return mux
}
