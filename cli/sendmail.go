package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	netmail "net/mail"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/spf13/cobra"

	"mayfly/internal/files"
	"mayfly/internal/local"
	"mayfly/internal/mail"
)

func (a *app) sendmailCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sendmail [-t] [-i] [-f ADDRESS] [-F NAME] [ADDRESS...]",
		Short: "Send a message, as a replacement for sendmail",
		Long: "Send the message on standard input, for programs that call sendmail: to the SMTP server that MAYFLY_SMTP names (host:port), " +
			"as in `mayfly exec`, else to the local service, which `mayfly up` starts. Missing Date, Message-ID and From fields are added. " +
			"If a recipient is refused, the others still get the message, and the exit status is 1.\n\n" +
			"-t reads the recipients from To, Cc and Bcc, or from Resent-To, Resent-Cc and Resent-Bcc if there are any, and removes Bcc and Resent-Bcc. A line with a single dot ends the message unless -i or -oi is given. " +
			"-f sets the envelope sender (default: the From address), and -F the name in a From that is added. " +
			"Other flags of sendmail are accepted and ignored; -bs, -bd and -bp are not supported. `mayfly help php` shows settings.",
		Example: `mayfly sendmail -t -i <mail.eml
php -d sendmail_path="mayfly sendmail -t -i" -S localhost:8000`,
		DisableFlagParsing:    true, // -oi is not -o and -i
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     a.completeInboxes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") || slices.Equal(args, []string{"-h"}) {
				return cmd.Help()
			}
			m := outgoingMessage{}
			if err := m.parse(args); err != nil || m.nothing {
				return err
			}
			most := int64(maxPreview)
			if a.visit != nil {
				most = a.visit.MaxMail
			}
			if err := cmp.Or(m.read(a.env.Stdin, most), cmd.Context().Err()); err != nil { // what was cut off is not sent
				return fmt.Errorf("reading the message: %w", err)
			}
			m.complete(cmp.Or(a.env.Getenv("LOGNAME"), a.env.Getenv("USER"), "mayfly"))
			if len(m.to) == 0 {
				return usagef("missing recipient: name one, or use -t with a message that has To, Cc or Bcc")
			}
			return m.send(cmd.Context(), a)
		},
	}
}

// outgoingMessage is a message for sendmail.
type outgoingMessage struct {
	fromHeader, ignoreDots bool
	nothing                bool // is to be sent: the queue is to be run
	sender, name           string
	to                     []string
	text                   string // with CRLF
}

// parse reads flags as sendmail does: several in an argument, their values in the same or in the next one.
func (m *outgoingMessage) parse(args []string) error {
	for ; len(args) > 0 && args[0] != "--"; args = args[1:] {
		if len(args[0]) < 2 || args[0][0] != '-' {
			m.to = append(m.to, addresses(args[0])...)
			continue
		}
		flags := args[0][1:]
		for ; flags != "" && strings.Contains("timnsvEGU", flags[:1]); flags = flags[1:] {
			m.fromHeader, m.ignoreDots = m.fromHeader || flags[0] == 't', m.ignoreDots || flags[0] == 'i'
		}
		if flags == "" {
			continue
		}
		flag, value := flags[:1], flags[1:]
		switch {
		case flag == "b" && value != "m":
			return usagef("-b%s is not supported: pass the message on standard input, with -t or with addresses", value)
		case flag == "q":
			m.nothing = true // there is no queue
		case strings.Contains("bde", flag):
		case !strings.Contains("ABCFLNOVXfhopRr", flag):
			return usagef("unknown flag %s", args[0])
		case value == "" && len(args) == 1:
			return usagef("-%s needs a value", flag)
		case value == "":
			args = args[1:]
			value = args[0]
		}
		switch flag {
		case "f", "r":
			m.sender = strings.Trim(value, "<> ")
		case "F":
			m.name = value
		case "o":
			m.ignoreDots = m.ignoreDots || value == "i"
		}
	}
	for _, arg := range args[min(len(args), 1):] {
		m.to = append(m.to, addresses(arg)...)
	}
	return nil
}

func (m *outgoingMessage) read(in io.Reader, most int64) error {
	var text strings.Builder
	rest := &io.LimitedReader{R: in, N: most + 1}
	lines := bufio.NewScanner(rest)
	lines.Buffer(nil, math.MaxInt)
	for lines.Scan() && (m.ignoreDots || lines.Text() != ".") {
		text.WriteString(lines.Text() + "\r\n")
	}
	if rest.N == 0 {
		return files.Unfit(fmt.Sprintf("it is larger than %d bytes", most))
	}
	m.text = text.String()
	return lines.Err()
}

