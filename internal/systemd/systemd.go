// Package systemd takes over listening sockets from systemd, keeps them there across a restart, and tells it when the
// service is ready: sd_listen_fds(3) and sd_notify(3). Elsewhere it does nothing.
package systemd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// Socket is a listening socket that was passed on, and its name.
type Socket struct {
	Name string
	net.Listener
}

// firstSocket is the number of the first file that is passed on.
const firstSocket = 3

// Sockets returns the sockets that were passed on to this process. It can be called once: what it starts gets none.
func Sockets() ([]Socket, error) {
	defer os.Unsetenv("LISTEN_PID")
	count, err := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if err != nil || os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	names := strings.Split(os.Getenv("LISTEN_FDNAMES"), ":")
	var all []Socket
	for n := range count {
		s := Socket{}
		if n < len(names) {
			s.Name = names[n]
		}
		file := os.NewFile(uintptr(firstSocket+n), s.Name)
		s.Listener, err = net.FileListener(file)
		if err = errors.Join(err, file.Close()); err != nil { // the listener has a copy of it
			return all, fmt.Errorf("socket %d (%s), passed on by LISTEN_FDS: %w", firstSocket+n, s.Name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// Notify tells systemd of a state, such as READY=1, if that started this process and wants to know.
func Notify(state string) error { return notify(state, nil) }

// notify sends a state with what goes with it.
func notify(state string, rights []byte) error {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return nil
	}
	// Linux gives it a name; a connected socket could send no sockets.
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("telling systemd: %w", err)
	}
	defer conn.Close()
	if _, _, err := conn.WriteMsgUnix([]byte(state), rights, &net.UnixAddr{Name: name, Net: "unixgram"}); err != nil {
		return fmt.Errorf("telling systemd: %w", err)
	}
	return nil
}
