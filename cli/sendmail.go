package cli

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	netmail "net/mail"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/spf13/cobra"

	"mayfly/internal/local"
	"mayfly/internal/mail"
)

// sendmailUsage are the flags of sendmail that do something here, for completion. Cobra does not parse them: -oi is
// not -o and -i.
var sendmailUsage = []cobra.Completion{
	"-t\tread the recipients from To, Cc and Bcc, and remove Bcc",
	"-i\tread to the end of the input, also beyond a line with a single dot; also -oi",
	"-f\taddress of the envelope's sender; also -r",
	"-F\tname of the sender, for a message without From",
}

func (a *app) sendmailCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sendmail [-t] [-i] [-f ADDRESS] [-F NAME] [ADDRESS...]",
		Short: "Send a message, as programs call sendmail",
		Long: "Send the message on standard input, for programs that call sendmail: to the SMTP server that MAYFLY_SMTP names (host:port), " +
			"as in `mayfly exec`, else to the local service, which `mayfly up` starts. Date, Message-ID and From are added where they are missing. " +
			"The exit status is 1 if a recipient was refused; the others get the message.\n\n" +
			"-t takes the recipients from To, Cc and Bcc, and removes Bcc. A line with a single dot ends the message, unless there is -i or -oi. " +
			"-f is the sender of the envelope, by default that of From, and -F a name for a From that is added. " +
			"Other flags of sendmail are accepted and ignored; -bs, -bd and -bp are not there. `mayfly help php` shows settings.",
		Example: `mayfly sendmail -t -i <mail.eml
php -d sendmail_path="mayfly sendmail -t -i" -S localhost:8000`,
		DisableFlagParsing:    true,
		DisableFlagsInUseLine: true,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if strings.HasPrefix(start, "-") {
				return sendmailUsage, cobra.ShellCompDirectiveNoFileComp
			}
			return a.completeInboxes(cmd, args, start)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") || slices.Equal(args, []string{"-h"}) {
				return cmd.Help()
			}
			m := mailing{}
			if err := m.parse(args); err != nil || m.nothing {
				return err
			}
			if err := m.read(a.env.Stdin); err != nil {
				return err
			}
			m.complete(cmp.Or(a.env.Getenv("LOGNAME"), a.env.Getenv("USER"), "mayfly"))
			if len(m.to) == 0 {
				return usagef("there is no recipient: name one, or use -t with a message that has To, Cc or Bcc")
			}
			return m.send(cmd.Context(), a)
		},
	}
}

// mailing is a message for sendmail.
type mailing struct {
	fromHeader, ignoreDots bool
	nothing                bool // is to be sent: the queue is to be run
	sender                 *string
	name                   string
	to                     []string
	fields                 []string // of the header, each with its line breaks
	body                   []byte
}

// parse reads flags as sendmail does: several in an argument, their values in the same or in the next one.
func (m *mailing) parse(args []string) error {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			m.to = append(m.to, addresses(arg)...)
			continue
		}
		for flags := arg[1:]; flags != ""; {
			flag, value := flags[0], flags[1:]
			flags = ""
			switch {
			case strings.IndexByte("timnsvEGU", flag) >= 0:
				m.fromHeader, m.ignoreDots = m.fromHeader || flag == 't', m.ignoreDots || flag == 'i'
				flags = value
				continue
			case flag == 'b' && value != "m":
				return usagef("-b%s is not there: give the message on standard input, with -t or with addresses", value)
			case flag == 'q':
				m.nothing = true // there is no queue
			case strings.IndexByte("bde", flag) >= 0:
			case strings.IndexByte("ABCFLNOVXfhopRr", flag) < 0:
				return usagef("unknown flag %s", arg)
			case value == "" && len(args) == 0:
				return usagef("-%c needs a value", flag)
			case value == "":
				value, args = args[0], args[1:]
			}
			switch flag {
			case 'f', 'r':
				sender := qualified(strings.Trim(value, "<> "))
				m.sender = &sender
			case 'F':
				m.name = value
			case 'o':
				m.ignoreDots = m.ignoreDots || value == "i"
			}
		}
	}
	for _, arg := range args {
		m.to = append(m.to, addresses(arg)...)
	}
	return nil
}