// complete finds the sender and the recipients, and adds what the header lacks. user is who sends it.
func (m *outgoingMessage) complete(user string) {
	header, body := mail.Split([]byte(m.text))
	if len(header) > 0 && bytes.HasPrefix(header[0].Raw, []byte("From ")) {
		header = header[1:] // of an mbox, which every sendmail removes
	}
	missing := []string{"Message-ID", "From", "Date"}
	to := make(map[bool][]string) // of Resent fields, or of others
	for _, l := range header {
		missing = slices.DeleteFunc(missing, l.Is)
		resent := l.Is("Resent-To") || l.Is("Resent-Cc") || l.Is("Resent-Bcc")
		switch {
		case l.Is("From") && m.sender == "":
			m.sender = cmp.Or(mail.Addresses(l.Text())...).Addr
		case resent || l.Is("To") || l.Is("Cc") || l.Is("Bcc"):
			to[resent] = append(to[resent], addresses(l.Text())...)
		}
	}
	m.sender = qualified(cmp.Or(m.sender, user))
	if m.fromHeader {
		m.to = append(m.to, to[len(to[true]) > 0]...)
		header = slices.DeleteFunc(header, func(l mail.Line) bool { return l.Is("Bcc") || l.Is("Resent-Bcc") })
	}
	var text strings.Builder
	for ; len(header) > 0 && header[0].Name == nil; header = header[1:] { // which would continue an added field
		text.WriteString(string(header[0].Raw) + "\r\n")
	}
	added := map[string]string{
		"From":       (&netmail.Address{Name: m.name, Address: m.sender}).String(),
		"Date":       time.Now().Format(time.RFC1123Z),
		"Message-ID": "<" + rand.Text() + "@" + host() + ">",
	}
	for _, name := range missing {
		text.WriteString(name + ": " + added[name] + "\r\n")
	}
	for _, l := range header {
		text.WriteString(string(l.Raw) + "\r\n")
	}
	m.text = text.String() + "\r\n" + string(body)
}

// addresses reads a list of addresses.
func addresses(list string) (all []string) {
	for _, a := range mail.Addresses(list) {
		words := []string{a.Addr}
		if !strings.Contains(a.Addr, `"`) {
			words = strings.FieldsFunc(cmp.Or(a.Addr, a.Name), func(r rune) bool { return r == ' ' || r == ',' })
		}
		for _, one := range words {
			all = append(all, qualified(one))
		}
	}
	return all
}

// qualified adds this machine to a name without a domain, as cron has it.
func qualified(address string) string {
	if strings.Contains(address, "@") {
		return address
	}
	return address + "@" + host()
}

func host() string {
	name, _ := os.Hostname() // "" if it has none
	return cmp.Or(name, "localhost")
}

// send hands the message to the server.
func (m *outgoingMessage) send(ctx context.Context, a *app) error {
	server := a.env.Getenv("MAYFLY_SMTP")
	if server == "" {
		s, err := local.Attach(ctx, a.localOptions())
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
	failed := 0
	for to := m.to; len(to) > 0; {
		n, refused, err := m.sendSome(c, to, a.env.Stderr)
		if err != nil {
			return err
		}
		to, failed = to[n:], failed+refused
	}
	_ = c.Quit() // the message is the server's by now
	if failed > 0 {
		return reportedError{statusError}
	}
	return nil
}

// sendSome sends the message to the first recipients, as many as the server takes at a time, and returns how many it
// offered and how many of them were refused.
func (m *outgoingMessage) sendSome(c *smtp.Client, to []string, log io.Writer) (n, refused int, err error) {
	utf8 := !mail.IsASCII([]byte(m.sender + strings.Join(to, "")))
	if err := c.Mail(m.sender, &smtp.MailOptions{UTF8: utf8}); err != nil {
		return 0, 0, fmt.Errorf("sending from %s: %w", m.sender, err)
	}
	for ; n < len(to); n++ {
		err := c.Rcpt(to[n], nil)
		if answer, ok := errors.AsType[*smtp.SMTPError](err); ok && answer.EnhancedCode == tooManyRecipients && n > refused {
			break
		}
		if err != nil {
			refused++
			fmt.Fprintln(log, errorLine(fmt.Errorf("sending to %s: %w", to[n], err)))
		}
	}
	if refused == n {
		return n, refused, c.Reset()
	}
	w, err := c.Data()
	if err == nil {
		_, err = io.WriteString(w, m.text)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		return n, refused, fmt.Errorf("sending the message: %w", err)
	}
	return n, refused, nil
}

// tooManyRecipients is the enhanced code (RFC 3463) of a server that takes a recipient with the next copy of a message.
var tooManyRecipients = smtp.EnhancedCode{4, 5, 3}
