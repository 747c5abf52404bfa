import { createServer, type Server } from 'node:http';
import { createInterface } from 'node:readline';
import { connect } from 'node:net';
import { once } from 'node:events';

/** Sends a mail by SMTP. */
export async function send(smtp: string, to: string, subject: string, text: string): Promise<void> {
  const [host, port] = smtp.split(':');
  const socket = connect(Number(port), host);
  const answers = createInterface(socket)[Symbol.asyncIterator]();
  const commands = ['EHLO app', 'MAIL FROM:<no-reply@acme.example>', `RCPT TO:<${to}>`, 'DATA'];
  const mail = `From: Acme <no-reply@acme.example>\r\nTo: ${to}\r\nSubject: ${subject}\r\n\r\n${text.replace(/\n/g, '\r\n')}\r\n.`;
  for (const line of ['', ...commands, mail, 'QUIT']) {
    if (line) socket.write(line + '\r\n');
    let answer: string;
    do {
      answer = (await answers.next()).value;
    } while (answer[3] === '-');
    if (!/^[23]/.test(answer)) throw new Error(`${line}: ${answer}`);
  }
  await once(socket.end(), 'close');
}

/** The text of a mail with a code and a link that has it. */
export const signup = (code: string) =>
  `Your verification code is ${code}.\n\nConfirm your e-mail address: https://acme.example/confirm?t=${code}\n`;

/** A site with forms for an address and for the code that it mails there. */
export function site(smtp: string): Server {
  let sent = '';
  return createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://site');
    response.setHeader('Content-Type', 'text/html');
    if (pathname === '/send') {
      sent = String(Math.floor(100_000 + Math.random() * 900_000));
      await send(smtp, searchParams.get('address')!, 'Your code', signup(sent));
      response.end('<form action=/confirm><label>Code <input name=code></label><button>Confirm</button></form>');
    } else if (pathname === '/confirm') {
      response.end(searchParams.get('code') === sent ? 'Welcome' : `not ${sent}`);
    } else {
      response.end('<form action=/send><label>E-mail <input name=address></label><button>Sign up</button></form>');
    }
  });
}