// read reads the message, with CRLF for each line break.
func (m *mailing) read(in io.Reader) error {
	lines := bufio.NewReader(io.LimitReader(in, maxFile+1))
	inHeader, size := true, 0
	for ended := false; !ended; {
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("reading the message: %w", err)
		}
		if size += len(line); size > maxFile {
			return fmt.Errorf("the message is larger than %d MB", maxFile>>20)
		}
		ended = err == io.EOF
		text := strings.TrimRight(line, "\r\n")
		if line == "" || text == "." && !m.ignoreDots {
			break
		}
		name, _, isField := strings.Cut(text, ":")
		switch {
		case inHeader && text == "":
			inHeader = false
		case inHeader && (text[0] == ' ' || text[0] == '\t') && len(m.fields) > 0:
			m.fields[len(m.fields)-1] += text + "\r\n"
		case inHeader && isField && name != "" && !strings.ContainsAny(name, " \t"):
			m.fields = append(m.fields, text+"\r\n")
		default:
			inHeader = false
			m.body = append(append(m.body, text...), "\r\n"...)
		}
	}
	return nil
}

// values returns the values of the fields of a name, unfolded.
func (m *mailing) values(name string) []string {
	var all []string
	for _, f := range m.fields {
		if isField(f, name) {
			all = append(all, strings.ReplaceAll(f[len(name)+1:], "\r\n", ""))
		}
	}
	return all
}

func isField(f, name string) bool {
	return len(f) > len(name) && strings.EqualFold(f[:len(name)+1], name+":")
}

// complete finds the sender and the recipients, and adds what the header lacks. user is who sends it.
func (m *mailing) complete(user string) {
	if m.sender == nil {
		sender := qualified(user)
		if from := addresses(strings.Join(m.values("From"), ",")); len(from) > 0 {
			sender = from[0]
		}
		m.sender = &sender
	}
	if m.fromHeader {
		for _, name := range []string{"To", "Cc", "Bcc"} {
			m.to = append(m.to, addresses(strings.Join(m.values(name), ","))...)
		}
		m.fields = slices.DeleteFunc(m.fields, func(f string) bool { return isField(f, "Bcc") })
	}
	for _, f := range [][2]string{
		{"From", (&netmail.Address{Name: m.name, Address: cmp.Or(*m.sender, qualified(user))}).String()},
		{"Date", time.Now().Format(time.RFC1123Z)},
		{"Message-ID", "<" + rand.Text() + "@" + host() + ">"},
	} {
		if m.values(f[0]) == nil {
			m.fields = append(m.fields, f[0]+": "+f[1]+"\r\n")
		}
	}
}

// addresses reads a list of addresses. Names without a domain, as cron has them, are users of this machine.
func addresses(list string) []string {
	var all []string
	if !strings.Contains(list, "@") {
		for _, name := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(", \t<>", r) }) {
			all = append(all, qualified(name))
		}
		return all
	}
	for _, a := range mail.Addresses(list) {
		if a.Addr != "" {
			all = append(all, qualified(a.Addr))
		}
	}
	return all
}

// qualified adds this machine to an address without a domain. An empty one, of a sender, stays empty.
func qualified(address string) string {
	if address == "" || strings.Contains(address, "@") {
		return address
	}
	return address + "@" + host()
}

func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

// send hands the message to the server.
func (m *mailing) send(ctx context.Context, a *app) error {
	server := a.env.Getenv("MAYFLY_SMTP")
	if server == "" {
		s, err := local.Find(ctx, a.localOptions())
		if err != nil {
			return err
		}
		defer s.Close()
		server = s.SMTPAddr
	}
	c, err := smtp.Dial(server)
	if err != nil {
		return fmt.Errorf("sending the message: %w", err)
	}
	defer c.Close()
	utf8 := !mail.IsASCII([]byte(*m.sender + strings.Join(m.to, "")))
	if err := c.Mail(*m.sender, &smtp.MailOptions{UTF8: utf8}); err != nil {
		return refused("the sender "+*m.sender, err)
	}
	failed := 0
	for _, to := range m.to {
		if err := c.Rcpt(to, nil); err != nil {
			failed++
			fmt.Fprintln(a.env.Stderr, errorLine(refused(to, err)))
		}
	}
	if failed < len(m.to) {
		w, err := c.Data()
		if err == nil {
			_, err = w.Write(slices.Concat([]byte(strings.Join(m.fields, "")+"\r\n"), m.body))
			err = errors.Join(err, w.Close())
		}
		if err != nil {
			return refused("the message", err)
		}
	}
	_ = c.Quit() // the message is the server's by now
	if failed > 0 {
		return quiet{statusError}
	}
	return nil
}

// refused says why the server did not take something.
func refused(what string, err error) error {
	if answer, ok := errors.AsType[*smtp.SMTPError](err); ok {
		return fmt.Errorf("the mail server refused %s: %d %s", what, answer.Code, answer.Message)
	}
	return fmt.Errorf("sending %s: %w", what, err)
}
